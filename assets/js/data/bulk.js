// One action on all picked utterances. Its controls stay in place, so a choice survives another pick.
import {h, offer, select} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {toast} from '../shared/messages.js';
import {agree, leftWords} from '../shared/reach.js';
import {post} from '../shared/rest.js';
import {undoing} from '../shared/undoing.js';
import {number, plural} from '../shared/words.js';
import {erase} from './erasing.js';

const actionsOf = (nothing, several) => [
  ['label', several ? 'Add the intent …' : 'Give the intent …'],
  ...(several ? [['unlabel:one', 'Take away the intent …']] : []),
  ['out-of-scope', `Give “${nothing}”`],
  ['unlabel', several ? 'Take all labels away' : 'Take the label away'],
  ['move:train', 'Make training texts'],
  ['move:test', 'Make test texts'],
  ['move:pool', 'Neither training nor test'],
  ['flag', 'Flag'],
  ['unflag', 'Take the flag away'],
  ['delete', 'Delete'],
  ['erase', 'Erase for good …'],
];

const UNCHOSEN = ['', 'Choose an intent …'];

export class Bulk {
  #base;
  #rows;
  #done;
  #picked = h('b', {'data-role': 'picked'});
  #more;
  #action;
  #intent;
  #several;
  #apply;

  // Calls `done` after the picked rows were changed; `nothing` is the word for no intent; `several` is true in a
  // multi-label project.
  constructor(base, rows, {done, nothing, several}) {
    this.#base = base;
    this.#rows = rows;
    this.#done = done;
    this.#several = several;
    this.#more = h('button', {class: 'plain', onclick: () => rows.pickAll()});
    const onchange = () => this.#chosen();
    this.#action = select({'aria-label': 'What to do', onchange}, actionsOf(nothing, several));
    this.#intent = select({'aria-label': 'Intent to label with', onchange}, [UNCHOSEN]);
    this.#apply = busyButton('Apply', () => this.#make(), {class: 'primary', disabled: true});
    this.element = h(
      'div',
      {class: 'bulk row', hidden: true},
      this.#picked,
      this.#more,
      h('span', {class: 'push'}),
      this.#action,
      this.#intent,
      this.#apply,
    );
  }

  // Whether the chosen action is about one intent.
  get #named() {
    return ['label', 'unlabel:one'].includes(this.#action.value);
  }

  // Nothing can be applied before it is said what.
  #chosen() {
    this.#intent.hidden = !this.#named;
    this.#apply.disabled = this.#named && !this.#intent.value;
  }

  offer(intents) {
    const named = intents.map(({id, name}) => [id, name]);
    offer(this.#intent, [UNCHOSEN, ...named], this.#intent.value);
    this.#chosen();
  }

  draw() {
    const {picked, mayPickMore, count} = this.#rows;
    this.element.hidden = picked === 0;
    this.#picked.textContent = `${plural(picked, 'text')} picked`;
    this.#more.hidden = !mayPickMore;
    this.#more.textContent = `Pick all ${number(count)} of this filter`;
  }

  async #make() {
    const [kind, target = ''] = this.#action.value.split(':');
    if (kind === 'erase') return this.#erase();
    const {pickedFilter: filter} = this.#rows;
    const value = this.#named ? this.#intent.value : target;
    const name = this.#intent.selectedOptions[0]?.textContent;
    const said = this.#action.selectedOptions[0].textContent.replace('…', name);
    const terms = await agree(this.#base, {filter, kind, value}, said, {joins: this.#several});
    if (!terms) return null;
    const key = crypto.randomUUID();
    const {changed, left} = await post(`${this.#base}/edits`, {filter, kind, value, key, ...terms});
    const words = `${plural(changed, 'text')}: ${said.toLowerCase()}.`;
    toast(words, leftWords(left), 'good', undoing(this.#base, key, this.#done));
    this.#rows.unpick();
    return this.#done();
  }

  // Nothing brings an erased text back, so it must have been seen: texts of other pages are not taken.
  async #erase() {
    const texts = this.#rows.pickedTexts;
    if (!texts) return toast('Erase the texts of one page at a time.', 'Nothing brings them back.', 'bad');
    if (!(await erase(this.#base, texts))) return null;
    this.#rows.unpick();
    return this.#done();
  }
}
