// What each intent means: its description, and its newest examples.
import {Drawer} from '../shared/drawer.js';
import {fill, h} from '../shared/elements.js';
import {fitting} from '../shared/finder.js';
import {MANY_INTENTS, chip, textsOf} from '../shared/intents.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';

const NAME = 'What each intent means';
const EXAMPLES = 5;
const LEGEND =
  '“enough”: you can stop labelling this intent. By all other labels the model finds it for its last texts; ' +
  'the number of labels does not matter. Labels of other intents still teach the model.';
const OPENS = 'Open one for its description and examples.';
const PAUSE = 3000; // milliseconds between two looks

export class Guidelines {
  element = h('section', {class: 'sheet meanings', 'aria-label': NAME});
  #base;
  #told;
  #intents = [];
  #entries = new Map(); // by intent: what is shown of it
  #reasons = new Map(); // by intent: why its labels are enough
  #legend = h('p', {class: 'soft small', hidden: true, 'data-role': 'legend'}, LEGEND);
  #asked = 0; // number of the newest request for these; older answers are dropped
  #again; // looks once more while the model is being loaded
  #find = h('input', {
    type: 'search',
    placeholder: 'Find an intent',
    'aria-label': 'Find an intent to read about',
    oninput: () => this.#filter(),
  });

  #drawer = new Drawer(this.element, {name: NAME, first: () => this.#first});

  // `told` is called when the server has said which intents have enough labels.
  constructor(base, told) {
    this.#base = base;
    this.#told = told;
  }

  // Why an intent has enough labels, in words; undefined where it has not.
  enoughOf(id) {
    return this.#reasons.get(id);
  }

  get #first() {
    return this.#find.hidden ? this.element.querySelector('summary') : this.#find;
  }

  // On a narrow screen the guidelines open from here.
  get opener() {
    return this.#drawer.opener;
  }

  focus() {
    if (this.#drawer.isNarrow) {
      this.#drawer.open();
      return;
    }
    this.element.scrollIntoView({block: 'nearest'});
    this.element.querySelector('summary')?.focus();
  }

  // By name. If nothing but the counts is new, nothing else is drawn.
  draw(intents) {
    const known = namesOf(this.#intents);
    this.#intents = intents.toSorted((a, b) => a.name.localeCompare(b.name));
    if (intents.length && namesOf(this.#intents) === known) this.#count();
    else this.#drawAll();
    this.#askWhatIsEnough().catch(() => {}); // asked again with the next counts
  }

  async #askWhatIsEnough() {
    const asked = (this.#asked += 1);
    const {ready, intents} = await call(`${this.#base}/enough`);
    if (asked !== this.#asked) return;
    clearTimeout(this.#again);
    const again = () => this.#askWhatIsEnough().catch(() => {});
    if (!ready && this.element.isConnected) this.#again = setTimeout(again, PAUSE);
    this.#reasons = new Map(intents.filter(one => one.is_enough).map(({intent, reason}) => [intent, reason]));
    this.#count();
    this.#told();
  }

  #count() {
    this.#legend.hidden = !this.#reasons.size;
    for (const intent of this.#intents) {
      const {count, enough} = this.#entries.get(intent.id);
      const reason = this.#reasons.get(intent.id);
      fill(count, textsOf(intent), reason && [' ', h('span', {class: 'badge good', title: reason}, 'enough')]);
      fill(enough, reason ?? '');
      enough.hidden = !reason;
    }
  }

  #drawAll() {
    this.#entries = new Map(this.#intents.map(intent => [intent.id, this.#entry(intent)]));
    const none = h('p', {class: 'soft'}, 'No intents yet. A file brings them along, or your first label makes one.');
    const all = h(
      'div',
      {class: 'intents'},
      [...this.#entries.values()].map(({element}) => element),
    );
    this.#find.hidden = this.#intents.length <= MANY_INTENTS;
    const some = [h('p', {class: 'soft small'}, OPENS), this.#legend, this.#find, all];
    const head = h('div', {class: 'row'}, h('h2', {class: 'grow'}, NAME), this.#drawer.closer);
    fill(this.element, head, this.#intents.length ? some : none);
    this.#count();
    this.#filter();
  }

  #filter() {
    const found = new Set(fitting(this.#intents, this.#find.value, ({name}) => name));
    for (const intent of this.#intents) this.#entries.get(intent.id).element.hidden = !found.has(intent);
  }

  #entry(intent) {
    const examples = h('ul', {class: 'soft examples'});
    const show = guarded(async event => {
      if (event.target.open) await this.#showExamples(intent, examples);
    });
    const missing = h('span', {class: 'soft'}, 'No description yet. Write one on the Data page.');
    const count = h('span', {class: 'soft small'});
    const enough = h('p', {class: 'good', hidden: true, 'data-role': 'enough'});
    const element = h(
      'details',
      {ontoggle: show, 'data-key': intent.id},
      h('summary', {'data-key': `summary of ${intent.id}`}, chip(intent), ' ', count),
      h('div', {class: 'small'}, enough, intent.description || missing, examples),
    );
    return {element, count, enough};
  }

  async #showExamples(intent, place) {
    const asked = new URLSearchParams({intent: intent.id, size: EXAMPLES, order: 'changed'});
    const {rows} = await call(`${this.#base}/utterances?${asked}`);
    fill(
      place,
      rows.map(row => h('li', {dir: 'auto'}, row.text)),
    );
  }
}

// All that is drawn of the intents but their counts.
const namesOf = intents => intents.map(({id, name, color, description}) => [id, name, color, description]).join('\n');
