// The intents that are mixed up most, as Review finds them; a press shows the two alone.
import {address} from '../shared/address.js';
import {fill, h, titled} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {failed} from '../shared/skeleton.js';

const MOST = 5;
const AT_ONCE = 3000; // examples that are compared without being asked
const COUNTED = 'Texts of one that get the other as answer, both ways: the same as in Review and in reports.';

export class MixedUp {
  element = h('div', {class: 'after', 'data-role': 'mixed-up', hidden: true});
  #context;
  #show;
  #asked = 0; // number of the newest comparison; older ones are dropped

  // Calls `show` with the finding about a pair: the ids of two intents, and their texts that are mixed up.
  constructor(context, show) {
    this.#context = context;
    this.#show = show;
  }

  // Of many examples the comparison takes a minute, so it waits until somebody asks for it.
  async offer(examples) {
    if (this.#context.status.champion === null) return;
    if (examples <= AT_ONCE) {
      await this.#load();
      return;
    }
    this.element.hidden = false;
    const find = guarded(() => this.#load());
    fill(this.element, h('button', {'data-key': 'compare', onclick: find}, 'Find intents that are mixed up'));
  }

  async #load() {
    const {base, project} = this.#context;
    const asked = (this.#asked += 1);
    fill(this.element, h('p', {class: 'soft'}, 'Comparing your examples …'));
    const {findings} = await call(`${base}/review?kind=confusion&limit=${MOST}`).catch(error => {
      if (asked === this.#asked) this.#fail(error);
      throw error;
    });
    if (asked !== this.#asked) return;
    this.element.hidden = false;
    if (!findings.length) {
      fill(this.element, h('p', {class: 'soft'}, 'No two intents are mixed up.'));
      return;
    }
    fill(
      this.element,
      h('h3', {}, 'Intents mixed up most'),
      h('p', {class: 'soft small', 'data-role': 'counted'}, COUNTED),
      h('ul', {class: 'last pairs'}, findings.map(pair => h('li', {}, this.#button(pair)))),
      h('a', {class: 'small', href: address('review', project, {kind: 'confusion'})}, 'All of them, and what helps'),
    );
  }

  #fail(error) {
    this.element.hidden = false;
    fill(this.element, failed(error, () => this.#load()));
  }

  #button(pair) {
    const {title, intents, measure} = pair;
    const about = {class: 'plain', 'data-key': `pair ${intents.join(' ')}`, onclick: () => this.#show(pair)};
    const amount = h('span', {class: 'soft small tabular'}, measure);
    return h('button', about, h('span', {class: 'grow', dir: 'auto'}, titled(title), h('br'), amount));
  }
}
