// What a training starts from, and the chain of trainings that it would continue.
import {field, fill, h, optionsOf} from '../shared/elements.js';
import {call} from '../shared/rest.js';
import {BUNDLED, bundledWords, chainWords} from '../shared/words.js';

export class BaseChoice {
  #versions; // address of the project's versions
  #encoders = [];
  #chosen = BUNDLED;
  #fresh = false; // whether the recipe needs no base
  #chain = h('p', {
    class: 'small soft',
    'data-role': 'chain',
    style: {margin: '0 0 9px', 'align-self': 'flex-end'},
  });
  #select = h('select', {name: 'base', onchange: event => this.choose(event.target.value)});

  constructor(base) {
    this.#versions = `${base}/versions`;
    this.element = h(
      'div',
      {class: 'row', style: {'margin-top': '14px'}, hidden: true},
      field('Start from', this.#select),
      this.#chain,
    );
  }

  get value() {
    return this.#fresh ? BUNDLED : this.#chosen;
  }

  // The list of encoders may have changed.
  async load() {
    const {models} = await call(this.#versions);
    this.#encoders = models.filter(model => model.kind === 'encoder').toReversed();
    if (!this.#encoders.some(model => model.name === this.#chosen)) this.#chosen = BUNDLED;
    this.#draw();
  }

  choose(name) {
    this.#chosen = name;
    this.#draw();
  }

  for({recipe, needs_base: needsBase}) {
    this.#fresh = !needsBase;
    this.recipe = recipe;
    this.#draw();
  }

  #draw() {
    this.element.hidden = this.#fresh || !this.#encoders.length;
    const named = this.#encoders.map(({name, recipe}) => [name, `${name} (${recipe})`]);
    fill(this.#select, ...optionsOf([[BUNDLED, bundledWords], ...named], this.#chosen));
    const base = this.#encoders.find(model => model.name === this.#chosen);
    this.#chain.textContent = chainWords([...(base?.chain ?? [BUNDLED]), `this ${this.recipe}`]);
  }
}
