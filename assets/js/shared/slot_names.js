// Names of a project's slots, most frequent first; names marked on this page are added at once.
import {call} from './rest.js';

export class SlotNames {
  all = [];
  #base;
  #known = null;
  #asked = 0;

  constructor(base) {
    this.#base = base;
  }

  // Loads the names; loads again after `forget` or after a failure.
  load() {
    this.#known ??= this.#ask();
    return this.#known;
  }

  forget() {
    this.#known = null;
  }

  async #ask() {
    const asked = (this.#asked += 1);
    const {slots} = await call(`${this.#base}/slots?most=1`).catch(error => {
      this.forget();
      throw error;
    });
    if (asked !== this.#asked) return;
    this.all = [...slots].sort((a, b) => b.count - a.count).map(slot => slot.name);
  }

  add(slots) {
    for (const {name} of slots) if (!this.all.includes(name)) this.all.push(name);
  }
}
