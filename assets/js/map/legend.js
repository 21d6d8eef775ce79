// The legend; pressing an entry hides or shows its points.
import {fill, h} from '../shared/elements.js';
import {number} from '../shared/words.js';

export class Legend {
  element = h('div', {class: 'legend', 'aria-label': 'Legend'});
  #by = '';
  #entries = [];
  #hidden = new Set(); // names with their way of colouring; codes would change when an entry is added or removed
  #hide;

  constructor(hide) {
    this.#hide = hide;
  }

  // Hidden entries stay hidden when colours are loaded again.
  show(by, entries) {
    this.#by = by;
    this.#entries = entries;
    this.#draw();
  }

  get by() {
    return this.#by;
  }

  // Codes of the hidden points.
  get hidden() {
    return new Set(this.#entries.flatMap((entry, code) => (this.#isHidden(entry) ? [code] : [])));
  }

  #toggle(entry) {
    const name = this.#nameOf(entry);
    if (!this.#hidden.delete(name)) this.#hidden.add(name);
    this.#hide(this.hidden);
    this.#draw();
  }

  #isHidden(entry) {
    return this.#hidden.has(this.#nameOf(entry));
  }

  #nameOf({name}) {
    return `${this.#by}: ${name}`;
  }

  #draw() {
    const entries = this.#entries.map(entry =>
      h(
        'button',
        {
          class: 'chip',
          style: {'--dot': entry.colour},
          'aria-pressed': String(!this.#isHidden(entry)),
          'data-key': entry.name,
          onclick: () => this.#toggle(entry),
        },
        entry.name,
        h('span', {class: 'soft'}, number(entry.count)),
      ),
    );
    fill(this.element, entries);
  }
}
