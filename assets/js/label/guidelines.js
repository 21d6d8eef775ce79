// The guideline of each intent: its description, and its newest examples.
import {fill, h} from '../shared/elements.js';
import {chip, textsOf} from '../shared/intents.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';

const EXAMPLES = 5;

export class Guidelines {
  element = h('section', {class: 'sheet', 'aria-label': 'Guidelines'});
  #base;

  constructor(base) {
    this.#base = base;
  }

  focus() {
    this.element.scrollIntoView({block: 'nearest'});
    this.element.querySelector('summary')?.focus();
  }

  draw(intents) {
    const none = h('p', {class: 'soft'}, 'No intents yet: press / and type a name to create the first.');
    const all = h(
      'div',
      {class: 'intents'},
      intents.map(intent => this.#entry(intent)),
    );
    fill(this.element, h('h2', {}, 'Guidelines'), intents.length ? all : none);
  }

  #entry(intent) {
    const examples = h('ul', {class: 'soft examples'});
    const show = guarded(async event => {
      if (event.target.open) await this.#showExamples(intent, examples);
    });
    const missing = h('span', {class: 'soft'}, 'No description yet. Write one on the Data page.');
    return h(
      'details',
      {ontoggle: show, 'data-key': intent.id},
      h(
        'summary',
        {'data-key': `summary of ${intent.id}`},
        chip(intent),
        ' ',
        h('span', {class: 'soft small'}, textsOf(intent)),
      ),
      h('div', {class: 'small'}, intent.description || missing, examples),
    );
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
