// Synthetic utterances from templates, which the page calls patterns, and frequent values: previewed first, then added.
import {field, fill, h} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {guarded, toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {post} from '../shared/rest.js';
import {undoing} from '../shared/undoing.js';
import {number, plural} from '../shared/words.js';

const PAUSE = 250;

export class AugmentingSheet {
  #base;
  #intents;
  #changed;
  #isFirst;
  #timer = 0;
  #asked = 0;
  #without = new Map(); // templates that are left out, with what they would give
  #top = numberField('top', 5, 1, 100);
  #each = numberField('per_template', 2, 1, 1000);
  #most = numberField('most', 1000, 1, 50000);
  #place = h('div', {'aria-live': 'polite'});

  // Calls `changed` after texts were added; `isFirst` returns whether adding them is the page's first act.
  constructor(base, intents, {changed, isFirst}) {
    this.#base = base;
    this.#intents = intents;
    this.#changed = changed;
    this.#isFirst = isFirst;
    const words =
      'Fills other values into your examples: from “a flight to Paris” it also makes “a flight to Rome”. ' +
      'The next training learns from the new texts with yours. They are marked as generated, and never test a model.';
    this.element = h(
      'section',
      {class: 'sheet', 'aria-label': 'Augmentation', oninput: () => this.#lookSoon()},
      h('h2', {}, 'Generate texts'),
      h('p', {class: 'soft small'}, words),
      h(
        'div',
        {class: 'row end'},
        field('Values per slot', this.#top),
        field('Texts per pattern', this.#each),
        field('At most', this.#most),
      ),
      h('div', {class: 'row after'}, h('button', {onclick: guarded(() => this.#look())}, 'Preview')),
      this.#place,
    );
  }

  get #body() {
    const values = [this.#top, this.#each, this.#most].map(input => [input.name, input.valueAsNumber]);
    const wrong = values.find(([, value]) => !Number.isInteger(value));
    return wrong ? null : {...Object.fromEntries(values), without: [...this.#without.keys()]};
  }

  #lookSoon() {
    clearTimeout(this.#timer);
    if (this.#place.childElementCount)
      this.#timer = setTimeout(
        guarded(() => this.#look()),
        PAUSE,
      );
  }

  async #look() {
    const asked = (this.#asked += 1);
    const body = this.#body;
    if (!body) {
      fill(this.#place, h('p', {class: 'bad'}, 'Type a whole number in each of the three fields.'));
      return;
    }
    const found = await post(`${this.#base}/augmentation/preview`, body);
    if (asked === this.#asked) this.#draw(found, body);
  }

  // The previewed utterances are added, even if the fields have changed since.
  #draw(found, body) {
    const {n, n_templates: templates, n_sources: sources} = found;
    const listed = [...found.templates, ...this.#without.values()];
    if (!listed.length) {
      fill(
        this.#place,
        h('p', {class: 'soft'}, 'No new text can be made. Mark more values, or raise the numbers.'),
      );
      return;
    }
    const attributes = {class: this.#isFirst() ? 'primary' : '', 'data-key': 'add'};
    const add = busyButton(`Add ${plural(n, 'generated text')}`, () => this.#add(body), attributes);
    add.disabled = !n;
    const from = `${plural(templates, 'pattern')} of ${plural(sources, 'text')}`;
    const what = 'A pattern is a text with its values left open.';
    const more = templates > found.templates.length;
    fill(
      this.#place,
      h('p', {}, `${plural(n, 'new text')} from ${from}. ${what} Untick one to leave it out:`),
      h(
        'ul',
        {class: 'last told some', tabindex: 0, 'aria-label': 'Patterns'},
        listed.map(one => this.#line(one)),
      ),
      more &&
        h(
          'p',
          {class: 'soft small'},
          `Only the ${number(found.templates.length)} patterns that give most are listed.`,
        ),
      add,
    );
  }

  #line(one) {
    const {template, intents, n, examples} = one;
    // The preview that follows counts anew; until then nothing can be added, not even what an earlier one brings.
    const choose = event => {
      this.#asked += 1;
      if (event.target.checked) this.#without.delete(template);
      else this.#without.set(template, one);
      this.#place.querySelector('[data-key=add]').disabled = true;
      this.#lookSoon();
    };
    const box = h('input', {
      type: 'checkbox',
      checked: !this.#without.has(template),
      'aria-label': `Use ${template}`,
      'data-key': `use ${template}`,
      onchange: choose,
    });
    return h(
      'li',
      {},
      box,
      h(
        'details',
        {class: 'grow', 'data-key': template},
        h('summary', {}, template, ' ', h('span', {class: 'soft small'}, `+${number(n)}`)),
        h('div', {class: 'row tight'}, this.#intents.named(intents)),
        h(
          'ul',
          {class: 'told small'},
          examples.map(text => h('li', {dir: 'auto'}, text)),
          n > examples.length && h('li', {class: 'soft'}, `and ${number(n - examples.length)} more`),
        ),
      ),
    );
  }

  async #add(body) {
    clearTimeout(this.#timer);
    this.#asked += 1; // earlier answers are out of date
    const key = newKey();
    const {n} = await post(`${this.#base}/augmentation`, {...body, key});
    const undo = undoing(this.#base, key, this.#changed);
    toast(`${plural(n, 'generated text')} added to your examples.`, '', 'good', undo);
    fill(this.#place);
    await this.#changed();
  }
}

const numberField = (name, value, min, max) =>
  h('input', {type: 'number', name, value, min, max, step: 1, class: 'short'});
