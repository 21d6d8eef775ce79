// The names of a project's slots, the most frequent first; those marked here join them at once.
import {call} from './rest.js';

export class SlotNames {
  all = [];
  #base;
  #known = null;
  #asked = 0;

  constructor(base) {
    this.#base = base;
  }

  // Asks for them, and asks again after `forget`, or where no answer came.
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
