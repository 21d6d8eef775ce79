// Two sources that a person chooses, compared in what people write and in how surely it is answered.
import {field, fill, h, offer} from '../shared/elements.js';
import {complain} from '../shared/messages.js';
import {call} from '../shared/rest.js';

const AGAIN_MS = 1500;

export class ComparedSources {
  #base;
  #days = 0;
  #asked = 0; // number of the newest question; what earlier ones find is not shown
  #lists = ['source', 'against'].map(name =>
    h('select', {'data-key': `compare-${name}`, onchange: () => this.#show().catch(complain)}),
  );
  #told = h('div', {role: 'status', 'data-role': 'compared'});
  element;

  constructor(base) {
    this.#base = base;
    const choices = [field('Compare', this.#lists[0]), field('with', this.#lists[1])];
    this.element = h(
      'details',
      {'data-key': 'compare', ontoggle: () => this.#show().catch(complain)},
      h('summary', {}, 'Compare two sources'),
      h('div', {class: 'row end'}, choices),
      this.#told,
    );
  }

  // What stands here is of other days, or of texts that have changed since: it is asked for again.
  renew(days, sources) {
    this.#days = days;
    const names = sources.filter(({id}) => !id).map(({name}) => name); // small ones are told together
    for (const [place, list] of this.#lists.entries()) {
      const chosen = names.includes(list.value) ? list.value : names[place];
      offer(list, names.map(name => [name, name]), chosen);
    }
    if (names.length > 1) this.#show().catch(complain);
  }

  async #show() {
    const asked = (this.#asked += 1);
    if (!this.element.open) return;
    const [source, against] = this.#lists.map(list => list.value);
    if (source === against) {
      fill(this.#told, h('p', {class: 'soft small'}, 'Choose two different sources.'));
      return;
    }
    if (!this.#told.firstChild) fill(this.#told, h('p', {class: 'soft small'}, 'Comparing the texts …'));
    const query = new URLSearchParams({days: this.#days, source, against});
    try {
      const found = await call(`${this.#base}/traffic/sources?${query}`);
      if (asked !== this.#asked) return;
      fill(this.#told, found.counting ? h('p', {class: 'soft small'}, 'Comparing the texts …') : listed(found));
      if (found.counting) setTimeout(() => this.#lookAgain(asked), AGAIN_MS);
    } catch (error) {
      if (asked === this.#asked) fill(this.#told, h('p', {class: 'bad small'}, 'The sources could not be compared.'));
      throw error;
    }
  }

  #lookAgain(asked) {
    if (this.element.isConnected && asked === this.#asked) this.#show().catch(complain);
  }
}

function listed({drifts, trouble}) {
  if (trouble) return h('p', {class: 'note bad'}, `The texts cannot be answered: ${trouble}`);
  const few = 'Not compared: one of them has fewer than 50 texts in the sample that are new to the version, ';
  const learned = 'or the version has learned more than 5 % of its texts.';
  if (!drifts.length) return h('p', {class: 'soft small'}, few, learned);
  return h(
    'ul',
    {class: 'plain-list'},
    drifts.map(one => h('li', {dir: 'auto'}, one.sentence, ' ', verdict(one))),
  );
}

export const verdict = ({is_real: isReal}) =>
  isReal
    ? h('span', {class: 'badge accent'}, 'more than chance')
    : h('span', {class: 'soft small'}, 'may be chance');
