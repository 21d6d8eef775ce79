// What a moved line would change: answers, pins, and the texts on its other side.
import {h, said} from '../shared/elements.js';
import {decimal, IN_POINTS, number, plural, points, toldApart} from '../shared/words.js';

// Familiarity is told in standard deviations.
const deviations = {unit: 'a familiarity of ', say: value => decimal(value, 2), told: {factor: 1, digits: 2}};
export const METHODS = {
  votes: {called: 'Votes for the answer', unit: 'a score of ', say: points, told: IN_POINTS},
  nearest: {called: 'Nearest examples', ...deviations},
  mahalanobis: {called: 'Distance to the intents', ...deviations},
  mixture: {called: 'All three together', ...deviations},
};

// What Save would do: how many answers, and how many right answers of the test set.
export function changesView({n_entering: entering, n_leaving: leaving, total, lost, won, recall, judged}) {
  const n = entering + leaving;
  const change = n
    ? `${number(n)} of ${plural(total, 'answer')} would change: ` +
      `${number(leaving)} more would be refused, ${number(entering)} would get an intent.`
    : `None of ${plural(total, 'answer')} would change.`;
  const test = [
    lost > 0 && `${plural(lost, 'right answer')} would be refused`,
    won > 0 && `${plural(won, 'refused text')} would be answered right`,
  ].filter(Boolean);
  const [now, then] = (recall ?? [0, 0]).map(share => Math.round(share * judged[1]));
  const all = plural(judged[1], 'text');
  const kept = `Of ${all} labelled out of scope ${number(then)} would be refused; ${number(now)} are now.`;
  return h('p', {}, change, test.length > 0 && ` On the test set ${test.join(', and ')}.`, now !== then && ` ${kept}`);
}

export function pinsView({pins}) {
  const broken = pins.filter(pin => !pin.kept).length;
  const words = `${plural(pins.length, 'pin')} would get another answer, ${number(broken)} would be broken`;
  return (
    pins.length > 0 &&
    h(
      'details',
      {open: true, 'data-key': 'pins', 'data-role': 'fence-pins'},
      h('summary', {}, words),
      h('ul', {class: 'last told'}, pins.map(pinLine)),
    )
  );
}

const pinLine = ({text, expected, before, after, kept}) =>
  h(
    'li',
    {},
    h('span', {class: `badge ${kept ? 'good' : 'bad'}`}, kept ? 'kept' : 'broken'),
    h(
      'div',
      {class: 'grow'},
      said(text),
      h('div', {class: 'small soft'}, `must get ${expected}; ${before} now, ${after} with this line`),
    ),
  );

// The texts on the other side of the line: those that it refuses, and those that get an intent again.
export function crossedView({entering, n_entering: nEntering, leaving, n_leaving: nLeaving, ...found}) {
  const {method, limit} = found.asked;
  const tell = score => toldApart(score, limit ?? found.own, METHODS[method].told)[0];
  const inAll = `(${number(found.refused[1])} of ${number(found.total)} in all)`;
  const more = `${plural(nLeaving, 'more text')} would be refused ${inAll}`;
  const fewer = `${plural(nEntering, 'text')} would get an intent again`;
  return [listOf('entering', fewer, entering, nEntering, tell), listOf('leaving', more, leaving, nLeaving, tell)];
}

function listOf(key, title, crossed, total, tell) {
  if (!crossed.length) return null;
  const isCut = crossed.length < total;
  return h(
    'details',
    {open: true, 'data-key': key},
    h('summary', {}, title),
    isCut && h('p', {class: 'soft small'}, `The first ${number(crossed.length)} of ${number(total)}:`),
    h(
      'ul',
      {class: 'last told'},
      crossed.map(one => crossedLine(one, tell)),
    ),
  );
}

const crossedLine = ({text, intent, score, labelled, place}, tell) =>
  h(
    'li',
    {},
    h('div', {class: 'grow'}, said(text), h('div', {class: 'small soft'}, `closest: ${intent}`)),
    labelled
      ? h('span', {class: 'badge'}, labelled)
      : h('span', {class: 'soft small'}, place === 'pool' ? 'unlabelled' : place),
    h('span', {class: 'small tabular'}, tell(score)),
  );
