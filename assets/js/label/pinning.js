// Pins set on the card, and labels that contradict a pin.
import {toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {pin, tellBrokenPin} from '../shared/pins.js';
import {DECIDES} from '../shared/reach.js';
import {call} from '../shared/rest.js';

export class Pinning {
  #path;
  #intents;
  #chosen;
  #decisions;
  #undo;
  #pins = [];
  #asked = 0; // number of the newest list of pins; older ones are dropped

  // `parts` are the page's chosen intents and decisions; `undo` takes back the decision with a key.
  constructor(base, intents, {chosen, decisions, undo}) {
    this.#path = `${base}/pins`;
    this.#intents = intents;
    this.#chosen = chosen;
    this.#decisions = decisions;
    this.#undo = undo;
  }

  async load() {
    const asked = (this.#asked += 1);
    const pins = await call(this.#path);
    if (asked === this.#asked) this.#pins = pins;
  }

  // What P pins: what the model answers, or in a multi-label project what is marked; null for nothing yet.
  answerOf(item) {
    const {multi} = this.#intents;
    const {intents: marked, create} = this.#chosen.of(item);
    if (create.length) return null; // it has no id before the label is saved
    const intents = multi ? marked : item.out_of_scope ? [] : marked.slice(0, 1);
    const isKnown = intents.length || item.out_of_scope || (multi && this.#chosen.areKnown(item));
    return isKnown ? {intents, words: this.#named(intents)} : null;
  }

  // The pin stands among the decisions.
  async pin(item) {
    const answer = this.answerOf(item);
    if (!answer) {
      const isNew = this.#chosen.of(item).create.length > 0;
      const lacks = isNew ? 'A new intent cannot be pinned yet.' : 'There is no intent to pin yet.';
      toast(lacks, 'Label it first, then pin it on the Try page.');
      return;
    }
    const {intents, words} = answer;
    await pin(this.#path, item.text, intents, words, back => this.#remember(item, intents, words, back));
    await this.load();
  }

  // U takes the pin back while it is the newest act; returns what the Undo of its message does.
  #remember(item, intents, words, back) {
    this.#asked += 1; // a list that is under way lacks it
    this.#pins = [{text: item.text, intents, expected: words, stale: false}, ...this.#pins];
    const takeBack = async () => {
      await back();
      toast('The pin is taken back.');
      await this.load();
    };
    const key = newKey();
    const text = `${item.text}: must get ${words}`;
    this.#decisions.addDone({operation: {key, kind: 'pin'}, item: {id: item.id, text}, takeBack});
    return () => this.#undo(key);
  }

  // Says so where texts that were just labelled are pinned to another answer.
  check(items, kind, {intents = [], create = []}) {
    if (!DECIDES.has(kind)) return;
    // The id of an intent that is created with the label comes from the server.
    const ids = () => [...intents, ...create.map(name => this.#intents.byName.get(name)?.id ?? name)];
    const words = this.#named(intents, create);
    for (const {text} of items) tellBrokenPin(this.#path, this.#pins, {text, ids, words}, () => this.load());
  }

  #named(ids, create = []) {
    const names = [...ids.map(id => this.#intents.byId.get(id)?.name ?? '?'), ...create];
    return names.join(' and ') || this.#intents.nothing;
  }
}
