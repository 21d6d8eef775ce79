// The intents chosen for each utterance of a multi-label project: the model's answer, until the user changes it.

export class ChosenIntents {
  #chosen = new Map(); // by utterance: ids of intents, and names of new intents

  // Returns the marks of a text that leaves the card. Null if a person has neither set nor saved them: the text comes
  // back with what the model says by then.
  take(item, isSaved = false) {
    const marks = isSaved || this.#chosen.has(item.id) ? this.of(item) : null;
    this.#chosen.delete(item.id);
    return marks;
  }

  bring(item, {intents = [], create = []}) {
    this.#chosen.set(item.id, {intents: new Set(intents), create: new Set(create)});
  }

  // What a person has marked; nothing where only the model has.
  setOf(item) {
    return this.#chosen.has(item.id) ? this.of(item) : {intents: [], create: []};
  }

  // Whether a person or the model has said what the label is; it may be no intent.
  areKnown(item) {
    return this.#chosen.has(item.id) || item.suggestions !== null;
  }

  of(item) {
    const {intents, create} = this.#chosen.get(item.id) ?? {intents: suggested(item), create: []};
    return {intents: [...intents], create: [...create]};
  }

  toggle(item, id) {
    const {intents} = this.#chosenOf(item);
    if (!intents.delete(id)) intents.add(id);
  }

  create(item, name) {
    this.#chosenOf(item).create.add(name);
  }

  forget(item, name) {
    this.#chosenOf(item).create.delete(name);
  }

  #chosenOf(item) {
    const chosen = this.#chosen.get(item.id) ?? {intents: new Set(suggested(item)), create: new Set()};
    this.#chosen.set(item.id, chosen);
    return chosen;
  }
}

const suggested = ({suggestions}) => (suggestions ?? []).filter(one => one.marked).map(one => one.intent_id);
