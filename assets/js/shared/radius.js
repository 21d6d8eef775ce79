// The effect of a repair in words: how many answers change and of which texts, which become right or wrong, which pins.
import {breaking, h, table} from './elements.js';
import {firstOf} from './first_of.js';
import {number, plural} from './words.js';

const VERDICT = {
  fixed: ['becomes right', 'good'],
  broken: ['becomes wrong', 'bad'],
  right: ['stays right', ''],
  other: ['stays wrong', ''],
};
const PIN = {
  fixed: ['pin kept again', 'good'],
  broken: ['pin broken', 'bad'],
  other: ['pin stays broken', ''],
};
const UNKNOWN = {
  in: ['would no longer be refused: look at it', 'warn'],
  out: ['would be refused: look at it', 'warn'],
  '': ['unlabelled: not known', ''],
};
// An answer that changes and is right before and after bears the name that the repair gives its label.
const RIGHT = {merge: 'right under the merged label', split: 'right under the new label'};
const UNCHECKED = 'Not checked: there are no test texts, no unlabelled ones and no pins. Add test texts on Data.';
const SHOWN = 12;
// Where nothing is counted: in a line, and in a sentence.
const UNTOLD = {
  later: ['effect not known yet', 'What this does to answers shows after the next training.'],
  nothing: ['no answer changes', 'No answer changes.'],
};
export const COUNTING = 'counting answers …'; // until it is known which answers change

const badge = (words, kind) => h('span', {class: `badge ${kind}`}, words);

// Whether nothing is counted, as labels wait for a training.
export const isUntold = ({told}) => told in UNTOLD;

// `kind` is that of the repair.
export function radiusLine(blast, kind = '') {
  if (isUntold(blast)) return h('span', {'data-role': 'radius'}, UNTOLD[blast.told][0]);
  return h(
    'span',
    {class: 'row tight', 'data-role': 'radius'},
    h('span', {}, changing(blast), isUnknown(blast) && '; none known to be better or worse'),
    partBadges(blast, kind),
    besideWords(blast),
  );
}

// Each changed answer is in one badge: the figures add up to the number of answers that change. `isDone`: in the past.
function partBadges(blast, kind, isDone = false) {
  const {fixed, renamed, another, scope: [taken, refused], stays: [right, wrong]} = blast;
  const {pins_fixed: kept, pins_broken: lost} = blast;
  const part = (n, [one, many, done], end, sign = '') =>
    n > 0 && badge(`${number(n)} ${isDone ? done : n === 1 ? one : many} ${end}`, sign);
  const become = ['becomes', 'become', 'became'];
  const stay = ['stays', 'stay', 'stayed'];
  const name = kind === 'split' ? ['gets', 'get', 'got'] : ['only changes', 'only change', 'only changed'];
  return [
    part(fixed, become, 'right', 'good'),
    part(blast.broken - relabelled(blast), become, 'wrong', 'bad'),
    taken > 0 && badge(`${number(taken)} no longer refused`, 'warn'),
    refused > 0 && badge(`${number(refused)} newly refused`, 'warn'),
    kept.length > 0 && badge(`${plural(kept.length, 'pin')} kept again`, 'good'),
    lost.length > 0 && badge(`${plural(lost.length, 'pin')} broken`, 'bad'),
    part(right, stay, 'right'),
    part(wrong, stay, 'wrong'),
    part(another, ['gets', 'get', 'got'], 'another intent'),
    part(renamed, name, kind === 'split' ? 'the new intent’s name' : 'the intent’s name'),
  ];
}

// Test texts that a split makes wrong by their label alone: their answer stays.
function relabelled({fixed, broken, renamed, another, scope, stays, pins_fixed: kept, pins_broken: lost, ...rest}) {
  const parts = [fixed, broken, renamed, another, ...scope, ...stays, kept.length, lost.length];
  return parts.reduce((sum, n) => sum + n, 0) - countOf(rest);
}

// What is right or wrong though its answer stays. A merge mends no answer by itself: some were answered as the other of
// its two intents.
function besideWords(blast) {
  const labels = relabelled(blast);
  const words = [
    blast.joined > 0 && `${number(blast.joined)} more right, as the two count as one`,
    labels > 0 && `${number(labels)} more wrong, as only the label changes`,
  ].filter(Boolean);
  return words.length > 0 && h('span', {class: 'soft'}, words.join(', '));
}

// What an act has done, by the same counts as before it, then what this is in the share of right answers: "8 answers
// changed: 5 test texts, 3 unlabelled", "3 became right", "81 → 84 of 85 right".
export const gainsOf = (blast, kind = '') => [
  countOf(blast) > 0 && h('span', {class: 'soft', 'data-role': 'changed-answers'}, changing(blast, 'changed')),
  partBadges(blast, kind, true),
  besideWords(blast),
  sharesOf(blast),
];

function sharesOf({in_scope: fitting, outside, watched: [, nTest]}) {
  const which = fitting.n < nTest ? 'Test texts of an intent' : 'Test texts';
  const share = ({n, now, then}, words, title) =>
    now !== then &&
    h(
      'span',
      {class: `badge ${then > now ? 'good' : 'bad'}`, title: `${title}, before and after`},
      `${number(now)} → ${number(then)} of ${number(n)} ${words}`,
    );
  const refused = 'Test texts that fit no intent, refused';
  return [share(fitting, 'right', `${which}, answered right`), share(outside, 'out of scope refused', refused)];
}

const countOf = ({test, pool, pins}) => test + pool + pins;

// Whether answers change, and nobody has said of any of them what is right.
const isUnknown = ({fixed, broken, joined, pins_fixed: kept, pins_broken: lost, ...rest}) =>
  countOf(rest) > 0 && !fixed && !broken && !joined && !kept.length && !lost.length;

