// What the keys and buttons of the card do with its text. A key that finds no text is reported, never lost in silence.
import {complain, toast} from '../shared/messages.js';
import {Unheard} from '../shared/unheard.js';
import {plural} from '../shared/words.js';

export class Deciding {
  #queue;
  #decisions;
  #chosen;
  #tray;
  #hears;
  #multi;
  #unheard = new Unheard(n => this.#report(n)); // keys that found no text

  // `parts` are the page's queue, decisions, chosen intents and tray. Calls `drawn` when another text is on the
  // card, `counted` with the number of texts that wait for a label more (or fewer) than before, and
  // `labelled` with texts, the kind of a decision and its terms.
  constructor({queue, decisions, chosen, tray}, multi, hears) {
    this.#queue = queue;
    this.#decisions = decisions;
    this.#chosen = chosen;
    this.#tray = tray;
    this.#multi = multi;
    this.#hears = hears;
  }

  // The text on the card; null, which is reported, if there is none.
  text() {
    const {first} = this.#queue;
    if (first) this.#unheard.heard();
    else this.#unheard.count();
    return first ?? null;
  }

  #report(n) {
    const why = this.#queue.fetching ? 'The next texts are on their way.' : 'No text waits here.';
    return [`${plural(n, 'key')} came while no text was shown: nothing was saved for them.`, why];
  }

  decide(kind, more = {}) {
    if (!this.text()) return;
    const item = this.#queue.take();
    this.#decisions.add(kind, item, more, this.#chosen.take(item, kind === 'label'));
    this.#hears.counted(-1, labels(kind));
    this.#next();
    this.#hears.labelled([item], kind, more);
  }

  #next() {
    this.#hears.drawn();
    this.#queue.refillIfShort();
  }

  give(intent) {
    if (!this.#multi) {
      this.#decideOn(intent.id);
      return;
    }
    const item = this.text();
    if (!item) return;
    this.#chosen.toggle(item, intent.id);
    this.#hears.drawn();
  }

  // An intent, or with an empty id none of them.
  #decideOn(id) {
    if (id) this.decide('label', {intents: [id]});
    else this.decide('out-of-scope');
  }

  // A new intent becomes the label, or in a multi-label project one of the label's intents.
  create(name) {
    if (!this.#multi) {
      this.decide('label', {create: [name]});
      return;
    }
    const item = this.text();
    if (!item) return;
    this.#chosen.create(item, name);
    this.#hears.drawn();
  }

  // What the model says, as the card shows it first.
  accept() {
    const item = this.text();
    if (!item) return;
    if (this.#multi && this.#chosen.areKnown(item)) {
      const {intents, create} = this.#chosen.of(item);
      if (intents.length || create.length) this.decide('label', {intents, create});
      else this.decide('out-of-scope');
      return;
    }
    const best = item.out_of_scope ? '' : item.suggestions?.[0]?.intent_id;
    if (best !== undefined) this.#decideOn(best);
    else toast('There is no suggestion yet.', 'Press a number on the card, or / to find any intent.');
  }

  // Without a key, the newest decision of this visit is undone.
  undo(key = null) {
    const undone = this.#decisions.undo(key);
    if (!undone) {
      if (key) toast('It is taken back already.');
      else toast('Nothing of this visit is left to undo.', 'Use the Undo beside an earlier decision.');
      return;
    }
    if (undone.takeBack) {
      this.#takeBack(undone);
      return;
    }
    const {operation, item, marks} = undone;
    if (this.#multi && marks) this.#chosen.bring(item, marks);
    this.#hears.counted(1, labels(operation.kind));
    this.putBack(item);
  }

  // An act on many texts, or a pin; it can be tried again, unless somebody has changed the same since.
  async #takeBack(made) {
    try {
      await made.takeBack();
    } catch (error) {
      if (error.status !== 409) this.#decisions.addDone(made);
      complain(error);
    }
  }

  // Where the server has refused to undo a decision, all is as before.
  keep({operation, item}) {
    this.#chosen.take(item);
    this.#tray.forget([item]);
    this.#queue.drop([item.id]);
    this.#hears.counted(-1, labels(operation.kind));
    this.#queue.refillIfShort();
  }

  putBack(item) {
    this.#queue.putBack(item);
    this.#hears.drawn();
    this.#queue.suggest();
  }

  intoTray() {
    const item = this.text();
    if (!item) return;
    this.#tray.add(this.#queue.take(), this.#chosen.setOf(item));
    this.#next();
  }

  labelAll(items, how) {
    for (const item of items) this.#decisions.add('label', item, how, how);
    this.#hears.counted(-items.length, true);
    this.#next();
    this.#hears.labelled(items, 'label', how);
  }
}

// Whether a decision gives a label; a skipped or flagged text gets none.
const labels = kind => kind !== 'skip' && kind !== 'flag';
