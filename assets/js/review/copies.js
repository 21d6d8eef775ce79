// One act for all examples that stand several times under one label, and one for those that are nearly the same: one of
// each is kept, the others are deleted.
import {fill, h} from '../shared/elements.js';
import {ask, guarded} from '../shared/messages.js';
import {COUNTING, radiusLine, turnsOf} from '../shared/radius.js';
import {post} from '../shared/rest.js';
import {number, plural} from '../shared/words.js';

// What the server calls the texts, and what the page says of them.
const EQUAL = {
  name: 'copies',
  key: 'keep one of each',
  act: 'Keep one of each',
  done: 'Kept one of each',
  about: n => `${plural(n, 'text')} ${n === 1 ? 'stands' : 'stand'} several times under the same label.`,
};
const ALIKE = {
  name: 'alike',
  key: 'keep one of alike',
  act: 'Keep one of those nearly the same',
  done: 'Kept one of those nearly the same',
  about: n =>
    `${plural(n, 'text')} ${n === 1 ? 'has' : 'have'} others that are nearly the same, under the same label. ` +
    'Texts that differ by a “not”, an opposite or a number are not among them.',
};

export class CopiesOffer {
  element = h('div', {class: 'copies row tight', 'data-role': 'copies', hidden: true});
  #tools;
  #copies = null;
  #seen = null; // the revision at which they were counted
  #blasts = new Map(); // what a deletion changes, by its number of texts

  constructor(tools) {
    this.#tools = tools;
  }

  // `found` is what the server answers, or null where there is nothing to do at once.
  show(found) {
    const offers = [EQUAL, ALIKE].filter(({name}) => found?.[name]?.shown.length);
    this.#seen = found?.revision;
    this.element.hidden = !offers.length;
    fill(
      this.element,
      offers.map(words => this.#offer(found[words.name], words)),
    );
  }

  #offer(copies, words) {
    const open = guarded(() => this.#ask(copies, words));
    const n = copies.ids.length || copies.theirs.length;
    const attributes = {class: 'small', 'data-key': words.key, onclick: open};
    return h('button', attributes, `${words.act}: ${deleted(n)} …`);
  }

  async #ask(copies, words) {
    const [{texts, ids, theirs}, seen] = [copies, this.#seen];
    this.#blasts = new Map();
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
      h('p', {}, words.about(texts)),
      h('div', {class: 'reach'}, touched(ids.length), theirs.length > 0 && tick(also, theirs.length)),
      effect,
      words === ALIKE && listOf(copies),
    );
    const asked = ask(`${words.act}?`, content, confirm, 'danger');
    await look();
    if (!(await asked)) return;
    const done = repair();
    const said = `${words.done}: ${plural(done.ids.length, 'text')} deleted`;
    await this.#tools.act(done, said, {seen, blast: this.#blasts.get(done.ids.length) ?? null});
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

// Which text goes, and which one stays in its place: they are not the same, so that a person may look.
function listOf({ids, theirs, shown}) {
  const n = ids.length + theirs.length;
  const which = n > shown.length ? `The first ${number(shown.length)} of ${number(n)}` : 'Which ones';
  const line = ({deleted: goes, kept}) =>
    h('li', {}, h('span', {dir: 'auto'}, `“${goes}”`), h('div', {class: 'soft small', dir: 'auto'}, `“${kept}” stays`));
  const list = h('ul', {class: 'last told', tabindex: 0, 'aria-label': 'Texts'}, shown.map(line));
  return h('details', {'data-role': 'which'}, h('summary', {}, which), list);
}
