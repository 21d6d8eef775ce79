// Texts that come before all others: those that another page named, that were judged wrong, or that are like some.
import {query, setQuery} from '../shared/address.js';
import {toast} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';
import {plural} from '../shared/words.js';
import {untilAModel} from './card.js';

const SIMILAR = 20;

export class Ahead {
  #context;
  #parts; // the queue, the decisions and the tray

  constructor(context, parts) {
    this.#context = context;
    this.#parts = parts;
  }

  // Ids of utterances that must not be offered again.
  get settled() {
    const {decisions, tray} = this.#parts;
    return [...decisions.settled, ...tray.ids];
  }

  // Another page may name texts to label first.
  async bringNamed() {
    const named = query().get('texts');
    if (!named) return;
    setQuery({texts: ''}); // a reload would ask for what is labelled by then
    await this.bring(named.split(','), 'that another page chose');
  }

  // Shows these texts before all others, if they still wait for a label.
  async bring(ids, which) {
    const found = await call(`${this.#context.base}/suggestions?ids=${encodeURIComponent(ids.join(','))}`);
    const settled = new Set(this.settled);
    const items = found.filter(item => item.labels === null && !settled.has(item.id));
    const words = n => `${plural(n, 'text')} ${which} ${n === 1 ? 'comes' : 'come'} first.`;
    if (!items.length) toast('These texts are labelled already.');
    else this.#parts.queue.startWith(items, words);
  }

  async similarTo(texts) {
    if (this.#context.status.champion === null) {
      toast('Similar texts are found once there is a model.', untilAModel(this.#context.status));
      return;
    }
    const found = await post(`${this.#context.base}/similar`, {texts, n: SIMILAR});
    const settled = new Set(this.settled);
    const near = found.map(one => one.record).filter(record => !settled.has(record.id));
    if (!near.length) {
      toast('Nothing similar waits for a label.');
      return;
    }
    const like = texts.length > 1 ? 'those set aside' : `“${texts[0].slice(0, 50)}”`;
    const items = near.map(({id, text, split, labels, flagged}) => {
      return {id, text, split, labels, flagged, suggestions: null};
    });
    this.#parts.queue.bringForward(items, n => `${plural(n, 'text')} like ${like} ${n === 1 ? 'comes' : 'come'} next.`);
  }
}
