// Values that could be marked automatically: known values, dates, numbers and times, previewed first.
import {fill, h} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {slotChips} from '../shared/marker.js';
import {guarded, toast} from '../shared/messages.js';
import {post} from '../shared/rest.js';
import {number, plural} from '../shared/words.js';

export class ProposalsSheet {
  #base;
  #changed;
  #asked = 0;
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
    const asked = (this.#asked += 1);
    const noisy = this.#noisy.checked;
    const found = await this.#ask({noisy, preview: true});
    if (asked === this.#asked) this.#draw(found, noisy);
  }

  // The previewed values are marked, even if the ticks have changed since.
  #draw({proposals: n, utterances: many, examples}, noisy) {
    const none = 'Nothing that is known from the slot book stands unmarked.';
    const attributes = {class: 'primary', 'data-key': 'accept'};
    const accept = busyButton(`Mark all ${number(n)}`, () => this.#accept(noisy), attributes);
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

  #ask(body) {
    return post(`${this.#base}/slots/accept`, {utterances: null, ...body});
  }

  async #accept(noisy) {
    this.#asked += 1; // earlier answers are out of date
    try {
      const {proposals: n} = await this.#ask({noisy, preview: false, key: crypto.randomUUID()});
      toast(`${plural(n, 'value')} marked.`, 'Undo takes all of them back.', 'good');
    } finally {
      await this.#changed();
    }
  }
}

const exampleLine = ({text, slots}) =>
  h('li', {}, h('div', {class: 'grow'}, text, h('div', {class: 'row tight'}, slotChips(text, slots))));
