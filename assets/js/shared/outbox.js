// Decisions on their way to the server: kept in order, sent together, each with its own key.
// Unsaved decisions survive a reload, a crash of the tab and a network failure: the project's next page sends them.
import {keptAs} from './address.js';
import {call, post} from './rest.js';

const SHORTEST_WAIT = 300; // milliseconds before a failed message is sent again
const LONGEST_WAIT = 8000;
const LATEST_PAINT = 100; // milliseconds that a decision waits for the next card to be drawn
const LATE = 5000; // milliseconds without an answer after which a person is told
const LOOK = 4000; // milliseconds between two looks for decisions of tabs that were closed
const MOST = 200; // operations in one message
// Of the whole message: the project was renamed or deleted, and may come back. Another one may have its name.
const MISSING = 404;
const MAY_PASS = new Set([401, MISSING, 408, 429]); // HTTP statuses after which another try may succeed

export class Outbox {
  #path;
  #base;
  #project;
  #id; // the project's number, null until it is known
  #client;
  #hears;
  #pending = [];
  #sending = new Set();
  #failing = false;
  #isLate = false;
  #isMissing = false;

  // `client` is this tab's name, under which unsaved decisions are stored. Callbacks in `hears`: `changed` on any
  // change, `refused` with an operation and its outcome, `failed` with the error when the server begins to answer that
  // it cannot save, `sent` when a batch was answered, `saved` when the outbox is empty.
  constructor({project, base, status}, client, hears) {
    this.#path = `${base}/ops`;
    this.#base = base;
    this.#project = project;
    this.#id = status?.id ?? null;
    this.#client = client;
    this.#hears = hears;
  }

  // Decisions are kept under the project's number, which stays when it is renamed; by earlier releases under its name.
  get #prefixes() {
    return [`/${this.#id}`, this.#project].map(name => keptAs(`outbox:${name}:`));
  }

