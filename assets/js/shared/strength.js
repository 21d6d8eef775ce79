// A slider for semantic compression: how far texts move towards their templates, from 0 to 1 by tenths.
import {h} from './elements.js';

const PAUSE = 60; // milliseconds of rest after which somebody wants to see
const BEST = 'the best on held-out examples';

export class Strength {
  element;
  #input;
  #figure = h('output', {class: 'tabular'}, '0.0');
  #marks = h('datalist', {id: 'suggested-strength'});

  // `changed` hears of every strength that the slider rests at.
  constructor(changed) {
    let timer = 0;
    const moved = () => {
      this.#figure.textContent = this.value.toFixed(1);
      clearTimeout(timer);
      timer = setTimeout(() => changed(this.value), PAUSE);
    };
    this.#input = h('input', {
      type: 'range',
      min: 0,
      max: 1,
      step: 0.1,
      value: 0,
      list: this.#marks.id,
      disabled: true,
      'aria-label': 'Strength of compression',
      oninput: moved,
    });
    this.element = h('span', {class: 'row tight'}, this.#input, this.#figure, this.#marks);
  }

  get value() {
    return Number(this.#input.value);
  }

  set value(strength) {
    this.#input.value = strength;
    this.#figure.textContent = strength.toFixed(1);
  }

  // A slider that cannot be moved goes back to where nothing is compressed.
  allow(ready) {
    this.#input.disabled = !ready;
    if (!ready) this.value = 0;
  }

  suggest(strength) {
    this.#marks.replaceChildren(h('option', {value: strength, label: BEST}));
  }
}
