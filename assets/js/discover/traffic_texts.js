// A sentence about the traffic that unfolds the texts behind it.
import {fill, h} from '../shared/elements.js';
import {complain} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {number, plural} from '../shared/words.js';

const AGAIN_MS = 1500;

export class Evidence {
  #asks;
  #texts = h('div', {'data-role': 'said'});
  #isAsked = false;
  element;

  // `about` has the sentence and the id of the intent, which is empty for texts without one.
  constructor(base, days, {id, sentence}) {
    this.#asks = () => call(`${base}/traffic/texts?days=${days}&intent=${encodeURIComponent(id)}`);
    const unfold = () => this.#show().catch(complain);
    const key = {'data-key': `evidence ${id}`, ontoggle: unfold};
    this.element = h('details', key, h('summary', {}, sentence), this.#texts);
  }

  async #show() {
    if (!this.element.open || this.#isAsked) return;
    this.#isAsked = true;
    if (!this.#texts.firstChild) fill(this.#texts, h('p', {class: 'soft small'}, 'Reading the texts …'));
    try {
      const {texts, n, counting} = await this.#asks();
      this.#isAsked = !counting;
      fill(this.#texts, counting ? 'The texts are being answered …' : listed(texts, n));
      if (counting) setTimeout(() => this.element.isConnected && this.#show().catch(complain), AGAIN_MS);
    } catch (error) {
      this.#isAsked = false;
      fill(
        this.#texts,
        h('p', {class: 'bad small'}, 'The texts could not be read. Close this and open it again.'),
      );
      throw error;
    }
  }
}

function listed(texts, n) {
  if (!n) return h('p', {class: 'soft small'}, 'No text in these days.');
  const rest = n - texts.length;
  return [
    h('ul', {class: 'plain-list'}, texts.map(row)),
    rest > 0 &&
      h('p', {class: 'soft small'}, `and ${plural(rest, 'other text')}, each said as often or less.`),
  ];
}

function row({text, count, sources}) {
  const where = Object.entries(sources).map(([name, times]) =>
    count > 1 ? `${name} ${number(times)}` : name,
  );
  return h(
    'li',
    {},
    h('span', {class: 'wording', dir: 'auto'}, text),
    h('span', {class: 'soft small'}, count > 1 ? `${number(count)} times: ` : '', where.join(', ')),
  );
}
