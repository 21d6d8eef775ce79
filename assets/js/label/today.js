// The day's goal: how many texts are decided today, how quick, and out of how many.
import {fill, h} from '../shared/elements.js';
import {ask, guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {number} from '../shared/words.js';

const PAUSE = 3000; // milliseconds between two counts while somebody decides

export class Today {
  #soon = 0;
  element = h('span', {class: 'today small soft tabular', 'data-role': 'today'});
  #base;

  constructor(base) {
    this.#base = base;
  }

  // Counts anew on the server; returns the last decisions, newest first.
  async load() {
    const midnight = new Date();
    midnight.setHours(0, 0, 0, 0);
    const today = await call(`${this.#base}/today?since=${encodeURIComponent(midnight.toISOString())}`);
    this.#draw(today);
    return today.last;
  }

  // Counts again after a pause, so that quick decisions leave the server to the next cards.
  loadSoon() {
    this.#soon ||= setTimeout(() => {
      this.#soon = 0;
      this.load().catch(() => {}); // the next count follows
    }, PAUSE);
  }

  #draw({decided, goal, per_minute: perMinute}) {
    const pace = perMinute === null ? '' : `, about ${number(Math.max(1, Math.round(perMinute)))} a minute`;
    const words = `${number(decided)} of ${number(goal)} today${pace}`;
    const change = guarded(() => this.#change(goal));
    fill(
      this.element,
      h(
        'button',
        {class: 'plain', title: 'Change the goal of the day', 'data-key': 'goal', onclick: change},
        words,
      ),
    );
  }

  async #change(goal) {
    const field = {
      type: 'number',
      name: 'goal',
      min: 1,
      max: 10000,
      value: goal,
      'aria-label': 'Texts a day',
    };
    const given = await ask(
      'Your goal of the day',
      h('label', {}, h('input', field), ' texts a day'),
      'Save',
    );
    if (!given?.goal) return;
    await call(`${this.#base}/today/goal`, {method: 'PUT', body: {goal: Number(given.goal)}});
    await this.load();
  }
}
