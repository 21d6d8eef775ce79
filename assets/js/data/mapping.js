// Which column, sheet and set of a file means what.
import {field, h, select} from '../shared/elements.js';

const SPLITS = [
  ['', 'examples if labelled, else unlabelled'],
  ['train', 'examples'],
  ['test', 'test texts'],
  ['pool', 'unlabelled, to be labelled here'],
];
const TABLES = ['csv', 'tsv', 'xlsx', 'parquet'];
const KINDS = [
  ['csv', 'a table with columns'],
  ['text', 'one text a line'],
];

export class Mapping {
  form;
  #preview;
  #chosen;
  #changed;
  #header = null;

  // `chosen` is what the person said before; calls `changed` with what is to be said besides `values`.
  constructor(preview, {chosen, multi, changed}) {
    this.#preview = preview;
    this.#chosen = chosen;
    this.#changed = changed;
    this.form = h(
      'form',
      {class: 'stack', onsubmit: event => event.preventDefault()},
      h(
        'div',
        {class: 'row end'},
        this.#kind(),
        this.#sheets(),
        this.#columns(),
        multi && this.#separators(),
        !preview.split_column && field('Take them as', this.#select('split', SPLITS, chosen.split ?? '')),
      ),
      ['csv', 'tsv', 'xlsx'].includes(preview.format) && this.#headers(),
    );
  }

  get #isTable() {
    return TABLES.includes(this.#preview.format);
  }

  get values() {
    const given = Object.fromEntries(new FormData(this.form));
    const intent = given.intent_column ?? null;
    return {
      split_column: this.#set(given),
      text_column: given.text_column || null,
      intent_column: this.#isTable || intent === '' ? intent : null,
      separator: given.separator || null,
      split: given.split || null,
      header: this.#header ? this.#header.checked : null,
      format: this.#chosen.format ?? 'auto',
      sheet: given.sheet || null,
    };
  }

  // The column of the sets. The server looks for it where the text was unclear, or took the one of before.
  #set({text_column: text, intent_column: intent, split_column: set}) {
    const isOpen = set === undefined || set === text || set === intent || (!set && !this.#preview.text_column);
    return isOpen ? null : set;
  }

  // Another sheet has other columns, so the chosen ones are dropped.
  #reread(values) {
    const dropped = {text_column: null, intent_column: null, split_column: null, header: null, exceptions: []};
    this.#changed({...dropped, ...values});
  }

  #select(name, options, chosen, change = () => this.#changed({})) {
    return select({name, 'data-key': name, onchange: change}, options, chosen);
  }

  #kind() {
    const {format} = this.#preview;
    if (!['csv', 'tsv', 'text'].includes(format)) return null;
    const change = event => this.#reread({format: event.target.value});
    const chosen = format === 'text' ? 'text' : 'csv';
    return field('Read as', this.#select('kind', KINDS, chosen, change));
  }

  #sheets() {
    const {sheets, sheet} = this.#preview;
    if (sheets.length < 2) return null;
    const options = [['', 'the first with rows'], ...sheets.map(name => [name, name])];
    const change = event => this.#reread({sheet: event.target.value || null});
    return field('Sheet', this.#select('sheet', options, sheet, change));
  }

  #columns() {
    const {columns, format, text_column: text, intent_column: intent, split_column: set} = this.#preview;
    if (format === 'text') return null;
    const all = this.#isTable ? columns.map(column => [column, column]) : [['intent', 'the file']];
    const texts = text ? all : [['', 'choose'], ...all];
    const orNone = [['', 'no column'], ...all];
    const mayHaveSet = this.#isTable && columns.length > 1;
    return [
      this.#isTable && field('Text is in', this.#select('text_column', texts, text)),
      field('Intent is in', this.#select('intent_column', orNone, intent)),
      mayHaveSet && field('Train or test is in', this.#select('split_column', orNone, set)),
    ];
  }

  #headers() {
    const reread = () => this.#reread({header: this.#header.checked, ...this.#places()});
    const {header: checked} = this.#preview;
    const box = {type: 'checkbox', name: 'header', 'data-key': 'header', checked, onchange: reread};
    this.#header = h('input', box);
    return h('label', {class: 'row'}, this.#header, 'The first row names the columns');
  }

  // The chosen columns by number: names come and go with the first row. Those not chosen are detected.
  #places() {
    const {columns} = this.#preview;
    const place = name => (columns.includes(name) ? String(columns.indexOf(name) + 1) : null);
    const {text_column: text, intent_column: intent, split_column: set} = this.values;
    return {text_column: place(text), intent_column: place(intent), split_column: place(set)};
  }

  #separators() {
    const value = this.#chosen.separator ?? '|';
    const change = () => this.#changed({});
    const box = {type: 'text', name: 'separator', 'data-key': 'separator', value, size: 3, onchange: change};
    return field('Sign between two intents', h('input', box));
  }
}
