// The guideline of each intent: its description, and its newest examples.
import {fill, h} from '../shared/elements.js';
import {fitting} from '../shared/finder.js';
import {chip, textsOf} from '../shared/intents.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';

const EXAMPLES = 5;
const MANY = 15; // with more intents, a field finds one

export class Guidelines {
  element = h('section', {class: 'sheet', 'aria-label': 'Guidelines'});
  #base;
  #intents = [];
  #entries = new Map(); // by intent: what is shown of it
  #find = h('input', {
    type: 'search',
    placeholder: 'Find an intent',
    'aria-label': 'Find a guideline',
    oninput: () => this.#filter(),
  });

  constructor(base) {
    this.#base = base;
  }

  focus() {
    this.element.scrollIntoView({block: 'nearest'});
    this.element.querySelector('summary')?.focus();
  }

  // By name. If nothing but the counts is new, nothing else is drawn.
  draw(intents) {
    const known = namesOf(this.#intents);
    this.#intents = intents.toSorted((a, b) => a.name.localeCompare(b.name));
    if (intents.length && namesOf(this.#intents) === known) this.#count();
    else this.#drawAll();
  }

  #count() {
    for (const intent of this.#intents) fill(this.#entries.get(intent.id).count, textsOf(intent));
  }

  #drawAll() {
    this.#entries = new Map(this.#intents.map(intent => [intent.id, this.#entry(intent)]));
    const none = h('p', {class: 'soft'}, 'No intents yet: press / and type a name to create the first.');
    const all = h(
      'div',
      {class: 'intents'},
      [...this.#entries.values()].map(({element}) => element),
    );
    this.#find.hidden = this.#intents.length <= MANY;
    const meaning = h('p', {class: 'soft small'}, 'The numbers: examples to learn from, and texts of the test set.');
    const some = [meaning, this.#find, all];
    fill(this.element, h('h2', {}, 'Guidelines'), this.#intents.length ? some : none);
    this.#filter();
  }

  #filter() {
    const found = new Set(fitting(this.#intents, this.#find.value, ({name}) => name));
    for (const intent of this.#intents) this.#entries.get(intent.id).element.hidden = !found.has(intent);
  }

  #entry(intent) {
    const examples = h('ul', {class: 'soft examples'});
    const show = guarded(async event => {
      if (event.target.open) await this.#showExamples(intent, examples);
    });
    const missing = h('span', {class: 'soft'}, 'No description yet. Write one on the Data page.');
    const count = h('span', {class: 'soft small'}, textsOf(intent));
    const element = h(
      'details',
      {ontoggle: show, 'data-key': intent.id},
      h('summary', {'data-key': `summary of ${intent.id}`}, chip(intent), ' ', count),
      h('div', {class: 'small'}, intent.description || missing, examples),
    );
    return {element, count};
  }

  async #showExamples(intent, place) {
    const asked = new URLSearchParams({intent: intent.id, size: EXAMPLES, order: 'changed'});
    const {rows} = await call(`${this.#base}/utterances?${asked}`);
    fill(
      place,
      rows.map(row => h('li', {}, row.text)),
    );
  }
}

// All that is drawn of the intents but their counts.
const namesOf = intents => intents.map(({id, name, color, description}) => [id, name, color, description]).join('\n');
