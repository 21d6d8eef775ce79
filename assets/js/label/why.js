// Why the model suggests an intent: the examples that vote for it.
import {fill, h} from '../shared/elements.js';
import {post} from '../shared/rest.js';
import {votesOf} from '../shared/votes.js';

const NEWS = 'Labels given since this card came have changed its answer.';

export class Why {
  element = h('section', {class: 'sheet', id: 'why', hidden: true, 'aria-label': 'Why'});
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

  async show(item) {
    const {id, text} = item;
    const asked = (this.#asked += 1);
    this.#shown = id;
    this.element.hidden = false;
    this.#fill(h('p', {class: 'soft'}, 'Asking the model …'));
    const answer = await this.#answer(item);
    if (asked === this.#asked) this.#fill(answer);
  }

  // Opens beside the card. Where that is out of view, as under the card on a narrow window, the page moves there.
  #fill(content) {
    fill(this.element, content);
    const {top} = this.element.getBoundingClientRect();
    if (top < 0 || top > window.innerHeight / 2) this.element.scrollIntoView({block: 'start'});
  }

  async #answer(item) {
    try {
      const [answer] = await post(`${this.#base}/predict`, {texts: [item.text]});
      const news = !this.#intents.multi && isOther(item, answer.prediction.decision) && h('p', {}, NEWS);
      return [h('h2', {}, 'Why'), news, h('div', {}, votesOf(answer, this.#intents))];
    } catch (error) {
      return h('p', {class: 'bad'}, error.message, ' ', error.hint);
    }
  }
}

// Whether the model's answer is not that of the card.
const isOther = ({suggestions, out_of_scope: isOutside}, {intents}) =>
  suggestions?.length > 0 && (isOutside ? undefined : suggestions[0].intent) !== intents[0];
