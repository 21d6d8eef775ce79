// “What if it ignored names and dates?” on the Try page: how far texts and examples move towards their templates.
import {fill, h, said} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {Strength} from '../shared/strength.js';
import {number, percent, plural, similarityWords} from '../shared/words.js';

const LEAD = 'A preview: it changes what you see here, and nothing else.';

export class Compression {
  #base;
  #intents;
  #changed;
  #slider;
  #open;
  #state = h('p', {class: 'soft small', 'data-role': 'compression-state'});
  #suggested = h('div', {class: 'row small', 'data-role': 'suggested'});
  #found = h('div', {'data-role': 'compressed', 'aria-live': 'polite'});
  #ready = false;
  #looked = 0; // number of the newest request; older answers are dropped

  // Calls `changed` when the strength changes or compression is switched off.
  constructor(base, intents, changed) {
    this.#base = base;
    this.#intents = intents;
    this.#changed = changed;
    this.#slider = new Strength(changed);
    this.#open = h(
      'details',
      {ontoggle: guarded(() => this.#toggled())},
      h('summary', {}, h('h2', {style: {display: 'inline'}}, 'What if it ignored names and dates?')),
      h('p', {class: 'soft small'}, LEAD),
      h('label', {class: 'row'}, 'Strength', this.#slider.element),
      this.#state,
      this.#suggested,
      this.#found,
    );
    this.element = h('section', {class: 'sheet', 'aria-label': 'What if it ignored names and dates?'}, this.#open);
  }

  // Null if compression is off.
  get strength() {
    return this.#open.open && this.#ready ? this.#slider.value : null;
  }

  async #toggled() {
    if (this.#open.open) await this.renew();
    this.#changed(this.strength);
  }

  // Called when the model, its labels or their marks have changed.
  async renew() {
    if (!this.#open.open) return;
    const looked = ++this.#looked;
    const {ready, reason, hint, marked, voting, total} = await call(`${this.#base}/compression`);
    if (looked !== this.#looked) return;
    this.#ready = ready;
    this.#slider.allow(ready);
    const some = voting < total ? ` Of ${plural(total, 'example')}, ${number(voting)} vote.` : '';
    const moving = `Values count less in ${plural(marked, 'example')}.${some}`;
    this.#state.textContent = ready ? moving : `${reason} ${hint}`;
    fill(this.#suggested);
    fill(this.#found);
    if (ready) await this.#suggest(looked);
  }

  async #suggest(looked) {
    fill(this.#suggested, h('span', {class: 'soft'}, 'Looking for the best strength …'));
    const found = await call(`${this.#base}/compression/choice`).catch(() => null);
    if (looked !== this.#looked) return;
    if (!found) {
      fill(this.#suggested);
      return;
    }
    const {suggested, strengths, accuracies, basis} = found;
    const best = accuracies[strengths.indexOf(suggested)];
    const take = () => {
      this.#slider.value = suggested;
      this.#changed(suggested);
    };
    this.#slider.suggest(suggested);
    fill(
      this.#suggested,
      h('button', {class: 'plain', onclick: take}, `Suggested: ${suggested.toFixed(1)}`),
      h('span', {class: 'soft'}, `${percent(best)} right, ${percent(accuracies[0])} without: ${basis}.`),
    );
  }

  // Evidence of compression for the answer to one text, or null.
  show(compressed) {
    if (!compressed) {
      fill(this.#found);
      return;
    }
    const {template, values, nearest} = compressed;
    const marked = values.map(([name, value]) => `${name} “${value}”`).join(', ');
    const lines = nearest.map((near, place) => h('li', {}, said(near.text), this.#factsOf(near, place + 1)));
    fill(
      this.#found,
      h(
        'p',
        {class: 'small', dir: 'auto', 'data-role': 'template'},
        values.length ? [h('code', {}, template), `: ${marked}`] : 'No known value in this text: it stays.',
      ),
      h('h3', {}, 'Nearest examples'),
      h('ol', {class: 'last', 'data-role': 'nearest'}, lines),
    );
  }

  #factsOf({intents, cosine, before}, place) {
    const moved = before === place ? '' : `, was place ${number(before)}`;
    const words = h('span', {class: 'soft small'}, `${similarityWords(cosine)}${moved}`);
    return h('div', {class: 'row tight'}, this.#intents.named(intents), words);
  }
}
