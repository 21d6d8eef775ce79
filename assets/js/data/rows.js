// The utterances that match the filter, page by page, and the picked ones.
import {fill, h} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {slotChips} from '../shared/marker.js';
import {guarded, once} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {SecondClick} from '../shared/second_click.js';
import {failed} from '../shared/skeleton.js';
import {number, plural} from '../shared/words.js';
import {Answers} from './answers.js';
import {LabelCell} from './labelling.js';

const USED_IN = {train: 'example', test: 'test', pool: 'in no set'};
const JOINS = 'It becomes an example when it gets a label';
const SIZE = 50; // rows of a page

export class Rows {
  total = h('span', {class: 'soft small tabular', role: 'status', 'data-role': 'total'});
  pager = h('div', {class: 'row below'});
  #rows = [];
  #count = 0;
  editing = false; // a label is being chosen
  #picked = new Set();
  #pickedAll = false; // all that match the filter, including other pages
  #late = false; // an answer came while a label was being chosen
  #isOther = true; // the filter is another than that of the rows in view, or there are none yet
  #page = 0; // of the rows in view
  #asked = 0; // number of the newest request; older answers are dropped
  #newest = Promise.resolve(); // the newest load
  #context;
  #base;
  #filter;
  #intents;
  #hears;
  #answers;
  #body = h('tbody');
  #pickPage;
  #last = null; // id of the row whose box was ticked last: a click with Shift ticks all up to another one
  #second = new SecondClick(); // once a row is deleted, the next one's button stands where its button stood

