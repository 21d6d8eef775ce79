// Why the model suggests an intent: the examples that vote for it.
import {fill, h} from '../shared/elements.js';
import {post} from '../shared/rest.js';
import {votesOf} from '../shared/votes.js';

export class Why {
  element = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Why'});
  #base;
  #intents;
  #asked = 0;
  #shown = null;

  constructor(base, intents) {
    this.#base = base;
    this.#intents = intents;
  }

  // The evidence is removed when the next utterance is shown.
  follow(item) {
    if (item?.id === this.#shown) return;
    this.#shown = null;
    this.#asked += 1;
    this.element.hidden = true;
  }

  async show({id, text}) {
    const asked = (this.#asked += 1);
    this.#shown = id;
    this.element.hidden = false;
    fill(this.element, h('p', {class: 'soft'}, 'Asking the model …'));
    const answer = await this.#answer(text);
    if (asked === this.#asked) fill(this.element, answer);
  }

  async #answer(text) {
    try {
      const [answer] = await post(`${this.#base}/predict`, {texts: [text]});
      return [h('h2', {}, 'Why'), votesOf(answer, this.#intents)];
    } catch (error) {
      return h('p', {class: 'bad'}, error.message, ' ', error.hint);
    }
  }
}
