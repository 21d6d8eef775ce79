// An answer with its votes: for each intent, the heaviest votes, the sum of all others and the intent's share of
// the labels add up to the score, as they are written.
import {h, said} from './elements.js';
import {
  decimal,
  IN_DEVIATIONS,
  likelihood,
  number,
  plural,
  points,
  sideOfLimit,
  signedPoints,
  similarityWords,
  sure,
} from './words.js';

const SMALLEST_SCALE = 0.05; // so that tiny votes do not fill the lane
const SHOWN_INTENTS = 4;
const SHOWN_TWINS = 10;
const POSSIBLE = 0.01; // a less likely intent has nothing to do with the text
// The receipt says the same: `VOTES` and `SCORE` in app/services/explaining/words.py.
const VOTES =
  'Vote, in points: how much one example speaks for the intent, or with a minus against it. ' +
  'Examples that say nearly the same share one vote, and stand in one line.';
const SCORE =
  'Score, in points: all votes together, about 100 for a text that is clearly this intent and about 0 for one that ' +
  'has nothing to do with it.';
const LIMIT = 'With fewer points than the limit, no intent is answered.';
const BY_FAMILIARITY = 'Whether an intent is answered goes by how familiar the text is, and not by points.';
const MIXED = 'Among them are the examples of all other intents, so a minus is normal.';
const COMMON = 'More for an intent with many labels.';
const SIMILARITY = '100 is the same text';
const APART = ' (a different measure from the score)';
const SURPLUS =
  'Against its own label: similar examples already give that label more than enough votes, so this one takes some off.';
const WEAKER = 'Its vote is weaker than those above: others like it share the vote.';
const UNLIKE = 'No example is more like it.';
// One text alone may have another label than the intent that all examples together speak for.
const OTHERWISE = 'the answer goes by all examples together, not by the most similar one alone.';

// `besides` returns what stands beside the words of an example, or null; `acts` stand before the votes.
export function votesOf(answer, intents, besides = () => null, acts = null) {
  const {prediction, reasons} = answer;
  return [
    h('p', {dir: 'auto'}, answer.sentence),
    prediction.decision.intents.length > 0 && likeliest(prediction, intents),
    acts,
    reasons.map(why => reasonOf(answer, why, intents, besides)),
  ];
}

// Whether the limit for refusing is one of familiarity, which has a scale of its own: standard deviations.
export const goesByFamiliarity = ({decision}) => typeof decision.familiarity === 'number';

function reasonOf({prediction, hot, examples, landing}, {reason}, intents, besides) {
  const {intent, score, threshold, prior, neighbours, voice, by_name: byName} = reason;
  const single = [...neighbours.map(near => near.vote), prior, voice];
  const others = restOf(score, single);
  // Some ways of deciding, such as `linear`, add up no votes: the most similar examples stand there alone.
  const voted = byName || !neighbours.length || neighbours.some(near => near.vote !== 0);
  const largest = Math.max(SMALLEST_SCALE, ...[...single, others].map(Math.abs));
  const refused = isRefused(prediction.decision);
  const limit = goesByFamiliarity(prediction) ? BY_FAMILIARITY : LIMIT;
  const n = examples - neighbours.reduce((sum, {twins}) => sum + 1 + twins.length, 0);
  return h(
    'section',
    {class: 'reason', 'data-role': 'reason', 'data-intent': intent},
    h('h3', {}, voted ? headingOf(prediction.decision, intent) : `${intent}: the most similar examples`),
    voted && h('p', {class: 'soft small'}, VOTES),
    neighbours.map(near => {
      const isHot = hot.includes(near.exemplar_id);
      const isSurplus = near.vote < 0 && near.intents.includes(intent);
      const isNearest = landing?.nearest && isOf(near, landing.nearest);
      const facts = about(near, {isHot, isNearest, refused}, intents, besides(near));
      const why = isSurplus && h('div', {class: 'small soft', 'data-role': 'surplus'}, SURPLUS);
      const weak = voted && near === neighbours.at(-1);
      const told = isNearest && nearestWords(landing.nearest.intents, intent, {isRefused: refused, weak});
      const words = [said(`“${near.text}”`), facts, twinsOf(near), why, told && aside(told)];
      return voteLine(words, voted ? near.vote : null, largest, isNearest ? 'nearest' : null);
    }),
    voted && (n > 0 || others !== 0) && voteLine(otherWords(n, others), others, largest, 'others'),
    prior !== 0 && voteLine(['How common it is', aside(COMMON)], prior, largest, 'prior'),
    voice !== 0 && voteLine(nameWords(byName), voice, largest, 'voice'),
    scoreLine(prediction, score, threshold),
    h('p', {class: 'soft small', 'data-role': 'scale'}, voted ? `${SCORE} ${limit}` : limit),
    sureLine(prediction, intent),
    nearestOf(landing?.nearest, {...prediction.decision, shown: neighbours}, intents, {intent, besides}),
  );
}

// The vote beside them is that of all together.
function twinsOf({exemplar_id: id, twins}) {
  if (!twins.length) return null;
  const says = twins.length > 1 ? 'say' : 'says';
  const words = `Together with ${plural(twins.length, 'example')} that ${says} nearly the same`;
  const more = twins.length - SHOWN_TWINS;
  return h(
    'details',
    {class: 'small soft', 'data-role': 'twins', 'data-key': `twins ${id}`},
    h('summary', {}, words),
    h(
      'ul',
      {class: 'told'},
      twins.slice(0, SHOWN_TWINS).map(text => h('li', {dir: 'auto'}, `“${text}”`)),
      more > 0 && h('li', {}, `and ${number(more)} more`),
    ),
  );
}

