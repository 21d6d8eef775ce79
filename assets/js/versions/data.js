// Snapshots of the data, which the server calls dataset versions, and the difference of two of them.
import {inStudio, query} from '../shared/address.js';
import {h, select, since, table} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {number} from '../shared/words.js';

const HEAD = ['Snapshot', 'Texts', 'Changes', 'Saved', ''];
const NAMED = /^before training \S+$/; // older versions name the recipe, which is no word of the pages
const MOST_SHOWN = 500; // changed utterances

// `compare` takes an older and a newer number; 0 means the empty project, or the current data.
export function dataView(base, versions, compare) {
  const newestFirst = versions.toReversed();
  const [older, newer] = choices(versions, newestFirst);
  const show = guarded(() => compare(Number(older.value), Number(newer.value)));
  const rows = newestFirst.map(one => [
    h('b', {}, number(one.number)),
    h('td', {class: 'tabular'}, number(one.n_rows)),
    [
      changesOf(one, versions[0]),
      h('div', {class: 'soft small'}, `saved ${one.message.replace(NAMED, 'before a training')}`),
    ],
    h('td', {class: 'soft', title: `SHA-256 ${one.sha256}`}, since(one.created_at)),
    download(base, one),
  ]);
  return [
    h('summary', {'data-key': 'data versions'}, 'Data snapshots: what each training learned from'),
    h('div', {class: 'row around'}, older, ' to ', newer, h('button', {onclick: show}, 'What changed')),
    rows.length
      ? table(HEAD, rows, {class: 'stacked'})
      : h('p', {class: 'soft'}, 'The first training keeps the first one.'),
  ];
}

const changesOf = (one, first) => (one === first ? 'none: it is the first' : one.changes || 'none');

function choices(versions, newestFirst) {
  const option = one => [one.number, `data snapshot ${one.number}`];
  const since = Number(query().get('older') ?? versions.at(-1)?.number);
  const until = Number(query().get('newer') ?? 0);
  return [
    select({'aria-label': 'Older data snapshot'}, [[0, 'the beginning'], ...versions.map(option)], since),
    select({'aria-label': 'Newer data snapshot'}, [...newestFirst.map(option), [0, 'now']], until),
  ];
}

function download(base, {number: version}) {
  const href = inStudio(`/api${base}/export?kind=csv&version=${version}`);
  return h('a', {class: 'button', href, download: true}, 'Download CSV');
}

// `nothing` is the word for no intent.
export function differenceView(older, newer, {words, intents, utterances}, nothing) {
  const said = value => valueWords(value, nothing);
  const shown = utterances.slice(0, MOST_SHOWN);
  const more = utterances.length - shown.length;
  const from = older ? `data snapshot ${older}` : 'the beginning';
  const to = newer ? `data snapshot ${newer}` : 'now';
  return [
    h('h2', {}, `From ${from} to ${to}`),
    h('p', {'data-role': 'diff-words'}, words.join(', ')),
    intents.length > 0 &&
      table(
        ['Intent', '', 'Before', 'After'],
        intents.map(change => [change.name, change.kind, said(change.before), said(change.after)]),
      ),
    shown.length > 0 &&
      table(
        ['What', 'Text', 'Before', 'After'],
        shown.map(change => [change.kind, change.text, said(change.before), said(change.after)]),
      ),
    more > 0 && h('p', {class: 'soft'}, `and ${number(more)} more rows`),
  ];
}

function valueWords(value, nothing) {
  if (value === null) return '–';
  return Array.isArray(value) ? value.join(', ') || nothing : String(value);
}