// "22 answers change: 5 test texts, 16 unlabelled, 1 pin"; only test texts and pins have a label by which an
// answer is right or wrong. Where none changes, of how many; where there is none to look at, that nothing is known.
// `verb` is that of one that is done.
function changing({test, pool, pins, watched, touched: [nTouched]}, verb = '') {
  const n = test + pool + pins;
  if (!n && nTouched && !isChecked(watched)) return 'not checked';
  if (!n) return isChecked(watched) ? `no answer of ${checkedOn(watched)} changes` : 'no answer changes';
  const parts = [
    test > 0 && plural(test, 'test text'),
    pool > 0 && `${number(pool)} unlabelled`,
    pins > 0 && plural(pins, 'pin'),
  ];
  return `${plural(n, 'answer')} ${verb || (n === 1 ? 'changes' : 'change')}: ${parts.filter(Boolean).join(', ')}`;
}

const isChecked = watched => watched.some(n => n > 0);

// "61 test and 40 unlabelled texts and 2 pins"; what there is none of is left out.
function checkedOn([nPool, nTest, nPins]) {
  const among = [nTest > 0 && `${number(nTest)} test`, nPool > 0 && `${number(nPool)} unlabelled`];
  const texts = `${among.filter(Boolean).join(' and ')} ${nPool + nTest === 1 ? 'text' : 'texts'}`;
  return [nPool + nTest > 0 && texts, nPins > 0 && plural(nPins, 'pin')].filter(Boolean).join(' and ');
}

// "81 → 82 of 85 test texts right, 1 pin broken, 3 unlabelled no longer refused"; without test texts the number of
// answers that change.
export function resultWords(blast) {
  if (isUntold(blast)) return UNTOLD[blast.told][1];
  const {in_scope: {n, now, then}, pins_broken: lost} = blast;
  if (!n) return changing(blast);
  const figures = now === then ? number(now) : `${number(now)} → ${number(then)}`;
  const both = now === then ? ', before and after' : blast.joined > 0 ? ', as the two count as one' : '';
  const broken = lost.length ? `, ${plural(lost.length, 'pin')} broken` : '';
  return [`${figures} of ${plural(n, 'test text')} right${both}${broken}`, ...acrossWords(blast)].join(', ');
}

// Nobody has said whether such a text fits an intent: a person looks at those that the limit refused or let in.
function acrossWords({scope: [taken, refused]}) {
  return [
    taken > 0 && `${number(taken)} unlabelled no longer refused`,
    refused > 0 && `${number(refused)} unlabelled newly refused`,
  ].filter(Boolean);
}

// `kind` is that of the repair.
export function turnsOf(blast, kind = '') {
  if (isUntold(blast)) return h('div', {class: 'turns'}, h('p', {class: 'soft small'}, UNTOLD[blast.told][1]));
  const {turns, watched, touched, left_out: leftOut, pins_broken: lost} = blast;
  const none = touched[0] > 0 && !leftOut && UNCHECKED;
  const basis = isChecked(watched) ? `Checked on ${checkedOn(watched)}.` : none;
  const judged = rightOf(blast, kind);
  const were = leftOut === 1 ? 'was' : 'were';
  const missing = leftOut > 0 && `${plural(leftOut, isChecked(watched) ? 'more text' : 'text')} ${were} not checked.`;
  return h(
    'div',
    {class: 'turns'},
    lost.length > 0 && h('div', {class: 'note bad'}, `Breaks ${lost.map(text => `“${text}”`).join(', ')}.`),
    h('p', {class: 'soft small'}, [judged, basis, missing].filter(Boolean).join(' ')),
    turns.length > 0 && changes(blast, kind),
  );
}

// The accuracy in the header counts the same texts; those that fit no intent are told apart from them.
function rightOf({in_scope: fitting, outside, watched: [, nTest]}, kind) {
  const scope = fitting.n < nTest ? ' of an intent' : '';
  const which = `${plural(fitting.n, 'test text')}${scope}`;
  const right = fitting.n > 0 && `Of ${which} ${plural(fitting.now, 'is', 'are')} right, ${after(fitting)}.`;
  const none = plural(outside.n, 'that fits none', 'that fit none');
  const refused = outside.n > 0 && `Of ${none} ${plural(outside.now, 'is', 'are')} refused, ${after(outside)}.`;
  const joined =
    right && kind === 'merge' && 'A test text of either intent counts as right when it gets the joint intent.';
  return [right, joined, refused].filter(Boolean).join(' ');
}

const after = ({now, then}) => (now === then ? 'before and after' : `and ${number(then)} after it`);

function changes({turns, test, pool, pins}, kind) {
  const line = one => [
    one.text,
    h('span', {}, h('span', {class: 'soft'}, breaking(one.before), ' → '), breaking(one.after)),
    badge(...verdictOf(one, kind)),
  ];
  const view = told =>
    table(['Text', 'Answer now → then', ''], told.map(line), {class: 'narrow', 'data-role': 'turns'});
  return firstOf(turns, {total: test + pool + pins, shown: SHOWN, key: 'turns', one: 'answer', view});
}

// An unlabelled text has no label by which its answer is right or wrong; one that was refused, or is now, is marked.
function verdictOf({place, verdict, scope}, kind) {
  if (place === 'pool') return UNKNOWN[scope];
  if (place === 'pin' && PIN[verdict]) return PIN[verdict];
  const [words, sign] = VERDICT[verdict];
  return [verdict === 'right' ? (RIGHT[kind] ?? words) : words, sign];
}
