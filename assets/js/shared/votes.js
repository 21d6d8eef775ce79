// An answer with its votes: for each intent, the prior, the examples for and against, and the sum of all
// other votes add up to the score.
import {h, said} from './elements.js';
import {decimal, likelihood, plural, points, signedPoints} from './words.js';

const SMALLEST_SCALE = 0.05; // so that tiny votes do not fill the lane
const SHOWN_INTENTS = 4;
const MEANING =
  'Each example votes for or against, in points; the votes add up to the score. About 100 is full. ' +
  'Similarity: 100 is the same text. Percent: so many of 100 such answers are right.';
const WEAKER = 'Its vote is weaker than those above: others like it share the vote.';
const OTHERWISE = 'It has another label. Its vote is weaker than those above.';
const SCALE = 'Single votes may be over 100. Below the line no intent is answered.';

// `besides` returns what stands beside the words of an example, or null; `acts` stand before the votes.
export function votesOf(answer, intents, besides = () => null, acts = null) {
  const {prediction, reasons} = answer;
  return h(
    'div',
    {},
    h('p', {dir: 'auto'}, answer.sentence),
    prediction.decision.intents.length > 0 && likeliest(prediction, intents),
    acts,
    reasons.map(why => reasonOf(answer, why, intents, besides)),
  );
}

function reasonOf({prediction, hot, examples, landing}, {reason, votes_of_others: others}, intents, besides) {
  const {intent, score, threshold, prior, neighbours, voice, by_name: byName} = reason;
  const single = [...neighbours.map(near => near.vote), prior, voice];
  const votes = [...single, others];
  const largest = Math.max(SMALLEST_SCALE, ...votes.map(Math.abs));
  return h(
    'section',
    {class: 'reason', 'data-role': 'reason', 'data-intent': intent},
    h('h3', {}, `What votes for ${intent}`),
    h('p', {class: 'soft small'}, MEANING),
    neighbours.map(near => {
      const isHot = hot.includes(near.exemplar_id);
      const words = [said(`“${near.text}”`), about(near, isHot, intents, besides(near))];
      return voteLine(words, near.vote, largest);
    }),
    nearestOf(landing?.nearest, neighbours, intents, intent),
    h(
      'details',
      {'data-key': `other votes of ${intent}`, class: 'small'},
      h('summary', {class: 'soft'}, otherWords(examples - neighbours.length, restOf(score, single), score)),
      voteLine('Their votes together', restOf(score, single), largest),
      voteLine('Share of this intent among the labels', prior, largest),
      voice !== 0 && voteLine(nameWords(byName), voice, largest),
      scoreLine(prediction.decision, score, threshold),
      h('p', {class: 'soft'}, SCALE),
    ),
  );
}

// The score without its other parts, each as it is written: a reader adds up what is written.
function restOf(score, parts) {
  const tenths = value => Math.round(1000 * value);
  return (tenths(score) - parts.reduce((sum, part) => sum + tenths(part), 0)) / 1000;
}

// Named where the strongest votes are others, or the similarity that decides would be that of no text in sight.
const nearestOf = (nearest, shown, intents, intent) =>
  nearest &&
  !shown.some(near => near.exemplar_id === nearest.id) &&
  h(
    'div',
    {class: 'below', 'data-role': 'nearest'},
    h('h3', {}, 'Most similar example'),
    said(`“${nearest.text}”`),
    h('div', {class: 'row small soft'}, intents.named(nearest.intents), `similarity ${points(nearest.cosine)}`),
    h('div', {class: 'small soft'}, nearest.intents.includes(intent) ? WEAKER : OTHERWISE),
  );

// What is not in sight is summed up, or the votes in sight would seem to be more than the score.
const otherWords = (n, sum, score) =>
  `${n > 0 ? `${plural(n, 'other example')}: ${signedPoints(sum)} together; the` : 'The'} score: ${points(score)}`;

const nameWords = byName => [
  h('span', {}, 'The intent’s name and description '),
  byName && h('span', {class: 'badge warn'}, 'no examples yet'),
];

// The intents of a multi-label answer and the next ones.
function likeliest({ranked, decision}, intents) {
  const isAnswer = one => decision.intents.includes(one.intent);
  const inOrder = [...ranked].sort((a, b) => isAnswer(b) - isAnswer(a));
  const shown = inOrder.slice(0, Math.max(SHOWN_INTENTS, decision.intents.length));
  const others = intents.multi ? shown : shown.filter(one => !isAnswer(one));
  return h(
    'div',
    {class: 'row tight small'},
    h('span', {class: 'soft'}, intents.multi ? 'Likeliest' : 'Next likely'),
    others.map(one =>
      h(
        'span',
        {class: 'chip', style: {'--dot': intents.byName.get(one.intent)?.color}},
        h('bdi', {}, one.intent),
        h('span', {class: 'soft tabular'}, likelihood(one.probability)),
      ),
    ),
  );
}

const about = (near, isHot, intents, control) =>
  h(
    'div',
    {class: 'row small soft'},
    intents.named(near.intents),
    `similarity ${points(near.cosine)}`,
    isHot && h('span', {class: 'badge warn'}, 'since training'),
    control,
  );

const voteLine = (words, vote, largest) =>
  h(
    'div',
    {class: 'vote'},
    h('div', {}, words),
    lane(vote, largest),
    h('div', {class: 'amount'}, signedPoints(vote)),
  );

function lane(vote, largest) {
  const width = `${50 * Math.min(1, Math.abs(vote) / largest)}%`;
  const bar =
    vote < 0
      ? h('i', {class: 'against', style: {right: '50%', width}})
      : h('i', {style: {left: '50%', width}});
  return h('div', {class: 'lane', 'aria-hidden': 'true'}, bar);
}

function scoreLine({rule, familiarity}, score, threshold) {
  // Familiarity has a scale of its own: standard deviations.
  const compared =
    typeof familiarity === 'number'
      ? `familiarity ${decimal(familiarity, 2)}, line ${decimal(threshold, 2)}`
      : `line ${points(threshold)}`;
  const line = rule === 'exact' ? 'exactly a labelled example' : compared;
  return h(
    'div',
    {class: 'vote'},
    h('b', {}, 'Score'),
    h('span', {class: 'soft small'}, line),
    h('b', {class: 'amount'}, points(score)),
  );
}
