// The utterances that wait for a label: fetched in advance, in the chosen order.
import {complain} from '../shared/messages.js';
import {call} from '../shared/rest.js';

const FIRST = 60; // cards of the first request, which a person waits for
const AHEAD = 60; // with fewer, more are requested: as many as a person decides on before they arrive
const MOST_AHEAD = 100;
const NEAR = 20; // cards that are answered anew when a label has joined the model
const MOST_NAMED = 300; // utterances that one request excludes

export const STANDARD = 'helps'; // the order that wins most accuracy by label

// Value, name and meaning. Other values of the server's orders stay usable in links.
export const ordersOf = multi => [
  [STANDARD, 'Helps most', 'What teaches the model most comes first; two alike seldom follow each other.'],
  ['asked', 'Asked most, least sure', 'What people said most often of late, and the model is least sure of.'],
  [
    'unsure',
    'Least sure',
    multi ? 'The model is least sure which intents these have.' : 'The model is least sure of these.',
  ],
  ['unlike', 'Unlike all examples', 'New kinds of texts; many may be out of scope.'],
  ['newest', 'Newest first', 'In the order they came, newest first.'],
  ['random', 'Random', 'A fair sample of what waits.'],
];

const NOT_YET = 'Not yet in this order: the model still reads the texts.';

const isBare = ({suggestions}) => suggestions === null;

const BY_MODEL = [STANDARD, 'asked', 'unsure', 'torn', 'unlike'];

export class Queue {
  items = [];
  waiting = 0; // on the server, including those leased to other browsers
  fetching = false;
  trouble = null; // why the newest texts that were asked for did not come
  #context;
  #client;
  #settled;
  #changed;
  #orders;
  #model = '';
  #answered = false;
  #anew = false; // whether the next answer replaces the texts that are here
  #renewing = false;
  #outdated = false; // whether labels joined after the newest request for answers
  #missed = false; // whether texts were asked for while the server was answering an earlier request
  #leads = []; // texts that come before the order, newest first, each with what is said of so many
  #round = 0; // answers to requests of earlier rounds are dropped

  // `settled` returns ids of decided utterances that the server may not know about yet.
  constructor(context, {client, order, multi, settled, changed}) {
    this.#orders = ordersOf(multi);
    this.#context = context;
    this.#client = client;
    this.#settled = settled;
    this.#changed = changed;
    this.order = order;
  }

  get first() {
    return this.items[0];
  }

  // Words on the texts that come before the order; null once all of them were decided.
  get filter() {
    for (const {ids, wordsOf} of this.#leads) {
      const n = this.items.filter(({id}) => ids.has(id)).length;
      if (n) return wordsOf(n);
    }
    return null;
  }

  get note() {
    if (this.isUnsettled) return NOT_YET;
    return this.filter ?? this.#orders.find(([value]) => value === this.order)?.[2] ?? '';
  }

  // Whether the server has said that there is no text.
  get isDone() {
    return this.#answered && !this.fetching && !this.first;
  }

  take() {
    return this.items.shift();
  }

  putBack(...items) {
    this.items.unshift(...items);
  }

  // The current utterance stays, even if it is one of these; the others follow it. `wordsOf` says of so many that
  // they come first.
  bringForward(items, wordsOf) {
    const [first, ...rest] = this.items;
    const ids = new Set(items.map(item => item.id));
    const others = items.filter(item => item.id !== first?.id);
    this.items = [first, ...others, ...rest.filter(item => !ids.has(item.id))].filter(Boolean);
    this.#leads.unshift({ids, wordsOf});
    this.#changed();
    this.suggest();
  }

  // These come before all others, the current utterance included.
  startWith(items, wordsOf) {
    const ids = new Set(items.map(item => item.id));
    this.items = [...items, ...this.items.filter(item => !ids.has(item.id))];
    this.#leads.unshift({ids, wordsOf});
    this.#changed();
    this.suggest();
  }

  // Whether the order is random or of before, because the model has not scored the texts as they are now.
  get isUnsettled() {
    return BY_MODEL.includes(this.order) && this.#model === 'loading' && this.filter === null;
  }

