// What the colours mean; a press hides the points of one, and another shows them again.
import {fill, h} from '../shared/elements.js';
import {number} from '../shared/words.js';

export class Legend {
  element = h('div', {class: 'legend', 'aria-label': 'Legend'});
  #entries = [];
  #hidden = new Set(); // places in the legend, which are the codes of points
  #hide;

  constructor(hide) {
    this.#hide = hide;
  }

  show(entries) {
    this.#entries = entries;
    this.#draw();
  }

  showAll() {
    this.#hidden = new Set();
  }

  #toggle(code) {
    if (!this.#hidden.delete(code)) this.#hidden.add(code);
    this.#hide(new Set(this.#hidden));
    this.#draw();
  }

  #draw() {
    const entries = this.#entries.map((entry, code) =>
      h(
        'button',
        {
          class: 'chip',
          style: {'--dot': entry.colour},
          'aria-pressed': String(!this.#hidden.has(code)),
          'data-key': entry.name,
          onclick: () => this.#toggle(code),
        },
        entry.name,
        h('span', {class: 'soft'}, number(entry.count)),
      ),
    );
    fill(this.element, entries);
  }
}
