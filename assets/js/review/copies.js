// One act for all examples that stand several times under one label: one of each is kept, the others are deleted.
import {fill, h} from '../shared/elements.js';
import {ask, guarded} from '../shared/messages.js';
import {COUNTING, radiusLine, turnsOf} from '../shared/radius.js';
import {post} from '../shared/rest.js';
import {plural} from '../shared/words.js';

export class CopiesOffer {
  element = h('div', {class: 'copies', 'data-role': 'copies', hidden: true});
  #tools;
  #copies = null;
  #seen = null; // the revision at which they were counted
  #blasts = new Map(); // what a deletion changes, by its number of texts

  constructor(tools) {
    this.#tools = tools;
  }

  // `copies` are those of the findings that are listed, or null where there is nothing to do at once.
  show(copies, seen) {
    this.#copies = copies;
    this.#seen = seen;
    this.#blasts = new Map();
    this.element.hidden = !copies;
    const open = {class: 'small', 'data-key': 'keep one of each', onclick: guarded(() => this.#ask())};
    const n = copies && (copies.ids.length || copies.theirs.length);
    fill(this.element, copies && h('button', open, `Keep one of each: ${deleted(n)} …`));
  }

  async #ask() {
    const [{texts, ids, theirs}, seen] = [this.#copies, this.#seen];
    const effect = h('div', {role: 'status', 'data-role': 'effect'});
    const confirm = h('span', {'data-role': 'confirm'});
    const also = h('input', {type: 'checkbox', name: 'theirs', onchange: guarded(() => look())});
    const repair = () => ({kind: 'delete', ids: also.checked ? [...ids, ...theirs] : ids});
    const look = () => {
      const n = repair().ids.length;
      confirm.textContent = `Delete ${plural(n, 'text')}`;
      const button = confirm.closest('button');
      if (button) button.disabled = !n;
      return this.#tell(effect, repair);
    };
    const content = h(
      'div',
      {class: 'stack'},
      h('p', {}, `${plural(texts, 'text')} ${texts === 1 ? 'stands' : 'stand'} several times under the same label.`),
      h('div', {class: 'reach'}, touched(ids.length), theirs.length > 0 && tick(also, theirs.length)),
      effect,
    );
    const asked = ask('Keep one of each?', content, confirm, 'danger');
    await look();
    if (!(await asked)) return;
    const done = repair();
    const words = `Kept one of each: ${plural(done.ids.length, 'text')} deleted`;
    await this.#tools.act(done, words, {seen, blast: this.#blasts.get(done.ids.length) ?? null});
  }

  // Tells what the deletion does to answers as it is ticked now.
  async #tell(effect, repair) {
    const asked = repair();
    const n = asked.ids.length;
    fill(effect, n > 0 && COUNTING);
    if (!n) return;
    try {
      if (!this.#blasts.has(n)) {
        const [blast] = await post(`${this.#tools.base}/review/what-if`, {repairs: [asked]});
        this.#blasts.set(n, blast);
      }
      const blast = this.#blasts.get(n);
      if (n === repair().ids.length) fill(effect, radiusLine(blast, 'delete'), turnsOf(blast, 'delete'));
    } catch (error) {
      if (n === repair().ids.length) fill(effect, h('p', {class: 'soft small'}, error.message));
    }
  }
}

const deleted = n => `${plural(n, 'text')} ${n === 1 ? 'is' : 'are'} deleted`;

const touched = n => [
  n > 0 && h('span', {}, `${plural(n, 'labelled text')} ${n === 1 ? 'is' : 'are'} deleted`),
  h('span', {class: 'soft small'}, 'No unlabelled text and no test text is among them.'),
];

const tick = (box, n) =>
  h('label', {class: 'check'}, box, `Also ${plural(n, 'text')} that somebody else labelled`);
