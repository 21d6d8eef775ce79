// Parts of what people said: the share of an intent by week and by source, and the texts as a file.
import {inStudio} from '../shared/address.js';
import {fill, h, table} from '../shared/elements.js';
import {number, percent, plural, points} from '../shared/words.js';
import {weekOf} from './answered_chart.js';

export const figure = words => h('td', {class: 'number'}, words);
export const above = words => h('th', {class: 'number'}, words);
export const within = ({share, low, high}) => [
  percent(share),
  h('span', {class: 'soft small unbroken'}, ` (${points(low)} to ${points(high)})`),
];

// Why no text of some days is counted; `sent` is about how many came.
export const noneOf = (sent, days) =>
  sent ? `None of the about ${plural(sent, 'text')} of ${days} is in the sample` : `Nothing was sent for ${days}`;

// A link that downloads all texts of a period, each as often as it was said.
export function textsFile(base, {after, before}) {
  const href = inStudio(`/api${base}/traffic/export?after=${after}&before=${before}`);
  const title =
    'A table with times and sources that can be imported again as a log. ' +
    'Of a day with very many texts it has a fair sample.';
  return h('a', {class: 'small', href, download: true, title, 'data-key': 'texts-file'}, 'Download these texts (CSV)');
}

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
