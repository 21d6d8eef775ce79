// Values that could be marked automatically: every text is listed, and can be refused, before it is marked.
import {fill, h} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {slotChips} from '../shared/marker.js';
import {guarded, toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {post} from '../shared/rest.js';
import {undoing} from '../shared/undoing.js';
import {number, plural} from '../shared/words.js';

const AT_ONCE = 500; // texts of one list; only those of the list are marked
const KNOWN =
  'Known are values that are marked elsewhere or came with an import, and dates, times and amounts, which the studio ' +
  'knows by their form.';

export class ProposalsSheet {
  count = 0; // values in the list
  #base;
  #changed;
  #counted;
  #asked = 0;
  #refused = new Set(); // names of the values that the user refused; they stay refused when the list is drawn anew
  #noisy = h('input', {type: 'checkbox', onchange: guarded(() => this.load())});
  #title = h('h2');
  #place = h('div');

  // Calls `changed` after values were marked, and `counted` when `count` is known anew.
  constructor(base, {changed, counted}) {
    this.#base = base;
    this.#changed = changed;
    this.#counted = counted;
    this.element = h(
      'section',
      {class: 'sheet', 'aria-label': 'Proposals'},
      this.#title,
      this.#place,
      h('label', {class: 'check'}, this.#noisy, 'Also words that are often something else (“may” in “may I”)'),
    );
  }

  // Whether doubtful words are proposed, too.
  get isWide() {
    return this.#noisy.checked;
  }

  async load() {
    const asked = (this.#asked += 1);
    const noisy = this.#noisy.checked;
    const body = {utterances: null, noisy, preview: true, shown: AT_ONCE};
    const found = await post(`${this.#base}/slots/accept`, body);
    if (asked === this.#asked) this.#draw(found, noisy);
  }

  #draw(found, noisy) {
    const {proposals: n, utterances: many, examples} = found;
    this.count = n;
    this.#counted();
    this.#title.textContent = n
      ? `${plural(n, 'known value')} ${n === 1 ? 'is' : 'are'} not marked yet`
      : 'All known values are marked';
    if (!n) {
      fill(this.#place);
      return;
    }
    const accept = busyButton('', () => this.#accept(found, noisy), {class: 'primary', 'data-key': 'accept'});
    const count = () => {
      const kept = this.#kept(found);
      const values = kept.reduce((sum, one) => sum + one.slots.length, 0);
      accept.disabled = !values;
      const marks = `Mark ${plural(values, 'value')} in ${plural(kept.length, 'text')}`;
      accept.textContent = values ? marks : 'Tick a value first';
    };
    const of = `${KNOWN} They stand in ${plural(many, 'text')} without a mark`;
    const all = many > examples.length ? `, the first ${number(examples.length)} of them here` : '';
    fill(
      this.#place,
      h('p', {}, `${of}${all}. Untick what is wrong, then mark the rest.`),
      h(
        'ul',
        {class: 'last told some', 'data-role': 'proposed', tabindex: 0, 'aria-label': 'Proposed values'},
        examples.map(one => this.#line(one, count)),
      ),
      h('div', {class: 'row tight'}, accept, this.#tickAll(found, noisy)),
    );
    count();
  }

  // Unticks all, or where all are unticked, ticks them.
  #tickAll(found, noisy) {
    const turn = () => {
      const unticks = this.#kept(found).length > 0;
      for (const one of found.examples) this.#refuse(one, one.slots, unticks);
      this.#draw(found, noisy);
    };
    const words = this.#kept(found).length > 0 ? 'Untick all' : 'Tick all';
    return h('button', {class: 'plain', 'data-key': 'all', onclick: turn}, words);
  }

  // The texts with a value that is not refused, and these values.
  #kept({examples}) {
    return examples
      .map(one => ({...one, slots: one.slots.filter(slot => !this.#isRefused(one, slot))}))
      .filter(one => one.slots.length > 0);
  }

  #isRefused(text, slot) {
    return this.#refused.has(nameOf(text, slot));
  }

  #refuse(text, slots, isRefused) {
    for (const slot of slots) this.#refused[isRefused ? 'add' : 'delete'](nameOf(text, slot));
  }

  // Of several values of a text each has a box of its own: a right one may stand beside a wrong one.
  #line(one, count) {
    const {id, text, slots} = one;
    const box = h('input', {type: 'checkbox', 'data-key': id});
    const boxes = slots.map(slot => h('input', {type: 'checkbox', 'data-key': nameOf(one, slot)}));
    const show = () => {
      slots.forEach((slot, place) => (boxes[place].checked = !this.#isRefused(one, slot)));
      box.checked = boxes.some(({checked}) => checked);
      box.indeterminate = box.checked && boxes.some(({checked}) => !checked);
    };
    const choose = (some, {target}) => {
      this.#refuse(one, some, !target.checked);
      show();
      count();
    };
    box.onchange = event => choose(slots, event);
    boxes.forEach((of, place) => (of.onchange = event => choose([slots[place]], event)));
    show();
    const chips = slotChips(text, slots);
    const each = chips.map((chip, place) => h('label', {class: 'check'}, boxes[place], chip));
    return h(
      'li',
      {},
      h(
        'div',
        {class: 'grow'},
        h('label', {class: 'check'}, box, h('bdi', {}, text)),
        h('div', {class: 'row tight'}, slots.length > 1 ? each : chips),
      ),
    );
  }

  // Marks what was listed and not refused, even if the tick for unsure ones has changed since.
  async #accept(found, noisy) {
    this.#asked += 1; // earlier answers are out of date
    const key = newKey();
    const utterances = this.#kept(found).map(one => one.id);
    const refused = Object.fromEntries(
      found.examples.map(one => [one.id, one.slots.filter(slot => this.#isRefused(one, slot)).map(({start}) => start)]),
    );
    try {
      const body = {utterances, refused, noisy, preview: false, state: found.state, key};
      const {proposals: n} = await post(`${this.#base}/slots/accept`, body);
      toast(`${plural(n, 'value')} marked.`, '', 'good', undoing(this.#base, key, this.#changed));
    } finally {
      await this.#changed();
    }
  }
}

const nameOf = ({id}, {start}) => `${id} ${start}`;
