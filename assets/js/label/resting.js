// What the card shows while no text is on it: what is done, and the one next act.
import {address} from '../shared/address.js';
import {h} from '../shared/elements.js';
import {emptyPage, firstAct} from '../shared/first_act.js';
import {number, plural} from '../shared/words.js';

const ELSEWHERE = {
  one: 'It is on the card of another person, or in another tab of yours.',
  many: 'They are on the cards of other people, or in other tabs of yours.',
};

// `status` is the project's, `counts` are its utterances by state. `waiting`: texts on no card here. `unsaved`:
// decisions that are under way, whose texts wait, too. `again` asks the server for texts once more.
export function resting(status, counts, {waiting, unsaved, again}) {
  const {project} = status;
  if (counts?.total === 0 && status.unlabelled === 0)
    return emptyPage('No texts yet', 'Import some; then they come here one by one.', firstAct(project, counts));
  if (waiting > unsaved) {
    const n = waiting - unsaved;
    const title = `Others have the last ${n === 1 ? 'text' : plural(n, 'text')}`;
    return message(title, n === 1 ? ELSEWHERE.one : ELSEWHERE.many, [lookAgain(again, true)]);
  }
  if (unsaved) {
    const words = `${plural(unsaved, 'decision')} of yours ${unsaved === 1 ? 'is' : 'are'} being saved.`;
    return message('More texts are on their way', words, [lookAgain(again, true)]);
  }
  const {reason, act, words} = nextOf(status, counts);
  const next = h('a', {class: 'button primary', href: act, 'data-key': 'next'}, words);
  return message('Nothing is left to label', [doneWords(counts), ' ', reason], [
    next,
    lookAgain(again, false),
    counts?.skipped > 0 && skippedLink(project, counts.skipped),
  ]);
}

const message = (title, words, acts) =>
  h(
    'div',
    {class: 'empty', 'data-role': 'rest'},
    h('h2', {}, title),
    h('p', {}, words),
    h('div', {class: 'row centre'}, acts),
  );

const lookAgain = (again, first) =>
  h('button', {class: first && 'primary', 'data-key': 'again', onclick: again}, 'Look again');

const skippedLink = (project, skipped) =>
  h(
    'a',
    {class: 'button', href: address('data', project, {state: 'skipped'})},
    `See the ${number(skipped)} skipped`,
  );

function doneWords(counts) {
  if (!counts) return '';
  const {total, skipped} = counts;
  if (total === 1) return skipped ? 'You skipped the only text.' : 'The only text has a label.';
  if (!skipped) return `All ${number(total)} texts have a label.`;
  const has = total - skipped === 1 ? 'has' : 'have';
  return `${number(total - skipped)} of ${number(total)} texts ${has} a label, ${number(skipped)} you skipped.`;
}

// The act that helps now. A model needs labels of two intents; what is learned already needs more texts.
function nextOf({project, champion, candidate, hot, job}, counts) {
  const train = address('train', project);
  const more = {act: address('data', project, {import: '1'}), words: 'Import more texts'};
  if (job?.kind === 'train') return {act: train, words: 'Follow the training', reason: 'A training runs.'};
  if (candidate !== null)
    return {act: train, words: `Decide on version ${candidate}`, reason: 'Next: a trained version waits for you.'};
  if (champion === null && Object.keys(counts?.by_intent ?? {}).length < 2)
    return {...more, reason: 'Next: a training needs labels of at least two intents.'};
  if (champion === null) return {act: train, words: 'Train', reason: 'Next: the first version learns from them.'};
  if (hot > 0)
    return {act: train, words: 'Train', reason: `Next: ${plural(hot, 'change')} since version ${champion}.`};
  return {...more, reason: 'The live version has learned them. Next: more texts, where you have some.'};
}
