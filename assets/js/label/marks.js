// Which intents the utterance on the card is going to be labelled with, where there may be several:
// those that the model answers with, until somebody chooses otherwise.

export class Marks {
  #intents = null; // ids, as soon as somebody has chosen
  #create = new Set(); // names of intents that do not exist yet

  clear() {
    this.#intents = null;
    this.#create.clear();
  }

  // Whether anything says what the label is: a person, or the model, whose answer may be none.
  areKnown(item) {
    return this.#intents !== null || item.suggestions !== null;
  }

  of(item) {
    return {intents: [...(this.#intents ?? suggested(item))], create: [...this.#create]};
  }

  toggle(item, id) {
    const chosen = this.#chosenOf(item);
    if (!chosen.delete(id)) chosen.add(id);
  }

  create(item, name) {
    this.#chosenOf(item);
    this.#create.add(name);
  }

  forget(name) {
    this.#create.delete(name);
  }

  #chosenOf(item) {
    this.#intents ??= new Set(suggested(item));
    return this.#intents;
  }
}

const suggested = ({suggestions}) =>
  (suggestions ?? []).filter(one => one.marked).map(one => one.intent_id);