const isRefused = ({rule}) => ['out-of-scope', 'no-intent'].includes(rule);

// What a refused text lacks stands there; its answer is no intent.
const headingOf = ({measure, ...decision}, intent) => {
  if (!isRefused(decision)) return `What votes for ${intent}`;
  return measure === 'votes' ? `Not enough votes for ${intent}` : `Votes for ${intent}, the closest`;
};

const aside = words => h('div', {class: 'small soft'}, words);

// The score without its other parts, each as it is written: a reader adds up what is written.
function restOf(score, parts) {
  const tenths = value => Math.sign(value) * Math.round(10 * Number(Math.abs(100 * value).toFixed(1)));
  return (tenths(score) - parts.reduce((sum, part) => sum + tenths(part), 0)) / 1000;
}

const otherWords = (n, vote) =>
  n > 0 ? [`${plural(n, 'other example')} together`, vote < 0 && aside(MIXED)] : 'Left by rounding';

// A refusal is told in points, and the similarity would read as points of another count.
// Named where the strongest votes are others, or the similarity that decides would be that of no text in sight.
// Beside a refusal its label is told only where it is not that of the closest intent, and with the reason.
const nearestOf = (nearest, {shown, ...decision}, intents, {intent, besides}) =>
  nearest &&
  !shown.some(near => isOf(near, nearest)) &&
  h(
    'div',
    {class: 'below', 'data-role': 'nearest'},
    h('h3', {}, 'Most similar example'),
    said(`“${nearest.text}”`),
    h(
      'div',
      {class: 'row small soft'},
      !isRefused(decision) && intents.named(nearest.intents),
      !isRefused(decision) && similarityOf(nearest, '', APART),
      besides({...nearest, exemplar_id: nearest.id}),
    ),
    aside(nearestWords(nearest.intents, intent, {isRefused: isRefused(decision), weak: true})),
  );

// Whether a line is that of the most similar example, or of those that say nearly the same.
const isOf = (near, nearest) => near.exemplar_id === nearest.id || near.twins.includes(nearest.text);

function nearestWords(labels, intent, {isRefused: refused, weak}) {
  if (labels.includes(intent)) return refused ? UNLIKE : weak && WEAKER;
  const label = labels.join(' and ') || 'no intent';
  const both = refused ? `It is labelled ${label}; ${intent} is closest` : `It is labelled ${label}, not ${intent}`;
  return `${both}: ${OTHERWISE}`;
}

const nameWords = byName => [
  h('span', {}, 'The intent’s name and description '),
  byName && h('span', {class: 'badge warn'}, 'no examples yet'),
];

// The intents of a multi-label answer and the next ones; none that is all but impossible.
function likeliest({ranked, decision}, intents) {
  const isAnswer = one => decision.intents.includes(one.intent);
  const inOrder = [...ranked].sort((a, b) => isAnswer(b) - isAnswer(a));
  const shown = inOrder.slice(0, Math.max(SHOWN_INTENTS, decision.intents.length));
  const others = intents.multi ? shown : shown.filter(one => !isAnswer(one) && one.probability >= POSSIBLE);
  if (!others.length) return null;
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

// How similar an example is stands beside the most similar one alone: beside each vote it read as a second score.
const about = (near, {isHot, isNearest, refused}, intents, control) =>
  h(
    'div',
    {class: 'row small soft'},
    !(isNearest && refused) && intents.named(near.intents), // told below, where it is not that of the closest intent
    isNearest && (refused ? h('span', {}, 'most similar') : similarityOf(near, 'most similar, ', APART)),
    isHot && h('span', {class: 'badge warn'}, 'since training'),
    control,
  );

const similarityOf = ({cosine}, lead = '', tail = '') =>
  h('span', {title: SIMILARITY}, `${lead}${similarityWords(cosine)}${tail}`);

const voteLine = (words, vote, largest, role = null) =>
  h(
    'div',
    {class: 'vote', 'data-role': role},
    h('div', {}, words),
    vote !== null && [lane(vote, largest), h('div', {class: 'amount'}, signedPoints(vote))],
  );

function lane(vote, largest) {
  const width = `${50 * Math.min(1, Math.abs(vote) / largest)}%`;
  const bar =
    vote < 0
      ? h('i', {class: 'against', style: {right: '50%', width}})
      : h('i', {style: {left: '50%', width}});
  return h('div', {class: 'lane', 'aria-hidden': 'true'}, bar);
}

function scoreLine(prediction, score, threshold) {
  const {rule, familiarity} = prediction.decision;
  const compared = goesByFamiliarity(prediction)
    ? `familiarity ${decimal(familiarity, 2)}, ${sideOfLimit(familiarity, threshold, IN_DEVIATIONS)}`
    : sideOfLimit(score, threshold);
  const line = rule === 'exact' ? 'exactly an example' : compared;
  return h(
    'div',
    {class: 'vote', 'data-role': 'score'},
    h('div', {}, h('b', {}, 'Score'), aside(line)),
    h('span'),
    h('b', {class: 'amount'}, points(score)),
  );
}

// Where the two figures of an answer meet, what parts them.
function sureLine({decision, ranked}, intent) {
  if (!decision.intents.includes(intent) || decision.rule !== 'votes') return null;
  const {probability} = ranked.find(one => one.intent === intent);
  const right = Math.min(Math.max(Math.round(100 * probability), 1), 99);
  const words = `${sure(probability)}: of 100 answers with such a score, about ${right} are right.`;
  return h('div', {class: 'small soft', 'data-role': 'sure'}, words);
}