  // What comes in the order is requested again, and stays until the answer is there: keys in a burst need texts.
  async rearrange() {
    if (this.#anew && this.fetching) return; // under way; asked anew each second, it would never be done
    this.#round += 1;
    this.#anew = true;
    await this.refill();
  }

  // What stays when the others come anew: the current text, and those that come before the order.
  get #staying() {
    return this.items.filter(({id}, place) => !place || this.#leads.some(({ids}) => ids.has(id)));
  }

  // Takes out texts that were decided elsewhere on the page.
  drop(ids) {
    const gone = new Set(ids);
    this.items = this.items.filter(item => !gone.has(item.id));
    this.#changed();
  }

  async reorder(order) {
    this.order = order;
    this.items = [];
    this.#leads = [];
    this.#round += 1;
    this.#changed();
    await this.refill();
  }

  refillIfShort() {
    if (this.items.length < AHEAD) this.refill();
  }

  async refill() {
    if (this.fetching) {
      this.#missed = true;
      return;
    }
    this.fetching = true;
    this.#missed = false;
    const [round, anew] = [this.#round, this.#anew];
    try {
      const held = anew ? this.#staying : this.items;
      const without = [...held.map(item => item.id), ...this.#settled()];
      const found = await this.#fetch(without, held.length);
      if (round === this.#round) this.#add(found, anew);
    } catch (error) {
      this.trouble = error;
      if (!this.items.length) complain(error);
    }
    this.fetching = false;
    // The answer may count a decision as waiting that was saved while it came.
    if (round !== this.#round || (this.#missed && !this.first)) {
      await this.refill();
      return;
    }
    this.#changed();
    this.suggest();
  }

  #fetch(without, held) {
    const asked = new URLSearchParams({
      client: this.#client,
      order: this.order,
      n: held > 1 ? Math.max(1, MOST_AHEAD - held) : FIRST,
      without: without.slice(-MOST_NAMED).join(','),
    });
    return call(`${this.#context.base}/queue?${asked}`);
  }

  // With `anew`, the new texts replace all but those that stay, which get the answers of now.
  #add({items, waiting, model}, anew) {
    if (anew) {
      this.items = this.#staying;
      this.renew();
    }
    this.#anew = false;
    this.#answered = true;
    this.trouble = null;
    const known = new Set([...this.items.map(item => item.id), ...this.#settled()]);
    this.items.push(...items.filter(item => !known.has(item.id)));
    this.waiting = waiting;
    this.#model = model;
  }

  // Utterances that arrived before the model was ready get their suggestions later, once.
  async suggest() {
    const bare = this.items.filter(item => isBare(item));
    const noModel = this.#model === 'none' && this.#context.status.champion === null;
    if (!bare.length || noModel) return;
    const found = await this.#answers(bare.map(item => item.id));
    for (const item of bare) if (isBare(item)) Object.assign(item, found.get(item.id));
    this.#changed();
  }

  // A label has joined the model: the next cards are answered anew before they are shown. The card in view keeps its
  // answer, for a number must not change its meaning under the hand.
  async renew() {
    this.#outdated = true;
    if (this.#renewing) return;
    this.#renewing = true;
    while (this.#outdated) {
      this.#outdated = false;
      await this.#renewNext();
    }
    this.#renewing = false;
  }

  async #renewNext() {
    const next = this.items.slice(1, NEAR + 1).filter(item => item.suggestions);
    if (!next.length) return;
    const found = await this.#answers(next.map(item => item.id));
    // Cards that came with the answers of another model meanwhile keep these.
    for (const item of next) if (this.items.indexOf(item) > 0) Object.assign(item, found.get(item.id));
  }

  // What the model says now, by utterance; nothing if the server cannot be reached.
  async #answers(ids) {
    const found = await call(`${this.#context.base}/suggestions?ids=${ids.join(',')}`).catch(() => []);
    return new Map(
      found.map(({id, suggestions, likely, out_of_scope: isOutside}) => [
        id,
        {suggestions, likely, out_of_scope: isOutside},
      ]),
    );
  }
}
