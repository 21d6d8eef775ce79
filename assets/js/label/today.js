// The day: how many texts are labelled, how quick, and out of how many where the person has set a goal.
import {fill, h} from '../shared/elements.js';
import {ask, guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {number} from '../shared/words.js';

const PAUSE = 3000; // milliseconds between two counts of the server while somebody decides
const COUNTED = 'Texts that you labelled today on any page, out of scope too.';
const NO_GOAL = 'Leave it empty for no goal.';

export class Today {
  #soon = 0;
  #asked = 0; // number of the newest count; older answers are out of date
  #shown = null;
  element = h('span', {class: 'today small soft tabular', 'data-role': 'today'});
  #base;
  #isSaved;

  // `isSaved` returns whether the server knows all decisions.
  constructor(base, isSaved) {
    this.#base = base;
    this.#isSaved = isSaved;
  }

  // Counts anew on the server; returns the last decisions, newest first.
  async load() {
    const asked = (this.#asked += 1);
    const midnight = new Date();
    midnight.setHours(0, 0, 0, 0);
    const today = await call(`${this.#base}/today?since=${encodeURIComponent(midnight.toISOString())}`);
    if (asked === this.#asked || !this.#shown) this.#draw(today);
    return today.last;
  }

  // Counts again after a pause, so that quick decisions leave the server to the next cards.
  loadSoon() {
    this.#soon ||= setTimeout(() => {
      this.#soon = 0;
      if (this.#isSaved()) this.load().catch(() => {}); // else the next count follows
    }, PAUSE);
  }

  // Counts labels as they are given; the server's count follows.
  count(more) {
    this.#asked += 1;
    if (this.#shown) this.#draw({...this.#shown, decided: Math.max(0, this.#shown.decided + more)});
  }

  #draw(today) {
    const {decided, goal, per_minute: perMinute} = today;
    this.#shown = today;
    const pace = perMinute === null ? '' : `, about ${number(Math.max(1, Math.round(perMinute)))} a minute`;
    const words = `${number(decided)}${goal ? ` of ${number(goal)}` : ''} labelled today${pace}`;
    const change = guarded(() => this.#change(goal));
    const title = `${COUNTED} ${goal ? 'Change the goal of the day' : 'Set a goal of the day'}.`;
    const isTold = goal || decided > 0; // a day without a goal begins with nothing to tell
    fill(this.element, isTold && h('button', {class: 'plain', title, 'data-key': 'goal', onclick: change}, words));
  }

  async #change(goal) {
    const field = {
      type: 'number',
      name: 'goal',
      min: 1,
      max: 10000,
      value: goal ?? '',
      'aria-label': 'Texts a day',
    };
    const words = [h('label', {}, h('input', field), ' texts a day'), h('p', {class: 'soft small below'}, NO_GOAL)];
    const given = await ask('Your goal of the day', words, 'Save');
    if (!given) return;
    await call(`${this.#base}/today/goal`, {method: 'PUT', body: {goal: Number(given.goal) || null}});
    await this.load();
  }
}
