// What a moved limit would change: answers, pins, and the texts on its other side.
import {h, said} from '../shared/elements.js';
import {firstOf} from '../shared/first_of.js';
import {decimal, number, plural, points} from '../shared/words.js';

const SHOWN = 50; // texts of a list before somebody asks for the others

// Familiarity is told in standard deviations.
const deviations = {name: 'familiarity', unit: 'a familiarity of ', say: value => decimal(value, 2)};
export const METHODS = {
  votes: {called: 'Votes for the answer', name: 'score', unit: 'a score of ', say: points},
  nearest: {called: 'Nearest examples', ...deviations},
  mahalanobis: {called: 'Distance to the intents', ...deviations},
  mixture: {called: 'All three together', ...deviations},
};

// What Save would do: how many answers change, and what of that is known to be better or worse.
export function changesView(found) {
  const {n_entering: entering, n_leaving: leaving, total} = found;
  const n = entering + leaving;
  const ways = [
    leaving > 0 && `${number(leaving)} more would be refused`,
    entering > 0 && `${number(entering)} would get an intent`,
  ].filter(Boolean);
  const change = n
    ? `${number(n)} of ${plural(total, 'answer')} would change: ${ways.join(', ')}.`
    : `None of ${plural(total, 'answer')} would change.`;
  return [h('p', {}, change), n > 0 && judgedView(found)];
}

// Gains and losses, which only labelled texts have; the others are for a person to look at.
function judgedView(found) {
  const {lost, won, recall, n_leaving: refused, judged: [nTests, nOutside], unlabelled: [entering, leaving]} = found;
  const [now, then] = (recall ?? [0, 0]).map(share => Math.round(share * nOutside));
  const better = [
    then > now && `refuses ${number(then - now)} more of ${number(nOutside)} labelled out of scope`,
    won > 0 && `answers ${number(won)} more of ${plural(nTests, 'test text')} right`,
  ].filter(Boolean);
  const are = lost === 1 ? 'is' : 'are';
  const worse = [
    now > then && `refuses ${number(now - then)} fewer of ${number(nOutside)} labelled out of scope`,
    lost > 0 && `refuses ${number(lost)} of ${plural(nTests, 'test text')} that ${are} right today`,
  ].filter(Boolean);
  const unknown = [
    entering > 0 && `lets in ${plural(entering, 'unlabelled text')}`,
    leaving > 0 && `refuses ${plural(leaving, 'unlabelled text')}`,
  ].filter(Boolean);
  const none = !better.length && !worse.length;
  const alike = refused - lost - leaving - Math.max(0, then - now); // wrong before, and wrong after it
  return h(
    'p',
    {class: 'small', 'data-role': 'judged'},
    better.length > 0 && [h('span', {class: 'badge good'}, 'better'), ` ${better.join(', ')} `],
    worse.length > 0 && [h('span', {class: 'badge bad'}, 'worse'), ` ${worse.join(', ')} `],
    unknown.length > 0 && [h('span', {class: 'badge warn'}, 'look'), ` ${unknown.join(', ')}, listed below `],
    alike > 0 && [h('span', {class: 'badge'}, '='), ` refuses ${plural(alike, 'text')} answered wrongly today `],
    none && 'Nothing that is labelled becomes right or wrong.',
  );
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
      h('div', {class: 'small soft'}, `must get ${expected}; ${before} now, ${after} with this limit`),
    ),
  );

// The texts on the other side of the limit: those that it refuses, and those that get an intent again.
export function crossedView({entering, n_entering: nEntering, leaving, n_leaving: nLeaving, ...found}) {
  const {method, limit} = found.asked;
  const {say} = METHODS[method];
  const line = limit ?? found.own;
  // As many digits for each; what is refused is not said to have what is needed.
  const tell = score => (score < line && say(score) === say(line) ? `just under ${say(line)}` : say(score));
  const inAll = `(${number(found.refused[1])} of ${number(found.total)} in all)`;
  const more = `${plural(nLeaving, 'more text')} would be refused ${inAll}`;
  const fewer = `${plural(nEntering, 'text')} would get an intent again`;
  return [listOf('entering', fewer, entering, nEntering, tell), listOf('leaving', more, leaving, nLeaving, tell)];
}

function listOf(key, title, crossed, total, tell) {
  if (!crossed.length) return null;
  const view = told => h('ul', {class: 'last told'}, told.map(one => crossedLine(one, tell)));
  return h(
    'details',
    {open: true, 'data-key': key},
    h('summary', {}, title),
    firstOf(crossed, {total, shown: SHOWN, key, one: 'text', view}),
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
