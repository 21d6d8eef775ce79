// A candidate against the champion: in words first, then by intent and text by text.
import {h, table} from './elements.js';
import {nothingFits, number, percent, plural} from './words.js';

const MOST_ANSWERS = 300;
const OPEN_UP_TO = 12; // changed answers that are shown at once
const KIND = {fixed: 'good', broken: 'bad', kept: 'good', missed: 'warn', other: ''};

const points = share => `${share >= 0 ? '+' : '−'}${(100 * Math.abs(share)).toFixed(1)} points`;
const saying = task => intents => intents.join(' and ') || nothingFits(task);
const badge = verdict => h('span', {class: `badge ${KIND[verdict]}`}, verdict);

export const comparisonOf = ({comparison: found, gate}) =>
  h(
    'div',
    {class: 'stack', style: {'margin-top': '12px'}},
    gateNote(gate),
    found.before !== null && figuresOf(found),
    h(
      'ul',
      {style: {margin: 0, 'padding-left': '20px'}},
      found.words.map(sentence => h('li', {}, sentence)),
    ),
    found.pins.length > 0 && pinsOf(found.pins, saying(found.task)),
    found.answers.length > 0 && answersOf(found),
    found.intents.some(changed) && intentsOf(found.intents),
  );

const gateNote = gate =>
  h(
    'div',
    {class: `note ${gate.promote ? 'good' : 'warn'}`, 'data-role': 'gate'},
    h('b', {}, gate.promote ? 'It passes the gate. ' : 'It does not pass the gate. '),
    gate.reasons.join(' '),
  );

function figuresOf({champion, candidate, before, after, difference, n, basis, f1}) {
  const range = difference && `95 % between ${points(difference.low)} and ${points(difference.high)}`;
  return h(
    'div',
    {class: 'row', style: {gap: '26px'}},
    figure(champion, percent(before), f1 && `exact match; F1 ${percent(f1[0])}`),
    figure(candidate, percent(after), f1 && `exact match; F1 ${percent(f1[1])}`),
    difference && figure('difference', points(difference.value), range),
    figure('judged on', plural(n, 'text'), basis),
  );
}

const figure = (name, value, note) =>
  h(
    'div',
    {},
    h('div', {class: 'soft small'}, name),
    h('div', {class: 'tabular', style: {'font-size': '21px', 'font-weight': 650}}, value),
    note && h('div', {class: 'soft small'}, note),
  );

function pinsOf(pins, said) {
  const rows = pins.map(pin => [pin.text, said(pin.expected), said(pin.after), badge(pinVerdict(pin))]);
  return h(
    'details',
    {open: pins.some(pin => pinVerdict(pin) === 'broken')},
    h('summary', {}, plural(pins.length, 'pin')),
    table(['Pin', 'Must get', 'Gets now', ''], rows),
  );
}

function pinVerdict({expected, before, after}) {
  const was = isSame(before, expected);
  if (isSame(after, expected)) return was ? 'kept' : 'fixed';
  return was ? 'broken' : 'missed';
}

const isSame = (one, other) => one.length === other.length && one.every(intent => other.includes(intent));

function answersOf({answers, task}) {
  const said = saying(task);
  const rows = answers
    .slice(0, MOST_ANSWERS)
    .map(one => [
      one.text,
      said(one.expected),
      said(one.before),
      said(one.after),
      badge(answerVerdict(one, task)),
    ]);
  return h(
    'details',
    {open: answers.length <= OPEN_UP_TO},
    h('summary', {}, `${plural(answers.length, 'answer')} changed`),
    table(['Text', 'Label', 'Champion', 'Candidate', ''], rows),
  );
}

// Multi-label: the answer must equal the label. Single-label: any intent of the label is right.
function answerVerdict({expected, before, after}, task) {
  const isRight = answer =>
    task === 'multi-label' ? isSame(answer, expected) : answer.some(intent => expected.includes(intent));
  const [was, is] = [isRight(before), isRight(after)];
  if (was === is) return 'other';
  return is ? 'fixed' : 'broken';
}

const changed = intent => intent.before !== intent.after;

function intentsOf(intents) {
  const rows = intents.map(one => [
    one.intent,
    number(one.support),
    percent(one.before, 0),
    percent(one.after, 0),
    change(one.after - one.before),
  ]);
  return h(
    'details',
    {},
    h('summary', {}, `By intent: ${intents.filter(changed).length} of ${intents.length} changed`),
    table(['Intent', 'Texts', 'Found before', 'Found now', 'Change'], rows),
  );
}

function change(share) {
  const kind = share > 0 ? 'good' : share < 0 ? 'bad' : 'soft';
  return h('span', {class: kind}, points(share));
}