  // Callbacks in `hears`: `edit`, `values`, `remove` and `decide` with a row, `picked` on a change of the selection,
  // `left` when no label is being chosen any more.
  constructor({context, filter, intents, hears}) {
    this.#context = context;
    this.#base = context.base;
    this.#filter = filter;
    this.#intents = intents;
    this.#hears = hears;
    this.#answers = new Answers(context, intents);
    this.#pickPage = h('input', {
      type: 'checkbox',
      'aria-label': 'Pick all of this page',
      onchange: event => this.#pickRows(event.target.checked ? this.#rows : []),
    });
    const head = [this.#pickPage, 'Text', 'Label', 'Answer', 'Set', ''].map(name => h('th', {}, name));
    this.table = h(
      'table',
      {class: 'wraps', 'data-role': 'utterances'},
      h('thead', {}, h('tr', {}, head)),
      this.#body,
    );
  }

  get picked() {
    return this.#pickedAll ? this.#count : this.#picked.size;
  }

  get mayPickMore() {
    return !this.#pickedAll && this.#count > this.#picked.size;
  }

  get count() {
    return this.#count;
  }

  // The filter that selects the picked utterances on the server.
  get pickedFilter() {
    return this.#pickedAll ? this.#filter.asked : {ids: [...this.#picked]};
  }

  // Null if texts of other pages are picked, too.
  get pickedTexts() {
    return this.#pickedAll ? null : this.#rows.filter(({id}) => this.#picked.has(id)).map(({text}) => text);
  }

  pickAll() {
    this.#pickedAll = true;
    this.#draw();
  }

  unpick() {
    this.#picked.clear();
    this.#pickedAll = false;
  }

  // Those of another filter.
  async loadOthers() {
    this.unpick();
    this.#isOther = true;
    await this.load();
  }

  // The row of a text as it was last loaded, or undefined.
  find(id) {
    return this.#rows.find(row => row.id === id);
  }

  // Ends when the newest rows are there, which a later load may have asked for.
  load() {
    this.#newest = this.#loadNow();
    return this.#newest;
  }

  async #loadNow() {
    const asked = (this.#asked += 1);
    this.#late = false;
    try {
      const found = await call(`${this.#base}/utterances?${this.#filter.parameters(SIZE)}`);
      await this.#intents.loaded; // else labels that are new would be shown by their ids
      if (asked !== this.#asked) {
        await this.#newest;
        return;
      }
      if (this.editing) {
        this.#late = true; // drawing now would close the finder under the person's hands
        return;
      }
      this.#rows = found.rows.map(row => ({...row, seen: found.revision}));
      this.#count = found.total;
      const beyond = this.#filter.page - this.#pages + 1; // the rows of the last page may be gone
      if (beyond > 0) {
        this.#filter.turn(-beyond);
        await this.load();
        return;
      }
      this.#isOther = false;
      this.#page = this.#filter.page;
      const seen = found.rows.filter(({id}) => this.#picked.has(id)); // no act reaches a text that went out of sight
      this.#picked = new Set(seen.map(({id}) => id));
      this.#draw();
      const isAnswered = this.#context.status.champion !== null;
      this.table.classList.toggle('unanswered', !isAnswered);
      if (isAnswered) this.#answers.ask(this.#rows, this.#body);
    } catch (error) {
      if (asked === this.#asked) this.#fail(error);
    }
  }

  // Rows of the same filter stay, and the next press goes on from them.
  #fail(error) {
    fill(this.total);
    if (!this.#isOther) {
      const again = h('button', {class: 'plain', 'data-key': 'again', onclick: () => this.load()}, 'Try again');
      fill(this.total, `${error.message} ${error.hint ?? ''} `, again);
      this.#filter.turn(this.#page - this.#filter.page);
      return;
    }
    this.#rows = [];
    this.#count = 0;
    fill(this.#body, this.#across(failed(error, () => this.load())));
    fill(this.pager);
    this.#hears.picked();
  }

  #pickRows(rows) {
    this.#pickedAll = false;
    this.#picked = new Set(rows.map(row => row.id));
    this.#draw();
  }

  #isPicked({id}) {
    return this.#pickedAll || this.#picked.has(id);
  }

  #pick(row, {target: {checked: is}, shiftKey: isRange}) {
    if (this.#pickedAll) this.#picked = new Set(this.#rows.map(({id}) => id));
    this.#pickedAll = false;
    const place = id => this.#rows.findIndex(one => one.id === id);
    const [from, to] = [place(row.id), place(this.#last)].toSorted((one, other) => one - other);
    const touched = isRange && from >= 0 ? this.#rows.slice(from, to + 1) : [row];
    for (const {id} of touched) this.#picked[is ? 'add' : 'delete'](id);
    this.#last = row.id;
    if (touched.length > 1) this.#draw();
    else this.#hears.picked();
  }

  #draw() {
    const rows = this.#rows;
    const pages = this.#pages;
    const where = pages > 1 ? `, page ${number(this.#filter.page + 1)} of ${number(pages)}` : '';
    this.total.textContent = plural(this.#count, 'text') + where;
    this.#pickPage.checked = rows.length > 0 && rows.every(row => this.#isPicked(row));
    fill(this.#body, rows.length ? rows.map(row => this.#row(row)) : this.#across(this.#nothing()));
    fill(this.pager, pages > 1 && this.#turns(pages));
    this.#hears.picked();
  }

  // In place of rows.
  #across(content) {
    return h('tr', {}, h('td', {colspan: 6}, content));
  }

  #row(row) {
    const pick = h('input', {
      type: 'checkbox',
      'aria-label': `Pick “${row.text.slice(0, 60)}”`,
      'data-key': `pick ${row.id}`,
      checked: this.#isPicked(row),
      onclick: event => this.#pick(row, event), // a change does not tell of Shift; a key clicks, too
    });
    const text = h(
      'button',
      {
        class: 'editable',
        title: 'Edit the text',
        'data-key': `edit ${row.id}`,
        onclick: guarded(() => this.#hears.edit(row)),
      },
      h('bdi', {}, row.text), // else the question mark of a right-to-left text stands at its beginning
    );
    return h(
      'tr',
      {'data-id': row.id},
      h('td', {}, pick),
      h(
        'td',
        {class: 'text-cell'},
        text,
        row.synthetic &&
          h('span', {class: 'badge', title: 'Made from one of your texts; it never checks a model'}, 'generated'),
        row.flagged && h('span', {class: 'badge warn'}, row.flagged),
        row.slots.length > 0 && h('div', {class: 'row tight'}, slotChips(row.text, row.slots)),
      ),
      this.#label(row),
      this.#answers.cell(row),
      h('td', {class: 'soft small split', title: row.split === 'pool' && JOINS}, USED_IN[row.split]),
      h('td', {class: 'acts'}, this.#values(row), this.#removal(row)),
    );
  }

  #label(row) {
    const hears = open => {
      this.editing = open;
      if (!open && this.#late) this.load();
      if (!open) this.#hears.left();
    };
    const decide = (...decision) => this.#hears.decide(...decision);
    return new LabelCell(row, this.#intents, {decide, hears}).element;
  }

  #values(row) {
    return h(
      'button',
      {
        class: 'plain',
        'aria-label': 'Mark values of this text',
        'data-key': `values ${row.id}`,
        title: 'Mark values: names, dates, places',
        onclick: guarded(() => this.#hears.values(row)),
      },
      icon('highlighter'),
      h('span', {}, 'Values'),
    );
  }

  #removal(row) {
    return h(
      'button',
      {
        class: 'plain',
        'aria-label': 'Delete this text',
        'data-key': `delete ${row.id}`,
        title: 'Delete',
        onclick: once(event => !this.#second.is(event) && this.#hears.remove(row)),
      },
      icon('trash-2'),
    );
  }

  #nothing() {
    const clear = h('button', {onclick: () => this.#filter.clear()}, 'Clear the filter');
    return h('div', {class: 'empty'}, 'Nothing fits this filter. ', clear);
  }

  #turns(pages) {
    const {page} = this.#filter;
    const turn = (words, by, disabled) =>
      h('button', {disabled, 'data-key': words, onclick: () => this.#turn(by)}, words);
    return [turn('Previous', -1, page === 0), turn('Next', 1, page + 1 >= pages)];
  }

  get #pages() {
    return Math.max(1, Math.ceil(this.#count / SIZE));
  }

  // A second press before the rows are there goes on, and not beyond the last page.
  #turn(by) {
    const to = Math.min(Math.max(0, this.#filter.page + by), this.#pages - 1);
    this.#filter.turn(to - this.#filter.page);
    this.load();
    this.table.scrollIntoView({block: 'start'});
  }
}
