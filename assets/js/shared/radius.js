// The effect of a repair in words: how many answers change and of which texts, which become right or wrong, which pins.
import {h, table} from './elements.js';
import {number, plural} from './words.js';

const KIND = {fixed: 'good', broken: 'bad', other: ''};
const WHERE = {pool: 'unlabelled', test: 'test', pin: 'pin'};
const SHOWN = 12;

const badge = (words, kind) => h('span', {class: `badge ${kind}`}, words);

export function radiusLine(blast) {
  const {pool, test, fixed, broken, pins_fixed: kept, pins_broken: lost} = blast;
  const none = pool + test + kept.length + lost.length + fixed + broken === 0;
  return h(
    'span',
    {class: 'row tight', 'data-role': 'radius'},
    none ? 'no answer changes' : changing(test, pool),
    fixed > 0 && badge(`${number(fixed)} fixed`, 'good'),
    broken > 0 && badge(`${number(broken)} broken`, 'bad'),
    kept.length > 0 && badge(`${plural(kept.length, 'pin')} fixed`, 'good'),
    lost.length > 0 && badge(`${plural(lost.length, 'pin')} broken`, 'bad'),
  );
}

// "22 answers change: 5 test, 17 unlabelled"; only test texts have a label by which an answer is right or wrong.
function changing(test, pool) {
  const n = test + pool;
  const parts = [test > 0 && `${number(test)} test`, pool > 0 && `${number(pool)} unlabelled`].filter(Boolean);
  const changes = `${plural(n, 'answer')} ${n === 1 ? 'changes' : 'change'}`;
  return parts.length ? `${changes}: ${parts.join(', ')}` : changes;
}

export function turnsOf(blast) {
  const {turns, watched, left_out: leftOut, pins_broken: lost} = blast;
  const [nPool, nTest] = watched;
  const basis = `Checked on ${number(nTest)} test and ${plural(nPool, 'unlabelled text')}.`;
  const judged = rightOf(blast);
  const missing = leftOut > 0 && `${plural(leftOut, 'more text')} were not checked.`;
  return h(
    'div',
    {class: 'turns'},
    lost.length > 0 && h('div', {class: 'note bad'}, `Breaks ${lost.map(text => `“${text}”`).join(', ')}.`),
    turns.length > 0 && changes(turns),
    h('p', {class: 'soft small'}, [basis, judged, missing].filter(Boolean).join(' ')),
  );
}

// The accuracy in the header counts the same texts; those that fit no intent are told apart from them.
function rightOf({in_scope: fitting, outside, watched: [, nTest]}) {
  const scope = fitting.n < nTest ? ' that fit an intent and are no examples' : '';
  const which = `${plural(fitting.n, 'test text')}${scope}`;
  const right = fitting.n > 0 && `Of ${which} ${number(fitting.now)} are right, ${after(fitting)}.`;
  const refused =
    outside.n > 0 && `Of ${number(outside.n)} that fit none ${number(outside.now)} are refused, ${after(outside)}.`;
  return [right, refused].filter(Boolean).join(' ');
}

const after = ({now, then}) => (now === then ? 'before and after' : `and ${number(then)} after it`);

function changes(turns) {
  const rows = turns
    .slice(0, SHOWN)
    .map(one => [
      one.text,
      h('span', {}, h('span', {class: 'soft'}, `${one.before} → `), one.after),
      badge(one.verdict === 'other' ? WHERE[one.place] : one.verdict, KIND[one.verdict]),
    ]);
  const more =
    turns.length > SHOWN && h('p', {class: 'soft small'}, `and ${number(turns.length - SHOWN)} more`);
  return [table(['Text', 'Answer', ''], rows, {class: 'narrow', 'data-role': 'turns'}), more];
}
