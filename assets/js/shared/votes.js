// An answer with the votes that make it: prior, examples for and against, and all others add up to the score.
import {h} from './elements.js';
import {chip} from './intents.js';
import {percent} from './words.js';

const SMALLEST_SCALE = 0.05; // so that votes of next to nothing do not fill the lane
const SHOWN_INTENTS = 4;

export function votesOf(answer, byName = new Map()) {
  const {prediction, votes_of_others: others, hot} = answer;
  const votes = [...prediction.neighbours.map(near => near.vote), others, prediction.prior];
  const largest = Math.max(SMALLEST_SCALE, ...votes.map(Math.abs));
  const [best] = prediction.ranked;
  return h(
    'div',
    {},
    h('p', {}, answer.sentence),
    h('div', {class: 'row', style: {'margin-bottom': '10px'}}, likeliest(prediction, byName)),
    h('h3', {}, `What votes for ${best.intent}`),
    prediction.neighbours.map(near => {
      const isHot = hot.includes(near.exemplar_id);
      const words = [h('span', {}, `“${near.text}” `), about(near, isHot, byName)];
      return voteLine(words, near.vote, largest);
    }),
    voteLine('All other examples together', others, largest),
    voteLine('Share of this intent among the labels', prediction.prior, largest),
    scoreLine(prediction),
  );
}

const likeliest = (prediction, byName) =>
  prediction.ranked
    .slice(0, SHOWN_INTENTS)
    .map(one =>
      h(
        'span',
        {class: 'chip', style: {'--dot': byName.get(one.intent)?.color}},
        one.intent,
        h('b', {class: 'tabular'}, percent(one.probability, 0)),
      ),
    );

const about = (near, isHot, byName) =>
  h(
    'div',
    {class: 'row small soft'},
    near.intents.map(name => chip(byName.get(name), name)),
    `similarity ${near.cosine.toFixed(2)}`,
    isHot && h('span', {class: 'badge warn'}, 'since training'),
  );

const voteLine = (words, vote, largest) =>
  h(
    'div',
    {class: 'vote'},
    h('div', {}, words),
    lane(vote, largest),
    h('div', {class: 'amount'}, (vote >= 0 ? '+' : '−') + Math.abs(vote).toFixed(3)),
  );

function lane(vote, largest) {
  const width = `${50 * Math.min(1, Math.abs(vote) / largest)}%`;
  const bar =
    vote < 0
      ? h('i', {class: 'against', style: {right: '50%', width}})
      : h('i', {style: {left: '50%', width}});
  return h('div', {class: 'lane', 'aria-hidden': 'true'}, bar);
}

function scoreLine({decision, ranked}) {
  const limit =
    decision.rule === 'exact' ? 'exactly a labelled example' : `limit ${decision.threshold.toFixed(3)}`;
  return h(
    'div',
    {class: 'vote'},
    h('b', {}, 'Score'),
    h('span', {class: 'soft small'}, limit),
    h('b', {class: 'amount'}, ranked[0].score.toFixed(3)),
  );
}
