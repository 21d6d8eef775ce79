// The last decisions: sent to the server, listed below the card, each with Undo. After a reload the server names
// the last ones. The newest one of this visit stands on the card, too.
import {fill, h} from '../shared/elements.js';
import {chip} from '../shared/intents.js';
import {complain, toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {Outbox} from '../shared/outbox.js';
import {dropButton} from '../shared/unsaved.js';
import {plural} from '../shared/words.js';

const SHOWN = 10;
const REMEMBERED = 60; // newest decisions whose utterances are not offered again
const SAID = {skip: 'skipped', flag: 'flagged', many: 'accepted', pin: 'pinned'};
const DONE = {skip: 'Skipped', flag: 'Flagged', pin: 'Pinned'};
const LOOKS = {saved: '', saving: 'waiting', late: 'trouble', offline: 'trouble'};

export class Decisions {
  list = h('ol', {class: 'last strip', 'aria-label': 'Last decisions'});
  newest = h('div', {class: 'row decided small soft', role: 'status', 'data-role': 'decided'});
  state = h('span', {class: 'saved', role: 'status', 'data-role': 'saved'});
  #made = [];
  #undone = new Map(); // by key, the decisions that were taken back in this visit and their places in the list
  #acted = false; // whether anything was decided or undone in this visit
  #intents;
  #outbox;
  #undo;
  #kept;

  // `client` is this tab's name. Calls `sent` after each answered batch, `saved` when nothing waits, `undo` with
  // the key of the decision whose Undo was pressed, and `kept` with what was made where the server refused to undo it.
  constructor(context, intents, {client, sent, saved, undo, kept}) {
    this.#intents = intents;
    this.#undo = undo;
    this.#kept = kept;
    this.#outbox = new Outbox(context, client, {
      changed: () => this.#drawState(),
      refused: (operation, outcome) => this.#refused(operation, outcome),
      failed: complain,
      sent,
      saved,
    });
  }

  get unsaved() {
    return this.#outbox.size;
  }

  // Ids of utterances that must not be offered again.
  get settled() {
    const cards = this.#made.slice(-REMEMBERED).filter(({takeBack}) => !takeBack);
    return [...this.pendingIds, ...cards.map(({item}) => item.id)];
  }

  get pendingIds() {
    return this.#outbox.pendingIds;
  }

  async start() {
    await this.#outbox.restore();
    this.#drawState();
    this.draw();
  }

  // Lists decisions of earlier visits, newest first as the server names them, before those of this visit.
  recall(last) {
    const known = new Set([...this.#made.map(({operation}) => operation.key), ...this.#undone.keys()]);
    const pending = new Set(this.pendingIds);
    const earlier = last.filter(one => !known.has(one.key) && !pending.has(one.id)).reverse();
    this.#made.unshift(...earlier.map(asMade));
    this.draw();
  }

  // `marks` are the intents with which the text comes back, null for what the model says.
  add(kind, item, more, marks) {
    const operation = {key: newKey(), kind, id: item.id, seen: item.labels, ...more};
    this.#made.push({operation, item, marks});
    this.#acted = true;
    this.#outbox.add(operation);
    this.#drawLine();
    this.#drawNewest();
  }

  // An act on `n` texts at once, which the server has saved; `takeBack` undoes it there.
  addMany({key, n, takeBack}) {
    const item = {id: '', text: `${plural(n, 'text')} as the model answers`};
    this.addDone({operation: {key, kind: 'many'}, item, takeBack});
  }

  // An act that the server has saved, with its own `takeBack`: on many texts, or a pin.
  addDone(made) {
    this.#made.push(made);
    this.draw();
  }

  // Returns what was made: the operation and its utterance, to decide again, or null if there is nothing to undo.
  // Without a key, the newest decision of this visit is undone. One with a `takeBack` is to be taken back by that.
  undo(key = null) {
    const isIt = ({operation, earlier}) => (key ? operation.key === key : !earlier);
    const place = this.#made.findLastIndex(isIt);
    if (place < 0) return null;
    this.#acted = true;
    const [made] = this.#made.splice(place, 1);
    const {operation, item, takeBack} = made;
    this.#undone.set(operation.key, {made, place});
    if (!takeBack && !this.#outbox.withdraw(operation.key))
      this.#outbox.add({key: newKey(), kind: 'undo', of: operation.key, id: item.id});
    this.draw();
    return made;
  }

  // An undo that is refused, or comes behind a refused decision, has changed nothing.
  #refused({key, of}, {message, hint}) {
    this.#made = this.#made.filter(({operation}) => operation.key !== key);
    const undone = this.#undone.get(of ?? key);
    this.#undone.delete(of ?? key);
    if (undone) this.#keep(undone, of);
    this.draw();
    toast(message, hint, 'bad');
  }

  // What was decided stands in its place again, if it `isSaved`; its text may have been decided anew meanwhile.
  #keep({made, place}, isSaved) {
    const isDecided = this.#made.slice(place).some(({item}) => item.id === made.item.id);
    if (isSaved) this.#made.splice(place, 0, made);
    if (!isDecided) this.#kept(made);
  }

  draw() {
    this.#drawLine();
    const shown = this.#made.slice(-SHOWN).reverse();
    const empty = h('li', {class: 'soft'}, 'What you decide appears here, and can be undone.');
    fill(this.list, shown.length ? shown.map(one => this.#line(one)) : empty);
  }

  // The others stay as they are: a key changes two lines, and the browser lays out no more than these.
  #drawNewest() {
    if (this.#made.length === 1) {
      this.draw();
      return;
    }
    this.list.prepend(this.#line(this.#made.at(-1)));
    if (this.#made.length > SHOWN) this.list.lastElementChild.remove();
  }

  // What U takes back.
  #drawLine() {
    const made = this.#made.findLast(({earlier}) => !earlier);
    fill(this.newest, made ? this.#sentence(made) : 'Nothing decided yet.');
  }

  #sentence({operation, item}) {
    const {kind, key} = operation;
    const undo = {class: 'plain small push', onclick: () => this.#undo(key)};
    const isOne = kind !== 'many';
    const said = item.text.slice(0, 120);
    return [
      h('span', {}, DONE[kind] ?? 'Labelled', ' '),
      isOne ? h('bdi', {class: 'quoted'}, `“${said}”`) : said,
      isOne && !DONE[kind] && [h('span', {}, ' as '), this.#verdict(operation)],
      h('button', undo, 'Undo ', h('kbd', {'aria-hidden': 'true'}, 'U')),
    ];
  }

  #line({operation, item}) {
    const undo = {
      class: 'plain small push',
      'aria-label': `Undo: ${item.text.slice(0, 60)}`,
      onclick: () => this.#undo(operation.key),
    };
    return h(
      'li',
      {'data-id': item.id},
      this.#verdict(operation),
      h('span', {class: 'soft', dir: 'auto'}, item.text.slice(0, 120)),
      h('button', undo, 'Undo'),
    );
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
      saved: this.#acted ? 'all saved' : 'saved as you go',
      saving: 'saving …',
      late: `${plural(size, 'decision')} not saved yet: the studio is slow to answer`,
      offline: `${plural(size, 'decision')} not saved, kept here in this browser`,
    };
    this.state.className = `saved ${LOOKS[state]}`;
    fill(this.state, words[state], this.#outbox.isMissing && dropButton(this.#outbox));
  }
}

// A decision as the server remembers it; undone, its text comes back with the label from before.
function asMade({key, kind, id, text, labels, before}) {
  const item = {id, text, labels: before, split: '', flagged: '', suggestions: null};
  const marks = labels && {intents: labels};
  return {operation: {key, kind, id, intents: labels ?? []}, item, marks, earlier: true};
}
