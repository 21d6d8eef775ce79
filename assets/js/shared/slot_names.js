// The names of a project's slots, the most frequent first; those marked here join them at once.
import {call} from './rest.js';

export class SlotNames {
  all = [];
  #base;

  constructor(base) {
    this.#base = base;
  }

  async load() {
    const {slots} = await call(`${this.#base}/slots?most=1`);
    this.all = [...slots].sort((a, b) => b.count - a.count).map(slot => slot.name);
    return this;
  }

  add(slots) {
    for (const {name} of slots) if (!this.all.includes(name)) this.all.push(name);
  }
}
