// Which intents an utterance is going to be labelled with, where there may be several:
// those that the model answers with, until somebody chooses otherwise.

export class ChosenIntents {
  #chosen = new Map(); // by utterance: ids of intents, and names of those that do not exist yet

  clear(item) {
    this.#chosen.delete(item.id);
  }

  // Whether anything says what the label is: a person, or the model, whose answer may be none.
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
