// Decisions on their way to the server: kept in order, sent as one backlog, each known by its key.
// What is not saved yet outlives a reload, a crash of the tab and a cut network.
import {call} from './studio.js';

const SHORTEST_WAIT = 300,
  LONGEST_WAIT = 8000,
  MOST = 200;

export class Outbox {
  constructor(project, base, {changed, refused, saved}) {
    this.store = `outbox:${project}:${sessionStorage.getItem('client')}`;
    this.prefix = `outbox:${project}:`;
    this.base = base;
    this.changed = changed;
    this.refused = refused;
    this.saved = saved;
    this.onSaved = async () => {};
    this.pending = [];
    this.sending = new Set();
    this.failing = false;
  }

  get size() {
    return this.pending.length;
  }
  get busy() {
    return this.pending.length > 0;
  }
  get state() {
    return !this.busy ? 'saved' : this.failing ? 'offline' : 'saving';
  }
  pendingIds() {
    return this.pending.map(entry => entry.operation.id);
  }

  // Takes over what this tab, or one that is gone, could not save.
  async restore() {
    const mine = [];
    for (const name of Object.keys(localStorage).filter(key => key.startsWith(this.prefix))) {
      if (name !== this.store && (await held(name))) continue;
      try {
        mine.push(...JSON.parse(localStorage.getItem(name)));
      } catch {
        /* half a line of a crashed tab */
      }
      localStorage.removeItem(name);
    }
    hold(this.store);
    this.pending.push(...mine);
    this.keep();
    this.flush();
    return [];
  }

  add(operation, item) {
    this.pending.push({operation, item});
    this.keep();
    this.changed();
    this.flush();
  }

  // A decision that has not left yet is simply forgotten.
  withdraw(key) {
    const place = this.pending.findIndex(entry => entry.operation.key === key);
    if (place < 0 || this.sending.has(key)) return false;
    this.pending.splice(place, 1);
    this.keep();
    this.changed();
    return true;
  }

  // A full store of the browser keeps nobody from deciding: what waits is then in this tab alone.
  keep() {
    try {
      if (this.pending.length) localStorage.setItem(this.store, JSON.stringify(this.pending));
      else localStorage.removeItem(this.store);
    } catch (error) {
      console.warn('decisions are kept in this tab alone', error);
    }
  }

  async flush() {
    if (this.sending.size || !this.pending.length) return;
    const batch = this.pending.slice(0, MOST).map(entry => entry.operation);
    this.sending = new Set(batch.map(operation => operation.key));
    const outcomes = await this.send(batch);
    this.sending = new Set();
    const byKey = new Map(outcomes.map(outcome => [outcome.key, outcome]));
    this.pending = this.pending.filter(entry => !byKey.has(entry.operation.key));
    this.keep();
    this.changed();
    for (const operation of batch) {
      const outcome = byKey.get(operation.key);
      if (outcome && outcome.state !== 'saved') this.refused(operation, outcome);
    }
    await this.onSaved(batch);
    if (!this.pending.length) this.saved();
    this.flush();
  }

  async send(batch) {
    for (let wait = SHORTEST_WAIT; ; wait = Math.min(LONGEST_WAIT, 2 * wait)) {
      try {
        const outcomes = await call(this.base + '/ops', {method: 'POST', body: batch});
        this.failing = false;
        return outcomes;
      } catch (error) {
        // What the server understood and refuses will not be welcome later either.
        if (error.status >= 400 && error.status < 500 && ![401, 408, 429].includes(error.status)) {
          this.failing = false;
          return batch.map(operation => ({
            key: operation.key,
            state: 'refused',
            message: error.message,
            hint: error.hint,
          }));
        }
        this.failing = true;
        this.changed();
        await Promise.race([
          new Promise(wake => setTimeout(wake, wait)),
          new Promise(wake => window.addEventListener('online', wake, {once: true})),
        ]);
      }
    }
  }
}

// A lock lives as long as its tab, so that two tabs never send the same backlog.
function hold(name) {
  navigator.locks?.request(name, () => new Promise(() => {}));
}
async function held(name) {
  if (!navigator.locks) return false;
  return (await navigator.locks.query()).held.some(lock => lock.name === name);
}
