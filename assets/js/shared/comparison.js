// A version against another: the verdict, better and worse texts, and folded how this is computed.
import {h, table} from './elements.js';
import {busyButton} from './evidence.js';
import {digitsThatAgree, nothingFits, number, percent, plural, signedPoints} from './words.js';

const MOST_ANSWERS = 300;
const SHOWN = 6; // texts of a side that are shown at once
const KIND = {fixed: 'good', broken: 'bad', kept: 'good', missed: 'bad', other: ''};
const PIN_WORDS = {fixed: 'mended', broken: 'broken', kept: 'kept', missed: 'broken as before'};
// Colour is not the only sign: each has a word and a mark of its own.
const OUTCOMES = {
  better: {mark: '▲', words: 'Better', kind: 'good'},
  alike: {mark: '=', words: 'About as good', kind: 'accent'},
  worse: {mark: '▼', words: 'Worse', kind: 'bad'},
  but: {mark: '✗', words: 'Better, but', kind: 'bad'}, // such as by a broken pin
  unknown: {mark: '?', words: 'Not known', kind: 'warn'},
};

// What the figures were taken on.
const BASES = {'test split': 'test texts', 'stored figures': 'as checked when it was trained', nothing: ''};

const points = (share, digits = 1) => `${signedPoints(share, digits)} points`;
const saying = task => intents => intents.join(' and ') || nothingFits(task);

// What becomes of both versions; `live` is null where nothing answers yet.
export const keepWords = (mine, live) =>
  live === null ? 'Leave it unused' : `Keep version ${live}, leave version ${mine} unused`;

// Which of the two buttons stands out: that of the advice; without one the live version is kept.
export const looksOf = advice => ({
  use: advice?.use ? 'primary' : null,
  keep: advice?.use ? null : 'primary',
});

// The buttons to use a version that waits, or to keep the live one; `live` is null where nothing answers yet.
// `use` and `keep` are functions; `keep` is null where nothing waits.
export const decisionOf = ([mine, live], advice, use, keep) => [
  busyButton(`Use version ${mine}`, use, {class: looksOf(advice).use, 'data-key': 'promote'}),
  keep && busyButton(keepWords(mine, live), keep, {class: looksOf(advice).keep, 'data-key': 'discard'}),
];

// `actions` stand beside the verdict.
export const comparisonOf = ({comparison: found, gate, advice}, ...actions) =>
  h(
    'div',
    {class: 'stack'},
    verdictOf(found, {gate, advice}, actions),
    found.answers.length > 0 && sidesOf(found),
    found.pins.length > 0 && pinsOf(found.pins, saying(found.task)),
    computedOf(found, gate),
  );

function verdictOf(found, {gate, advice}, actions) {
  const {outcome} = found;
  const {mark, words, kind} = advice && !advice.use && outcome === 'better' ? OUTCOMES.but : OUTCOMES[outcome];
  const drawn = h('span', {'aria-hidden': 'true'}, advice ? mark : `${mark} `);
  const sign = h('span', {class: `badge ${kind}`, title: words}, drawn, !advice && words);
  return h(
    'div',
    {class: 'verdict', 'data-role': 'verdict', 'data-outcome': outcome},
    advice ? h('div', {class: 'row tight'}, sign, h('b', {'data-role': 'advice'}, advice.words)) : sign,
    h('p', {}, found.verdict),
    !gate.promote && !advice && h('p', {class: 'warn small'}, gate.reasons.join(' ')),
    actions.length > 0 && h('div', {class: 'row'}, actions),
  );
}

// The texts whose answers became right or wrong, side by side.
function sidesOf(found) {
  const said = saying(found.task);
  const of = verdict => found.answers.filter(one => answerVerdict(one, found.task) === verdict);
  const words = line => `Answered ${said(line.after)}, before ${said(line.before)}`;
  return h(
    'div',
    {class: 'sides'},
    side('Newly right', 'better', of('fixed'), words),
    side('Newly wrong', 'worse', of('broken'), words),
  );
}

