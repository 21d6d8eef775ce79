// The share of one intent by week and by source, folded until somebody asks.
import {fill, h, table} from '../shared/elements.js';
import {number, percent, points} from '../shared/words.js';
import {weekOf} from './answered_chart.js';

export const figure = words => h('td', {class: 'number'}, words);
export const above = words => h('th', {class: 'number'}, words);
export const within = ({share, low, high}) => [
  percent(share),
  h('span', {class: 'soft small unbroken'}, ` (${points(low)} to ${points(high)})`),
];

// The row below that of an intent, or null where a week or a source is all there is. `columns` is how many the table
// has. An intent that nobody asked for in the period has no parts.
export function partsRow({id, weeks = [], sources = []}, columns) {
  const kinds = [
    weeks.length > 1 && ['week', 'Week from', [...weeks].reverse().map(inWeek)],
    sources.length > 1 && ['source', 'Source', sources],
  ].filter(Boolean);
  if (!kinds.length) return null;
  const inside = h('div', {'data-role': 'parts'});
  const unfold = ({target}) => {
    if (!target.open || inside.firstChild) return;
    fill(
      inside,
      kinds.map(([, name, parts]) => partsTable(name, parts)),
    );
  };
  const words = `By ${kinds.map(([kind]) => kind).join(' and by ')}`;
  const key = {'data-key': `parts ${id}`, ontoggle: unfold};
  const folded = h('details', key, h('summary', {class: 'soft small'}, words), inside);
  return [h('td', {colspan: columns}, folded)];
}

const inWeek = one => ({...one, name: weekOf(Date.parse(one.name))});

function partsTable(name, parts) {
  const head = [name, above('Texts'), above('Share (likely between)')];
  const rows = parts.map(one => [
    one.name,
    figure(`${number(one.count)} of ${number(one.n)}`),
    figure(within(one)),
  ]);
  return table(head, rows);
}
