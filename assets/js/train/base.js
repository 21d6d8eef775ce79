// What a training starts from, and the chain of trainings that it would continue.
import {field, h, offer} from '../shared/elements.js';
import {call} from '../shared/rest.js';
import {BUNDLED, bundledWords, chainWords, numberOf} from '../shared/words.js';

export class BaseChoice {
  #versions; // address of the project's versions
  #project; // its name
  #encoders = [];
  #live = {name: BUNDLED, words: ''}; // what the live version started from
  #chosen = null; // null: as the live version
  #names = new Map(); // what the page calls a recipe
  #fresh = false; // whether the recipe needs no base
  #asked = 0; // number of the newest request; older answers are dropped
  #chain = h('p', {
    class: 'small soft beside-field',
    'data-role': 'chain',
  });
  #select = h('select', {name: 'base', onchange: event => this.choose(event.target.value)});

  constructor({base, project}) {
    this.#versions = `${base}/versions`;
    this.#project = project;
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

  // Whether a training starts from what the live version started from.
  get isUsual() {
    return this.#fresh || this.value === this.#live.name;
  }

  // The list of encoders, or what the live version started from, may have changed.
  async load({base, base_words: words, choices}) {
    const asked = (this.#asked += 1);
    const {models} = await call(this.#versions);
    if (asked !== this.#asked) return;
    this.#live = {name: base, words};
    this.#names = new Map(choices.map(({recipe, name}) => [recipe, name]));
    this.#encoders = models.filter(model => model.kind === 'encoder').toReversed();
    if (!this.#options().some(([name]) => name === this.#chosen)) this.#chosen = null;
    this.#draw();
  }

  #options() {
    const wordsOf = ({name, recipe}) => `Version ${numberOf(name)}: ${this.#names.get(recipe) ?? recipe}`;
    const named = this.#encoders.map(one => [one.name, wordsOf(one)]);
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
    offer(this.#select, options, value);
    const base = this.#encoders.find(model => model.name === value);
    this.#chain.textContent = chainWords([...(base?.chain ?? [value]), 'this training'], this.#project, this.#names);
  }
}