function side(title, role, lines, words) {
  const item = line =>
    h('li', {}, h('bdi', {}, `“${line.text}”`), h('div', {class: 'soft small'}, words(line)));
  const rest = lines.slice(SHOWN, MOST_ANSWERS);
  const left = lines.length - MOST_ANSWERS;
  return h(
    'section',
    {'data-role': role, 'aria-label': title},
    h('h3', {}, `${title}: ${number(lines.length)}`),
    lines.length ? h('ul', {}, lines.slice(0, SHOWN).map(item)) : h('p', {class: 'soft small'}, 'None.'),
    rest.length > 0 &&
      h('details', {}, h('summary', {}, `${number(rest.length)} more`), h('ul', {}, rest.map(item))),
    left > 0 && h('p', {class: 'soft small'}, `${number(left)} more are not listed.`),
  );
}

function pinsOf(pins, said) {
  const badge = verdict => h('span', {class: `badge ${KIND[verdict]}`}, PIN_WORDS[verdict]);
  const rows = pins.map(pin => [pin.text, said(pin.expected), said(pin.after), badge(pinVerdict(pin))]);
  return h(
    'details',
    {open: pins.some(pin => pinVerdict(pin) === 'broken')},
    h('summary', {}, `${plural(pins.length, 'pin')}: ${pinCounts(pins)}`),
    table(['Pin', 'Must get', 'Gets now', ''], rows),
  );
}

function pinCounts(pins) {
  const verdicts = pins.map(pinVerdict);
  const many = verdict => verdicts.filter(one => one === verdict).length;
  return Object.keys(PIN_WORDS)
    .filter(many)
    .map(verdict => `${number(many(verdict))} ${PIN_WORDS[verdict]}`)
    .join(', ');
}

const computedOf = (found, gate) =>
  h(
    'details',
    {'data-role': 'computed'},
    h('summary', {}, 'How this is computed'),
    h(
      'div',
      {class: 'stack below'},
      found.before !== null && figuresOf(found),
      h(
        'ul',
        {class: 'listed'},
        [...gate.reasons, ...found.words].map(sentence => h('li', {}, sentence)),
      ),
      found.intents.some(changed) && intentsOf(found.intents),
    ),
  );

function figuresOf({champion, candidate, before, after, difference, n, basis, f1}) {
  const digits = difference ? digitsThatAgree(before, after) : 1;
  const told = share => points(share, digits);
  const range = difference && `95 % between ${told(difference.low)} and ${told(difference.high)}`;
  return h(
    'div',
    {class: 'figures'},
    figure(champion, percent(before, digits), f1 && 'exactly right'),
    figure(candidate, percent(after, digits), f1 && 'exactly right'),
    difference && figure('difference', told(difference.value), range),
    figure('checked on', plural(n, 'text'), BASES[basis]),
  );
}

const figure = (name, value, note) =>
  h(
    'div',
    {},
    h('div', {class: 'soft small'}, name),
    h('div', {class: 'figure tabular'}, value),
    note && h('div', {class: 'soft small'}, note),
  );

function pinVerdict({expected, before, after}) {
  const was = isSame(before, expected);
  if (isSame(after, expected)) return was ? 'kept' : 'fixed';
  return was ? 'broken' : 'missed';
}

const isSame = (one, other) => one.length === other.length && one.every(intent => other.includes(intent));

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
    h(
      'summary',
      {},
      `By intent: ${number(intents.filter(changed).length)} of ${number(intents.length)} changed`,
    ),
    table(['Intent', 'Texts', 'Found before', 'Found now', 'Change'], rows),
  );
}

function change(share) {
  const kind = share > 0 ? 'good' : share < 0 ? 'bad' : 'soft';
  return h('span', {class: kind}, points(share));
}
