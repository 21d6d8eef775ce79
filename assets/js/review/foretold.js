// What changes would do to answers, asked of the server when their lines come into sight.
import {fill, h} from '../shared/elements.js';
import {COUNTING, radiusLine} from '../shared/radius.js';
import {post} from '../shared/rest.js';

const AT_ONCE = 10; // repairs that the server takes in one request
const PAUSE = 80; // milliseconds in which lines come into sight together

export class Foretold {
  #path;
  #lines = new Map(); // changes that are not asked about yet, by their line
  #wanted = [];
  #timer = 0;
  #turn = 0; // lines of an earlier turn are gone
  #asking = Promise.resolve();
  #sight = new IntersectionObserver(entries => this.#see(entries));

  constructor(base) {
    this.#path = `${base}/review/what-if`;
  }

  // Forgets all lines, since they are drawn anew.
  clear() {
    this.#turn += 1;
    this.#sight.disconnect();
    this.#lines.clear();
    this.#wanted = [];
  }

  // The line of a change: `repair`, and `blast`, which is set when it is known.
  lineOf(change) {
    const line = h('span', {class: 'small soft'}, COUNTING);
    this.#lines.set(line, change);
    this.#sight.observe(line);
    return line;
  }

  // Waits until a change in sight is known; where that fails its line says why.
  async known(change) {
    if (change.blast) return;
    this.#askAll();
    await this.#asking;
  }

  #see(entries) {
    for (const {isIntersecting, target} of entries) {
      if (!isIntersecting || !this.#lines.has(target)) continue;
      this.#sight.unobserve(target);
      this.#wanted.push([target, this.#lines.get(target)]);
      this.#lines.delete(target);
    }
    clearTimeout(this.#timer);
    if (this.#wanted.length) this.#timer = setTimeout(() => this.#askAll(), PAUSE);
  }

  #askAll() {
    while (this.#wanted.length) {
      const [some, turn] = [this.#wanted.splice(0, AT_ONCE), this.#turn];
      this.#asking = this.#asking.then(() => turn === this.#turn && this.#ask(some));
    }
  }

  async #ask(some) {
    try {
      const found = await post(this.#path, {repairs: some.map(([, {repair}]) => repair)});
      some.forEach(([line, change], place) => {
        change.blast = found[place];
        fill(line, radiusLine(change.blast, change.repair.kind));
      });
    } catch (error) {
      for (const [line] of some) fill(line, error.message);
    }
  }
}
