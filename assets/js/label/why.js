// Why the model suggests what it suggests: the examples that vote for it.
import {fill, h} from '../shared/elements.js';
import {post} from '../shared/rest.js';
import {votesOf} from '../shared/votes.js';

export class Why {
  element = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Why'});
  #base;
  #intents;

  constructor(base, intents) {
    this.#base = base;
    this.#intents = intents;
  }

  hide() {
    this.element.hidden = true;
  }

  async show(text) {
    this.element.hidden = false;
    fill(this.element, h('p', {class: 'soft'}, 'Asking the model …'));
    try {
      const [answer] = await post(`${this.#base}/predict`, {texts: [text]});
      fill(this.element, h('h2', {}, 'Why'), votesOf(answer, this.#intents));
    } catch (error) {
      fill(this.element, h('p', {class: 'bad'}, error.message, ' ', error.hint));
    }
  }
}
