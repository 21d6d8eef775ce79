// Decisions of this visit: sent to the server, listed beside the card, undone in order.
import {fill, h} from '../shared/elements.js';
import {chip} from '../shared/intents.js';
import {toast} from '../shared/messages.js';
import {plural} from '../shared/words.js';
import {Outbox} from './outbox.js';

const SHOWN = 6;
const REMEMBERED = 60; // newest decisions whose utterances are not offered again
const SAID = {skip: 'skipped', flag: 'flagged'};
const LOOKS = {saved: '', saving: 'waiting', offline: 'trouble'};

export class Decisions {
  list = h('ol', {class: 'last', 'aria-label': 'Last decisions'});
  state = h('span', {class: 'saved', role: 'status', 'data-role': 'saved'});
  #made = [];
  #intents;
  #outbox;

  // Calls `sent` after each answered batch, and `saved` when nothing waits.
  constructor({project, base}, intents, {sent, saved}) {
    this.#intents = intents;
    this.#outbox = new Outbox(project, base, {
      changed: () => this.#drawState(),
      refused: (operation, outcome) => this.#refused(operation, outcome),
      sent,
      saved,
    });
  }

  get unsaved() {
    return this.#outbox.size;
  }

  // Ids of utterances that must not be offered again.
  get settled() {
    return [...this.pendingIds, ...this.#made.slice(-REMEMBERED).map(({item}) => item.id)];
  }

  get pendingIds() {
    return this.#outbox.pendingIds;
  }

  async start() {
    await this.#outbox.restore();
    this.#drawState();
    this.draw();
  }

  add(kind, item, more = {}) {
    const operation = {key: crypto.randomUUID(), kind, id: item.id, seen: item.labels, ...more};
    this.#made.push({operation, item});
    this.#outbox.add(operation);
    this.draw();
  }

  // Returns the utterance to decide again, or null if there is nothing to undo.
  undo() {
    const last = this.#made.pop();
    if (!last) return null;
    const {operation, item} = last;
    if (!this.#outbox.withdraw(operation.key))
      this.#outbox.add({key: crypto.randomUUID(), kind: 'undo', of: operation.key, id: item.id});
    this.draw();
    return item;
  }

  #refused(operation, {message, hint}) {
    this.#made = this.#made.filter(one => one.operation.key !== operation.key);
    this.draw();
    toast(message, hint, 'bad');
  }

  draw() {
    const shown = this.#made.slice(-SHOWN).reverse();
    const empty = h('li', {class: 'soft'}, 'What you decide appears here, and can be undone.');
    fill(this.list, shown.length ? shown.map(one => this.#line(one)) : empty);
  }

  #line({operation, item}) {
    return h('li', {}, this.#verdict(operation), h('span', {class: 'soft'}, item.text.slice(0, 120)));
  }

  #verdict({kind, intents = [], create = []}) {
    if (kind === 'out-of-scope') return this.#intents.nothingChip();
    if (kind !== 'label') return h('span', {class: 'badge'}, SAID[kind] ?? kind);
    const made = create.map(name => chip(this.#intents.byName.get(name), name));
    return [...intents.map(id => chip(this.#intents.byId.get(id))), ...made];
  }

  #drawState() {
    const {state, size} = this.#outbox;
    const words = {
      saved: this.#made.length ? 'all saved' : 'saved as you go',
      saving: 'saving …',
      offline: `${plural(size, 'decision')} kept here, retrying`,
    };
    this.state.className = `saved ${LOOKS[state]}`;
    this.state.textContent = words[state];
  }
}
