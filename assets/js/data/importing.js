// Import: drop a file, preview how it is read and what it adds, then import all of it or nothing.
import {field, fill, h, select, table} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call, post, upload} from '../shared/rest.js';
import {number, plural} from '../shared/words.js';

const SHOWN = 5; // rows and examples
const NAMED = 8; // new intents
const SPLITS = [
  ['', 'train if labelled, else pool'],
  ['train', 'train'],
  ['test', 'test'],
  ['pool', 'pool'],
];

export class ImportSheet {
  #uploads;
  #multi;
  #imported;
  #place = h('div');
  #picker;
  #drop;

  // Calls `imported` after the utterances have changed.
  constructor(context, imported) {
    this.#uploads = `${context.base}/uploads`;
    this.#multi = context.status.task === 'multi-label';
    this.#imported = imported;
    this.#picker = h('input', {
      type: 'file',
      class: 'hidden-text',
      'aria-label': 'File to import',
      accept: '.csv,.tsv,.txt,.jsonl,.ndjson,.json,.yml,.yaml,.md',
      onchange: event => this.#send(event.target.files[0]),
    });
    this.#drop = this.#makeDrop();
    const title = h('h2', {}, 'Import');
    this.element = h('section', {class: 'sheet', 'aria-label': 'Import'}, title, this.#drop, this.#place);
  }

  #makeDrop() {
    const over = is => event => {
      event.preventDefault();
      this.#drop.classList.toggle('over', is);
    };
    return h(
      'div',
      {
        class: 'drop',
        ondragenter: over(true),
        ondragover: over(true),
        ondragleave: over(false),
        ondrop: event => {
          over(false)(event);
          this.#send(event.dataTransfer.files[0]);
        },
      },
      h('p', {}, 'Drop a CSV, TSV, JSONL, Rasa or text file here'),
      h('button', {type: 'button', onclick: () => this.#picker.click()}, 'Choose a file'),
      this.#picker,
    );
  }

  #send = guarded(async file => {
    if (!file) return;
    this.#drop.setAttribute('aria-busy', 'true');
    try {
      this.#show(await upload(this.#uploads, file));
    } finally {
      this.#drop.removeAttribute('aria-busy');
      this.#picker.value = '';
    }
  });

  // `chosen` is the user's mapping of columns; without it the server guesses.
  #show(incoming, chosen = {}) {
    const {preview, report} = incoming;
    const again = guarded(async mapping => {
      this.#show(await post(`${this.#uploads}/${incoming.key}/look`, mapping), mapping);
    });
    const mapping = new Mapping(preview, {chosen, multi: this.#multi, changed: again});
    const rows = preview.rows.slice(0, SHOWN);
    fill(
      this.#place,
      h(
        'div',
        {class: 'stack', 'data-role': 'preview', style: {'margin-top': '12px'}},
        h('h3', {}, incoming.name),
        table(preview.columns, rows),
        mapping.form,
        incoming.problem ? problemOf(incoming) : outlook(report),
        this.#buttons(incoming, mapping),
      ),
    );
  }

  #buttons({key, report}, mapping) {
    const nothing = report && !report.added && !report.labelled;
    const take = guarded(async () => {
      const done = await post(`${this.#uploads}/${key}/import`, mapping.values);
      const note = {class: 'note good', style: {'margin-top': '12px'}, role: 'status'};
      fill(this.#place, h('div', note, summary(done)));
      await this.#imported();
    });
    const cancel = guarded(async () => {
      fill(this.#place);
      await call(`${this.#uploads}/${key}`, {method: 'DELETE'});
    });
    const words = nothing ? 'Nothing new to import' : 'Import';
    return h(
      'div',
      {class: 'row'},
      h('button', {class: 'primary', disabled: !report || nothing, onclick: take}, words),
      h('button', {onclick: cancel}, 'Cancel'),
    );
  }
}

// Which column means what.
class Mapping {
  #named; // columns have names, and may be chosen
  #header;
  #changed;

  constructor(preview, {chosen, multi, changed}) {
    this.#changed = changed;
    this.#named = preview.format !== 'text' && preview.format !== 'jsonl';
    this.#header = this.#makeHeader(preview);
    const split = this.#select('split', SPLITS, chosen.split ?? '');
    this.form = h(
      'form',
      {class: 'stack', onsubmit: event => event.preventDefault()},
      this.#named && this.#columns(preview, chosen, multi),
      this.#named && h('label', {class: 'row'}, this.#header, 'The first row names the columns'),
      field('Rows without a split go to', split),
    );
  }

  get values() {
    const given = Object.fromEntries(new FormData(this.form));
    return {
      text_column: given.text_column || null,
      intent_column: given.intent_column || null,
      separator: given.separator || null,
      split: given.split || null,
      header: this.#named ? this.#header.checked : null,
    };
  }

  // Reading the first row differently renames the columns, so the chosen ones are dropped.
  #makeHeader(preview) {
    const reread = () => this.#changed({split: this.values.split, header: this.#header.checked});
    return h('input', {
      type: 'checkbox',
      name: 'header',
      'data-key': 'header',
      checked: preview.header,
      onchange: reread,
    });
  }

  #select(name, options, chosen) {
    const change = () => this.#changed(this.values);
    return select({name, 'data-key': name, onchange: change}, options, chosen);
  }

  #columns({columns, text_column: text, intent_column: intent}, chosen, multi) {
    const all = columns.map(column => [column, column]);
    const texts = text ? all : [['', 'choose'], ...all];
    const intents = [['', 'no column'], ...all];
    return h(
      'div',
      {class: 'row'},
      field('Text is in', this.#select('text_column', texts, chosen.text_column ?? text)),
      field('Intent is in', this.#select('intent_column', intents, chosen.intent_column ?? intent)),
      multi && field('Intents parted by', this.#separator(chosen.separator ?? '|')),
    );
  }

  #separator(value) {
    const change = () => this.#changed(this.values);
    return h('input', {
      type: 'text',
      name: 'separator',
      'data-key': 'separator',
      value,
      size: 3,
      onchange: change,
    });
  }
}

const problemOf = ({problem, hint}) =>
  h('div', {class: 'note bad'}, problem, h('div', {class: 'small'}, hint));

function outlook(report) {
  const examples = report.examples.slice(0, SHOWN).map(example => h('li', {}, example));
  const style = {'padding-left': '18px', margin: '6px 0 0'};
  const list = examples.length > 0 && h('ul', {class: 'small', style}, examples);
  const convention =
    report.convention && h('div', {class: 'small soft', 'data-role': 'convention'}, report.convention);
  return h('div', {class: 'note'}, summary(report, 'would be '), list, convention);
}

function summary(report, be = '') {
  const said = [
    [report.added, `${be}added`],
    [report.labelled, `${be}labelled`],
    [report.convention && report.without, 'of these with no intent'],
    [report.already_there, 'there already'],
    [report.conflicting, 'with another label; yours is kept'],
    [report.empty, 'without text, left out'],
    [report.too_long, 'too long, left out'],
  ]
    .filter(([n]) => n)
    .map(([n, words]) => `${number(n)} ${words}`);
  return `${said.join(', ') || 'Nothing new in this file'}${newIntents(report.new_intents)}.`;
}

function newIntents(names) {
  if (!names.length) return '';
  const more = names.length > NAMED ? ' …' : '';
  return `; ${plural(names.length, 'new intent')}: ${names.slice(0, NAMED).join(', ')}${more}`;
}
