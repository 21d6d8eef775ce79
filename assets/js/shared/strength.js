// A slider for semantic compression: how far texts move towards their templates, from 0 to 1 by tenths.
import {h} from './elements.js';

const PAUSE = 60; // milliseconds without movement after which the strength is applied
const BEST = 'the best on held-out examples';

export class Strength {
  element;
  #input;
  #figure = h('output', {class: 'tabular'}, '0.0');
  #marks = h('datalist', {id: 'suggested-strength'});

  // Calls `changed` with each strength at which the slider rests.
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

  // A disabled slider returns to 0: nothing is compressed.
  allow(ready) {
    this.#input.disabled = !ready;
    if (!ready) this.value = 0;
  }

  suggest(strength) {
    this.#marks.replaceChildren(h('option', {value: strength, label: BEST}));
  }
}
