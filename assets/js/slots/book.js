// The slot book: each slot with its values, and how reliable each value is.
import {field, fill, h, table} from '../shared/elements.js';
import {hueOf} from '../shared/marker.js';
import {ask, guarded, toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {call, post} from '../shared/rest.js';
import {undoing} from '../shared/undoing.js';
import {number, percent, plural} from '../shared/words.js';

const PAUSE = 150;
const ALL = 0.995; // a share of marked places that rounds to all of them
const SHOWN = 200; // values of a slot
const LISTED = 'Values that an import listed move to the new name, too.';

export class BookSheet {
  #base;
  #changed;
  #slots = [];
  #list = h('div', {class: 'intents', role: 'group', 'aria-label': 'Slots'});
  #values = h('div');
  #chosen = '';
  #timer = 0;
  #asked = 0; // number of the newest request; older answers are dropped
  #search = h('input', {
    type: 'search',
    'aria-label': 'Find values',
    placeholder: 'Find values',
    maxlength: 200,
    oninput: () => this.#loadSoon(),
  });

  constructor(base, changed) {
    this.#base = base;
    this.#changed = changed;
    this.element = h(
      'section',
      {class: 'sheet book', 'aria-label': 'Slot book'},
      h('div', {class: 'stack'}, h('h2', {}, 'Slots'), this.#search, this.#list),
      this.#values,
    );
  }

  // Requests the book for the search text, draws it, and returns it.
  async load() {
    const asked = (this.#asked += 1);
    const wanted = new URLSearchParams({text: this.#search.value.trim(), most: SHOWN});
    const book = await call(`${this.#base}/slots?${wanted}`);
    if (asked === this.#asked) this.#draw(book);
    return book;
  }

  #loadSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      guarded(() => this.load()),
      PAUSE,
    );
  }

  #draw({slots}) {
    this.#slots = [...slots].sort((a, b) => b.count - a.count);
    if (!this.#slots.some(slot => slot.name === this.#chosen)) this.#chosen = this.#slots[0]?.name ?? '';
    const names = this.#slots.map(slot => slot.name);
    fill(
      this.#list,
      this.#slots.map(slot => this.#entry(slot, hueOf(slot.name, names))),
    );
    this.#drawValues();
  }

  #entry({name, count, n_found: found}, hue) {
    const choose = () => {
      this.#chosen = name;
      this.#draw({slots: this.#slots});
    };
    return h(
      'button',
      {'data-key': name, 'aria-pressed': String(name === this.#chosen), onclick: choose},
      h('span', {class: 'slot-chip', style: {'--hue': hue}}, name),
      h('span', {class: 'count tabular'}, this.#search.value.trim() ? plural(found, 'value') : number(count)),
    );
  }

  #drawValues() {
    const slot = this.#slots.find(one => one.name === this.#chosen);
    if (!slot) {
      fill(this.#values);
      return;
    }
    const {name, count, values, n_values: all, n_found: found} = slot;
    const more = `and ${plural(found - values.length, 'rarer one')}`;
    const rest = found > values.length && h('p', {class: 'soft small'}, more);
    const renaming = {class: 'small push', 'data-key': 'rename', onclick: guarded(() => this.#rename(slot))};
    const rename = count > 0 && h('button', renaming, 'Rename');
    fill(
      this.#values,
      h('div', {class: 'row'}, h('h2', {}, `${name}: ${plural(all, 'value')}`), rename),
      h(
        'div',
        {class: 'values', tabindex: 0, role: 'region', 'aria-label': `Values of ${name}`},
        valueTable(values),
      ),
      rest,
    );
  }

  async #rename({name, values}) {
    const others = this.#slots.map(slot => h('option', {value: slot.name}));
    const typed = {type: 'text', name: 'to', value: name, required: true, maxlength: 60, list: 'slots-known'};
    const input = h('input', typed);
    const words =
      'The name of another slot merges the two. Every text with this slot changes; Undo brings it back.';
    const content = [
      field('Name', input),
      h('datalist', {id: 'slots-known'}, others),
      h('p', {class: 'soft small'}, words),
      values.some(value => !value.count) && h('p', {class: 'soft small'}, LISTED),
    ];
    const given = await ask(`Rename the slot ${name}`, content, 'Rename');
    if (!given || given.to.trim() === name) return;
    const key = newKey();
    await post(`${this.#base}/slots/rename`, {name, to: given.to.trim(), key});
    this.#chosen = given.to.trim();
    toast(`${name} is called ${this.#chosen} now.`, '', 'good', undoing(this.#base, key, this.#changed));
    await this.#changed();
  }
}

const valueTable = values =>
  table(
    ['Value', h('th', {class: 'number'}, 'Marked')],
    values.map(value => [valueCell(value), markedCell(value)]),
  );

const valueCell = ({value, synonyms}) =>
  h('td', {dir: 'auto'}, value, synonyms.length > 0 && h('div', {class: 'soft small'}, `also ${synonyms.join(', ')}`));

// A share is told only where some places are left. It is counted in texts with marks alone, so 100 % would not mean
// that nothing is left.
const markedCell = ({count, share, noisy}) =>
  h(
    'td',
    {class: 'number'},
    count ? plural(count, 'time') : 'from a list',
    share < ALL && [
      ', ',
      h('span', {title: 'Of where these words stand in texts with marks'}, percent(share, 0), ' of its places'),
    ],
    noisy && [
      ' ',
      h('span', {class: 'badge warn', title: 'These words are often something else'}, 'often not'),
    ],
  );
