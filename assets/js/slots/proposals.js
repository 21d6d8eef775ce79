// What could be marked by itself: known values, dates, numbers and times, shown before anything is.
import {fill, h} from '../shared/elements.js';
import {slotChips} from '../shared/marker.js';
import {guarded, toast} from '../shared/messages.js';
import {post} from '../shared/rest.js';
import {number, plural} from '../shared/words.js';

export class ProposalsSheet {
  #base;
  #changed;
  #noisy = h('input', {type: 'checkbox', onchange: guarded(() => this.load())});
  #place = h('div');

  constructor(base, changed) {
    this.#base = base;
    this.#changed = changed;
    this.element = h(
      'section',
      {class: 'sheet', 'aria-label': 'Proposals'},
      h('h2', {}, 'Proposed values'),
      h('label', {class: 'check'}, this.#noisy, 'with unsure ones'),
      this.#place,
    );
  }

  async load() {
    const found = await this.#ask({preview: true});
    const {proposals: n, utterances: many, examples} = found;
    const none = 'Nothing that is known from the slot book stands unmarked.';
    const accepting = {class: 'primary', 'data-key': 'accept', onclick: guarded(() => this.#accept())};
    const accept = h('button', accepting, `Mark all ${number(n)}`);
    fill(
      this.#place,
      n
        ? [
            h('p', {}, `${plural(n, 'value')} in ${plural(many, 'utterance')}:`),
            h('ul', {class: 'last told some'}, examples.map(exampleLine)),
            accept,
          ]
        : h('p', {class: 'soft'}, none),
    );
  }

  #ask(more) {
    const body = {utterances: null, noisy: this.#noisy.checked, preview: false, ...more};
    return post(`${this.#base}/slots/accept`, body);
  }

  async #accept() {
    const {proposals: n} = await this.#ask({key: crypto.randomUUID()});
    toast(`${plural(n, 'value')} marked.`, 'Undo takes all of them back.', 'good');
    await this.#changed();
  }
}

const exampleLine = ({text, slots}) =>
  h('li', {}, h('div', {class: 'grow'}, text, h('div', {class: 'row tight'}, slotChips(text, slots))));
