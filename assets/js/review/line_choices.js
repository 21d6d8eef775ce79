// Limits that are offered, each with what it gives up and what it gains, beside what the limit in force does.
import {h, table} from '../shared/elements.js';
import {decimal, number, plural} from '../shared/words.js';

const NAMES = ['Lenient', 'Medium', 'Strict']; // by the share of right answers that they give up
const EVEN = 'Both mistakes equally rare';
const BASE = 'What each limit would do. “Right” is counted as at the top of the page.';

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
    outcome: now,
    row: [
      choice('As it is now', {key: 'as now', isChosen: isSame, onclick: () => choose(stands)}),
      ...columns.map(({key, n}) => figure(n, now[key], now[key])),
    ],
  };
  const rows = offered.map(({lost, limit, outcome}, at) => {
    const isNow = asked.method === stands.method && limit === stands.limit;
    const name = lost === null ? EVEN : NAMES[at];
    const key = lost === null ? 'calibrated' : `lose ${Math.round(100 * lost)}`;
    const onclick = () => choose({limit, limits: {}});
    const row = [
      choice(isNow ? `${name} (as it is now)` : name, {key, isChosen: asked.limit === limit, onclick}),
      ...columns.map(({key, n}) => figure(n, outcome[key], now[key])),
    ];
    return {outcome, row};
  });
  // The limit in force stands between the more lenient and the stricter ones: by what each refuses.
  const listed = isOneOf ? rows : [present, ...rows];
  const inOrder = listed.toSorted(
    ({outcome: one}, {outcome: other}) => one.unlabelled - other.unlabelled || other.right - one.right,
  );
  const head = ['Limit', ...columns.map(({words}) => h('th', {class: 'number'}, words))];
  return [
    h('p', {class: 'soft small base'}, BASE),
    table(head, inOrder.map(({row}) => row), {class: 'choices'}),
  ];
}

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
