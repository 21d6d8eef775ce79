// Limits that are offered, each with what it gives up and what it gains, beside what the limit in force does.
import {h, table} from '../shared/elements.js';
import {decimal, number, plural} from '../shared/words.js';
import {METHODS} from './moved_line.js';

// By how many limits lie between it and the one in force, on either side.
const LENIENT = ['More lenient', 'Much more lenient', 'Most lenient'];
const STRICT = ['Stricter', 'Much stricter', 'Strictest'];
const NOW = 'As it is now';
const EVEN = 'Balanced';
const ABOUT_EVEN = ' “Balanced”: of 100 texts each, as many are refused wrongly as are let in wrongly.';

// `choose` takes the change of the fence that a press means; a limit that weighs both mistakes needs `fewest` texts
// labelled out of scope, or nobody has counted one of the two.
export function choicesView(found, {fewest, choose}) {
  const {wished, judged, asked, stands, in_force: now} = found;
  const offered = wished.filter(({lost}) => lost !== null || judged[1] >= fewest);
  if (!offered.length) return null;
  const isSame = JSON.stringify(asked) === JSON.stringify(stands);
  const isOneOf = asked.method === stands.method && offered.some(({limit}) => limit === stands.limit);
  const columns = columnsOf(found);
  const present = {
    key: 'as now',
    outcome: now,
    isNow: true,
    isChosen: isSame,
    limit: stands.limit ?? found.own,
    method: stands.method,
    onclick: () => choose(stands),
  };
  const others = offered.map(({lost, limit, outcome}) => ({
    key: lost === null ? 'calibrated' : `lose ${Math.round(100 * lost)}`,
    name: lost === null ? EVEN : '',
    outcome,
    isNow: asked.method === stands.method && limit === stands.limit,
    isChosen: asked.limit === limit,
    limit,
    method: asked.method,
    onclick: () => choose({limit, limits: {}}),
  }));
  // The limit in force stands between the more lenient and the stricter ones: by what each refuses.
  const listed = (isOneOf ? others : [present, ...others]).toSorted(
    ({outcome: one}, {outcome: other}) => one.unlabelled - other.unlabelled || other.right - one.right,
  );
  const names = namesOf(listed);
  const rows = listed.map((one, at) => [
    [choice(names[at], one), scoreOf(one)],
    ...columns.map(({key, n}) => figure(n, one.outcome[key], now[key])),
  ]);
  const head = ['Limit', ...columns.map(({words}) => h('th', {class: 'number'}, words))];
  const base = `Texts below the ${METHODS[asked.method].name} of a limit are refused.`;
  return [
    h('p', {class: 'soft small base'}, base, offered.some(({lost}) => lost === null) && ABOUT_EVEN),
    table(head, rows, {class: 'choices'}),
  ];
}

// Each by where it stands beside the one in force, so that their order is plain.
function namesOf(listed) {
  const at = listed.findIndex(({isNow}) => isNow);
  const isUnnamed = ({name}) => !name;
  const [lenient, strict] = [listed.slice(0, at).toReversed(), listed.slice(at + 1)];
  const sides = [
    [lenient.filter(isUnnamed), LENIENT],
    [strict.filter(isUnnamed), STRICT],
  ];
  const beside = new Map(sides.flatMap(([some, words]) => some.map((one, n) => [one, words[n]])));
  return listed.map(one => {
    if (one.isNow) return one.name ? `${one.name} (as it is now)` : NOW;
    return one.name || beside.get(one);
  });
}

// The limit itself; another measure has another unit.
const scoreOf = ({method, limit}) =>
  h('div', {class: 'soft small tabular'}, `${METHODS[method].name} ${METHODS[method].say(limit)}`);

// What is counted. What a lenient line costs is a column even where no text tells it.
function columnsOf({judged: [nTests, nOutside], total}) {
  const nUnlabelled = total - nTests - nOutside;
  return [
    nTests && {key: 'right', n: nTests, words: `Right, of ${plural(nTests, 'test text')}`},
    {key: 'outside', n: nOutside, words: `Refused, of ${nOutside ? number(nOutside) : 'texts'} labelled out of scope`},
    nUnlabelled && {key: 'unlabelled', n: nUnlabelled, words: `Refused, of ${number(nUnlabelled)} unlabelled`},
  ].filter(Boolean);
}

const choice = (words, {key, isChosen, onclick}) =>
  h('button', {class: 'small', 'data-key': key, 'aria-pressed': String(isChosen), onclick}, words);

const figure = (n, then, now) =>
  h(
    'td',
    {class: 'number'},
    n ? number(then) : h('span', {class: 'soft'}, 'not known'),
    then !== now && h('div', {class: 'soft small'}, `${then > now ? '+' : ''}${decimal(then - now, 0)}`),
  );
