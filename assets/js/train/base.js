// What a training starts from, and the chain of trainings that it would continue.
import {field, fill, h, optionsOf} from '../shared/elements.js';
import {call} from '../shared/rest.js';
import {BUNDLED, bundledWords, chainWords} from '../shared/words.js';

export class BaseChoice {
  #versions; // address of the project's versions
  #encoders = [];
  #live = {name: BUNDLED, words: ''}; // what the live version started from
  #chosen = null; // null: as the live version
  #fresh = false; // whether the recipe needs no base
  #chain = h('p', {
    class: 'small soft beside-field',
    'data-role': 'chain',
  });
  #select = h('select', {name: 'base', onchange: event => this.choose(event.target.value)});

  constructor(base) {
    this.#versions = `${base}/versions`;
    this.element = h(
      'div',
      {class: 'row after', hidden: true},
      field('Start from', this.#select),
      this.#chain,
    );
  }

  get value() {
    return this.#fresh ? BUNDLED : (this.#chosen ?? this.#live.name);
  }

  // The list of encoders, or what the live version started from, may have changed.
  async load({base, base_words: words}) {
    const {models} = await call(this.#versions);
    this.#live = {name: base, words};
    this.#encoders = models.filter(model => model.kind === 'encoder').toReversed();
    if (!this.#options().some(([name]) => name === this.#chosen)) this.#chosen = null;
    this.#draw();
  }

  #options() {
    const named = this.#encoders.map(({name, recipe}) => [name, `${name} (${recipe})`]);
    const all = [[BUNDLED, bundledWords], ...named];
    const {name, words} = this.#live;
    return all.some(([known]) => known === name) ? all : [[name, words], ...all];
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
    const options = this.#options();
    const {value} = this;
    this.element.hidden = this.#fresh || options.length < 2;
    fill(this.#select, ...optionsOf(options, value));
    const base = this.#encoders.find(model => model.name === value);
    this.#chain.textContent = chainWords([...(base?.chain ?? [value]), `this ${this.recipe}`]);
  }
}
