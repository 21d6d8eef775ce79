// The project's intents as every page needs them: by id, by name, and as chips.
import {breaking, h} from './elements.js';
import {call} from './rest.js';
import {nothingFits, number, plural} from './words.js';

export const MANY_INTENTS = 15; // with more intents, a field finds one

export class Intents {
  all = [];
  counts = null; // utterances by state of their label
  byId = new Map();
  byName = new Map();
  loaded = null; // settles when the newest request is answered
  #base;
  #asked = 0; // number of the newest request; older answers are dropped

  // `task` is the project's: single-label or multi-label.
  constructor(base, task) {
    this.#base = base;
    this.multi = task === 'multi-label';
    this.nothing = nothingFits(task);
  }

  // The intents that labels may use: those not archived.
  get open() {
    return this.all.filter(intent => !intent.archived);
  }

  get openSorted() {
    return this.sorted.filter(intent => !intent.archived);
  }

  // All by name, as people look for one; `all` are in the order in which they were made.
  get sorted() {
    return this.all.toSorted((one, other) => one.name.localeCompare(other.name));
  }

  load() {
    this.loaded = this.#load();
    return this.loaded;
  }

  async #load() {
    const asked = (this.#asked += 1);
    const {intents, counts} = await call(`${this.#base}/overview`);
    if (asked !== this.#asked) return this.loaded; // whoever waits goes on with the newest
    this.all = intents;
    this.counts = counts;
    this.byId = new Map(intents.map(intent => [intent.id, intent]));
    this.byName = new Map(intents.map(intent => [intent.name, intent]));
    return this;
  }

  // Chips of an utterance's label: unlabelled, no intent, or its intents; `tints` are other colours by name.
  labels(ids, tints = null) {
    if (ids === null) return h('span', {class: 'soft small unbroken'}, 'no label');
    const place = id => this.byId.get(id)?.number ?? Infinity;
    const inOrder = [...ids].sort((a, b) => place(a) - place(b));
    return ids.length ? inOrder.map(id => chip(this.byId.get(id), id, tints)) : this.nothingChip();
  }

  // The same in words, to be read aloud.
  wordsOf(ids) {
    if (ids === null) return 'no label';
    return ids.map(id => this.byId.get(id)?.name ?? id).join(' and ') || this.nothing;
  }

  // The same for intents by name; an empty list means that no intent fits.
  named(names) {
    return names.length ? names.map(name => chip(this.byName.get(name), name)) : this.nothingChip();
  }

  nothingChip() {
    return h('span', {class: 'chip oos'}, this.nothing);
  }
}

// How many texts carry an intent: examples to learn from, and test texts apart.
export function textsOf({utterances, tests}) {
  const apart = tests > 0 && `, ${number(tests)} test`;
  return h('span', {class: 'count tabular'}, plural(utterances - tests, 'example'), apart);
}

export function chip(intent, fallback = '?', tints = null) {
  if (!intent) return h('span', {class: 'chip'}, nameOf(fallback));
  const style = {'--dot': tints?.get(intent.name) ?? intent.color};
  return h('span', {class: 'chip', style, title: intent.description || null}, nameOf(intent.name));
}

const nameOf = name => h('span', {}, breaking(name));
