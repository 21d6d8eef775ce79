// What the colours mean; a press hides the points of one, and another shows them again.
import {fill, h} from '../shared/elements.js';
import {number} from '../shared/words.js';

export class Legend {
  element = h('div', {class: 'legend', 'aria-label': 'Legend'});
  #by = '';
  #entries = [];
  #hidden = new Set(); // names, each with what is coloured by; places change when an entry comes or goes
  #hide;

  constructor(hide) {
    this.#hide = hide;
  }

  // What is hidden stays so however often its colours come anew.
  show(by, entries) {
    this.#by = by;
    this.#entries = entries;
    this.#draw();
  }

  get by() {
    return this.#by;
  }

  // Codes of the points that are not to be seen.
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
