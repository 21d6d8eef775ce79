// Decisions of the Label page that were not saved when it was left: every other page sends them, and says above itself
// how many wait.
import {fill, h} from './elements.js';
import {ask, complain, guarded, toast} from './messages.js';
import {newKey} from './new_key.js';
import {Outbox} from './outbox.js';
import {plural} from './words.js';

const LATE = 5000; // milliseconds after which decisions of another open tab are told
const LOOK = 100; // milliseconds between two looks while a page waits for them
const WAYS = {
  offline: 'the studio does not take them now. This browser keeps them, and sends them again by itself.',
  elsewhere: 'waiting in another tab.',
  sending: 'sending …',
};

export class Unsaved {
  element = h('div', {role: 'status', 'data-role': 'unsaved'});
  #outbox;
  #context;
  #listeners = [];
  #saved = 0; // decisions that were saved since the last message
  #timer = 0;
  #isLate = false; // whether decisions of another tab have waited for long

  constructor(context) {
    this.#context = context;
    this.#outbox = new Outbox(context, newKey(), {
      changed: () => this.#draw(),
      refused: (_, {message, hint}) => {
        this.#saved -= 1;
        toast(message, hint, 'bad');
      },
      failed: complain,
      sent: batch => (this.#saved += batch.length),
      saved: () => this.#tellSaved(),
    });
  }

  // How many decisions wait, in this tab and in others.
  get size() {
    return this.#outbox.size + this.#outbox.elsewhere;
  }

  get words() {
    return `${plural(this.size, 'decision')} of Label ${this.size === 1 ? 'is' : 'are'} not saved yet`;
  }

  // Sends what waits; calls nothing on the server if nothing does.
  start() {
    window.addEventListener('storage', () => this.#draw()); // another tab has decided, or saved
    this.#outbox.restore().catch(complain);
    this.#context.onStatus(({id}) => this.#outbox.known(id).catch(complain));
    this.#draw();
  }

  onChange(listener) {
    this.#listeners.push(listener);
    listener();
  }

  // Whether all of them are saved within so many milliseconds.
  async areSavedWithin(patience) {
    const end = performance.now() + patience;
    while (this.size && performance.now() < end) await new Promise(wake => setTimeout(wake, LOOK));
    return !this.size;
  }

  #draw() {
    this.#timeOthers();
    const isTold = this.#outbox.size > 0 || this.#isLate;
    const drop = this.#outbox.isMissing && dropButton(this.#outbox);
    fill(this.element, isTold && h('div', {class: 'note warn'}, `${this.words}: ${WAYS[this.#way]} `, drop));
    for (const listener of this.#listeners) listener();
  }

  get #way() {
    if (!this.#outbox.size) return 'elsewhere';
    return this.#outbox.state === 'offline' ? 'offline' : 'sending';
  }

  // Each decision waits for a moment in the tab in which it was made.
  #timeOthers() {
    if (!this.#outbox.elsewhere) {
      clearTimeout(this.#timer);
      this.#timer = 0;
      this.#isLate = false;
      return;
    }
    this.#timer ||= setTimeout(() => {
      this.#isLate = this.#outbox.elsewhere > 0;
      this.#draw();
    }, LATE);
  }

  #tellSaved() {
    if (this.#saved > 0) toast(`${plural(this.#saved, 'decision')} of Label saved.`);
    this.#saved = 0;
    this.#context.refreshSoon();
  }
}

const GONE =
  'Their project was renamed or deleted. A page of it sends them as soon as it is there again, whatever its name. ' +
  'Dropped, they are lost for good.';

// Gives up decisions of a project that is not there any more, if the user agrees.
export function dropButton(outbox) {
  const drop = async () => {
    const words = `Drop ${plural(outbox.size, 'decision')}?`;
    if (await ask(words, h('p', {}, GONE), 'Drop', 'danger')) outbox.drop();
  };
  return h('button', {class: 'small', type: 'button', 'data-key': 'drop', onclick: guarded(drop)}, 'Drop …');
}
