// The project's intents as every page needs them: by id, by name, and as chips.
import {h} from './elements.js';
import {call} from './rest.js';

export class Intents {
  all = [];
  counts = null; // utterances by state of their label
  byId = new Map();
  byName = new Map();
  #base;

  constructor(base) {
    this.#base = base;
  }

  // Those that labels may be given of.
  get open() {
    return this.all.filter(intent => !intent.archived);
  }

  async load() {
    const {intents, counts} = await call(`${this.#base}/overview`);
    this.all = intents;
    this.counts = counts;
    this.byId = new Map(intents.map(intent => [intent.id, intent]));
    this.byName = new Map(intents.map(intent => [intent.name, intent]));
    return this;
  }

  // An utterance's label: nothing yet, out of scope, or its intents.
  labels(ids) {
    if (ids === null) return h('span', {class: 'soft small'}, 'no label');
    return ids.length ? ids.map(id => chip(this.byId.get(id), id)) : outOfScopeChip();
  }

  named(names) {
    return names.map(name => chip(this.byName.get(name), name));
  }
}

export function chip(intent, fallback = '?') {
  if (!intent) return h('span', {class: 'chip'}, fallback);
  const style = {'--dot': intent.color};
  return h('span', {class: 'chip', style, title: intent.description || null}, intent.name);
}

export const outOfScopeChip = () => h('span', {class: 'chip oos'}, 'out of scope');