  get #store() {
    return this.#prefixes[0] + this.#client;
  }

  get #others() {
    return this.#prefixes.flatMap(storedUnder).filter(name => name !== this.#store);
  }

  get size() {
    return this.#pending.length;
  }

  get state() {
    if (!this.size) return 'saved';
    if (this.#failing) return 'offline';
    return this.#isLate ? 'late' : 'saving';
  }

  get pendingIds() {
    return this.#pending.map(operation => operation.id);
  }

  // Whether the server no longer knows this project by its name.
  get isMissing() {
    return this.#failing && this.#isMissing;
  }

  // How many decisions wait in other tabs.
  get elsewhere() {
    return this.#others.reduce((n, name) => n + operationsIn(name).length, 0);
  }

  // Gives up what waits in this tab; the page begins anew, so that nothing of it is still on its way.
  drop() {
    this.#pending = [];
    this.#keep();
    location.reload();
  }

  // Takes over and sends unsaved decisions of this tab, and of tabs that are closed, now and later.
  async restore() {
    if (this.#id !== null) this.#begin();
    await this.#takeOver();
    if (!navigator.locks) return; // no tab can tell which ones are open
    setInterval(() => this.#takeOver(), LOOK);
    window.addEventListener('online', () => this.#takeOver());
  }

  #begin() {
    this.#take(this.#store);
    hold(this.#store);
  }

  // An open tab sends its own.
  async #takeOver() {
    if (this.#id === null) await this.#identify();
    if (this.#id === null) return;
    for (const name of this.#others) await ifFree(name, () => this.#take(name));
  }

  // Asks for the project's number where the browser keeps any decision.
  async #identify() {
    if (!storedUnder(keptAs('outbox:')).length) return;
    const status = await call(`${this.#base}/status`).catch(() => null); // it is asked for again
    if (status) this.#know(status.id);
  }

  // The page's own status tells the project's number, too.
  async known(id) {
    if (this.#id !== null) return;
    this.#know(id);
    await this.#takeOver();
  }

  #know(id) {
    if (this.#id !== null) return;
    this.#id = id;
    this.#begin();
    this.#hears.changed();
  }

  #take(name) {
    const found = operationsIn(name);
    if (name !== this.#store) localStorage.removeItem(name);
    if (!found.length) return;
    this.#pending.push(...found);
    this.#keep();
    this.#hears.changed();
    this.#flush();
  }

  add(operation) {
    this.#pending.push(operation);
    this.#keep();
    this.#hears.changed();
    afterPaint(() => this.#flush());
  }

  // A decision that was not sent yet is removed.
  withdraw(key) {
    const place = this.#pending.findIndex(operation => operation.key === key);
    if (place < 0 || this.#sending.has(key)) return false;
    this.#pending.splice(place, 1);
    this.#keep();
    this.#hears.changed();
    return true;
  }

  // If the browser's storage is full, decisions wait in this tab's memory only.
  #keep() {
    try {
      if (this.size) localStorage.setItem(this.#store, JSON.stringify(this.#pending));
      else localStorage.removeItem(this.#store);
    } catch (error) {
      console.warn('decisions are kept in this tab alone', error);
    }
  }

  async #flush() {
    if (this.#sending.size || !this.size) return;
    const batch = this.#pending.slice(0, MOST);
    this.#sending = new Set(batch.map(operation => operation.key));
    const late = setTimeout(() => {
      this.#isLate = true;
      this.#hears.changed();
    }, LATE);
    const byKey = await this.#send(batch).finally(() => {
      clearTimeout(late);
      this.#isLate = false;
      this.#sending = new Set();
    });
    this.#pending = this.#pending.filter(operation => !byKey.has(operation.key));
    this.#keep();
    this.#hears.changed();
    for (const operation of batch) {
      const outcome = byKey.get(operation.key);
      if (outcome && outcome.state !== 'saved') this.#hears.refused(operation, outcome);
    }
    this.#hears.sent(batch);
    if (!this.size) this.#hears.saved();
    this.#flush();
  }

  // Returns the outcomes by key. What is none, though it came as an answer, is a failure like any other.
  async #send(batch) {
    for (let wait = SHORTEST_WAIT; ; wait = Math.min(LONGEST_WAIT, 2 * wait)) {
      try {
        const headers = this.#id === null ? {} : {'Project-Number': this.#id};
        const byKey = keyed(await post(this.#path, batch, {headers}));
        this.#failing = false;
        return byKey;
      } catch (error) {
        if (isFinal(error)) {
          this.#failing = false;
          return keyed(batch.map(({key}) => refusal(key, error)));
        }
        if (!this.#failing && error.status) this.#hears.failed(error);
        this.#isMissing = error.status === MISSING;
        this.#failing = true;
        this.#hears.changed();
        await pauseOrOnline(wait);
      }
    }
  }
}

// The server would refuse such an operation again, so it is not retried.
const isFinal = ({status}) => status >= 400 && status < 500 && !MAY_PASS.has(status);
const keyed = outcomes => new Map(outcomes.map(outcome => [outcome.key, outcome]));
const refusal = (key, {message, hint}) => ({key, state: 'refused', message, hint});

const pauseOrOnline = wait =>
  Promise.race([
    new Promise(wake => setTimeout(wake, wait)),
    new Promise(wake => window.addEventListener('online', wake, {once: true})),
  ]);

// The next card is drawn first; what is sent would take a processor from it. A hidden tab draws nothing.
function afterPaint(act) {
  const late = setTimeout(act, LATEST_PAINT);
  requestAnimationFrame(() => {
    clearTimeout(late);
    setTimeout(act);
  });
}

const storedUnder = prefix => Object.keys(localStorage).filter(name => name.startsWith(prefix));

function operationsIn(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? [];
  } catch {
    return []; // an incomplete line from a crashed tab
  }
}

// The lock is released when its tab closes, so two tabs never send the same backlog.
function hold(name) {
  navigator.locks?.request(name, () => new Promise(() => {}));
}

async function ifFree(name, act) {
  if (navigator.locks) await navigator.locks.request(name, {ifAvailable: true}, lock => lock && act());
  else act();
}
