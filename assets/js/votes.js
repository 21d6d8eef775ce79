// An answer with the votes that make it: prior, examples for and against, and all others add up to the score.
import {chip, h, percent} from './studio.js';

export function votesOf(answer, byName = new Map()) {
  const {prediction, votes_of_others: others, hot} = answer;
  const best = prediction.ranked[0];
  const largest = Math.max(
    0.05,
    ...prediction.neighbours.map(near => Math.abs(near.vote)),
    Math.abs(others),
    Math.abs(prediction.prior),
  );
  const line = (words, vote, note) =>
    h(
      'div',
      {class: 'vote'},
      h('div', {}, words, note),
      lane(vote, largest),
      h('div', {class: 'amount'}, (vote >= 0 ? '+' : '−') + Math.abs(vote).toFixed(3)),
    );
  return h(
    'div',
    {},
    h('p', {}, answer.sentence),
    h(
      'div',
      {class: 'row', style: {'margin-bottom': '10px'}},
      prediction.ranked
        .slice(0, 4)
        .map(one =>
          h(
            'span',
            {class: 'chip', style: {'--dot': byName.get(one.intent)?.color}},
            one.intent,
            h('b', {class: 'tabular'}, percent(one.probability, 0)),
          ),
        ),
    ),
    h('h3', {}, `What votes for ${best.intent}`),
    prediction.neighbours.map(near =>
      line(
        [h('span', {}, `“${near.text}” `)],
        near.vote,
        h(
          'div',
          {class: 'row small soft'},
          near.intents.map(name => chip(byName.get(name), name)),
          `similarity ${near.cosine.toFixed(2)}`,
          hot.includes(near.exemplar_id) && h('span', {class: 'badge warn'}, 'since training'),
        ),
      ),
    ),
    line('All other examples together', others),
    line('Share of this intent among the labels', prediction.prior),
    h(
      'div',
      {class: 'vote'},
      h('b', {}, 'Score'),
      h(
        'span',
        {class: 'soft small'},
        prediction.decision.rule === 'exact'
          ? 'exactly a labelled example'
          : `limit ${prediction.decision.threshold.toFixed(3)}`,
      ),
      h('b', {class: 'amount'}, best.score.toFixed(3)),
    ),
  );
}

function lane(vote, largest) {
  const width = 50 * Math.min(1, Math.abs(vote) / largest);
  return h(
    'div',
    {class: 'lane', 'aria-hidden': 'true'},
    h('i', {
      class: vote < 0 ? 'against' : '',
      style: vote < 0 ? {right: '50%', width: `${width}%`} : {left: '50%', width: `${width}%`},
    }),
  );
}
