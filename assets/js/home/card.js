// A project on the start page: what it holds, how often it is right now, and what to do next.
import {accuracyOf} from '../shared/accuracy.js';
import {address} from '../shared/address.js';
import {h, progressBar} from '../shared/elements.js';
import {number, plural} from '../shared/words.js';

const STEPS = [
  ['imported', 'Import texts'],
  ['labelled', 'Label a few per intent'],
  ['trained', 'Train'],
];

// `actions`: `rename` and `remove` take the project's name.
export function cardOf(project, actions) {
  const {name, labelled, intents, utterances, task, steps} = project;
  const share = utterances ? labelled / utterances : 0;
  const counts = `${number(labelled)} of ${plural(utterances, 'text')} labelled`;
  const open = address(utterances ? 'label' : 'data', name);
  return h(
    'article',
    {class: 'sheet project', 'aria-label': name},
    h('h2', {}, h('a', {href: open, 'data-key': name}, name)),
    h(
      'div',
      {class: 'soft small'},
      plural(intents, 'intent'),
      task === 'multi-label' && ' · several intents a text',
    ),
    utterances > 0 && progressBar(share, {'aria-hidden': 'true'}),
    utterances > 0 && h('div', {class: 'soft small tabular', 'data-role': 'share'}, counts),
    h('div', {'data-role': 'accuracy'}, steps.trained ? figuresOf(project) : stepsOf(steps)),
    nextOf(project),
    h(
      'div',
      {class: 'row tight acts'},
      act('Rename', name, actions.rename),
      act('Delete', name, actions.remove),
    ),
  );
}

const act = (words, name, action) =>
  h(
    'button',
    {class: 'plain small', 'data-key': `${words} ${name}`, onclick: () => action(name)},
    words,
    h('span', {class: 'hidden-text'}, ` ${name}`),
  );

function figuresOf(project) {
  const {champion, accuracy} = project;
  const version = `version ${champion.slice(champion.lastIndexOf('@') + 1)}`;
  if (accuracy === null) return h('span', {class: 'soft'}, `${version} answers`);
  return [h('div', {}, accuracyOf(project)), h('div', {class: 'soft small'}, `accuracy of ${version}`)];
}

// What a new project needs before it answers; the first that is not done is the one to do now.
function stepsOf(steps) {
  const now = STEPS.find(([key]) => !steps[key])?.[0];
  return h(
    'ol',
    {class: 'steps', 'aria-label': 'First steps'},
    STEPS.map(([key, words]) =>
      h(
        'li',
        {class: steps[key] ? 'done' : '', 'aria-current': key === now ? 'step' : null},
        words,
        steps[key] && h('span', {class: 'hidden-text'}, ' (done)'),
      ),
    ),
  );
}

function nextOf({name, next}) {
  const {action, reason, page, query} = next;
  return h(
    'div',
    {class: 'next', 'data-role': 'next', 'data-kind': next.kind},
    h('p', {class: 'small'}, reason),
    h('a', {class: 'button primary', href: address(page, name, query), 'data-key': `next ${name}`}, action),
  );
}
