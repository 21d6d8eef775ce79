// One action on all picked utterances. Its controls stay in place, so a choice survives another pick.
import {fill, h, select} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {IntentFinder} from '../shared/finder.js';
import {icon} from '../shared/icons.js';
import {chip} from '../shared/intents.js';
import {toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
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
  ['move:train', 'Make examples'],
  ['move:test', 'Make test texts'],
  ['move:pool', 'Take out of both sets'],
  ['flag', 'Flag'],
  ['unflag', 'Take the flag away'],
  ['delete', 'Delete'],
  ['erase', 'Erase for good …'],
];

// What an act has done to `n` texts; `named` is its intent, and `nothing` the word for none.
const DONE = {
  label: (n, {named}) => `${plural(n, 'text')} labelled ${named}.`,
  'unlabel:one': (n, {named}) => `${named} is taken away from ${plural(n, 'text')}.`,
  'out-of-scope': (n, {nothing}) => `${plural(n, 'text')} labelled ${nothing}.`,
  unlabel: n => `${plural(n, 'text has', 'texts have')} no label now.`,
  'move:train': n => `${plural(n, 'text is an example', 'texts are examples')} now.`,
  'move:test': n => `${plural(n, 'text is a test text', 'texts are test texts')} now.`,
  'move:pool': n => `${plural(n, 'text is', 'texts are')} in no set now.`,
  flag: n => `${plural(n, 'text')} flagged.`,
  unflag: n => `${plural(n, 'text has', 'texts have')} no flag now.`,
  delete: n => `${plural(n, 'text')} deleted.`,
};

export class Bulk {
  #base;
  #rows;
  #done;
  #picked = h('b', {'data-role': 'picked'});
  #more;
  #action;
  #intents = []; // the open ones, by name
  #chosen = null; // one of them; a new one has a name and no id
  #intent = h('div', {class: 'of-intent'});
  #nothing;
  #several;
  #apply;

  // Calls `done` after the picked rows were changed; `nothing` is the word for no intent; `several` is true in a
  // multi-label project.
  constructor(base, rows, {done, nothing, several}) {
    this.#base = base;
    this.#rows = rows;
    this.#done = done;
    this.#nothing = nothing;
    this.#several = several;
    this.#more = h('button', {class: 'plain', onclick: () => rows.pickAll()});
    const onchange = () => this.#drawIntent();
    this.#action = select({'aria-label': 'What to do', onchange}, actionsOf(nothing, several));
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

  // Nothing can be applied before it is said what. An intent that is not there cannot be taken away.
  #drawIntent() {
    if (this.#action.value === 'unlabel:one' && !this.#chosen?.id) this.#chosen = null;
    this.#intent.hidden = !this.#named;
    this.#apply.disabled = this.#named && !this.#chosen;
    fill(this.#intent, this.#chosen ? this.#change() : this.#finder());
  }

  #finder() {
    const finder = new IntentFinder({
      intents: () => this.#intents,
      pick: intent => this.#choose(intent),
      create: this.#action.value === 'label' ? name => this.#choose({name}) : null,
      left: () => this.#action.focus(),
      label: 'Intent to label with',
      isForMany: true,
      key: '',
    });
    return finder.element;
  }

  #change() {
    const again = () => {
      this.#chosen = null;
      this.#drawIntent();
      this.#intent.querySelector('input').focus();
    };
    const {id, name} = this.#chosen;
    const about = {class: 'plain relabel', 'aria-label': `${name}: choose another intent`, onclick: again};
    const isNew = !id && h('span', {class: 'badge accent'}, 'new');
    return h('button', about, h('span', {class: 'row tight'}, isNew, chip(this.#chosen)), icon('chevrons-up-down'));
  }

  #choose(intent) {
    this.#chosen = intent;
    this.#drawIntent();
    this.#apply.focus();
  }

  // An intent that was new is there after its first act. What is being typed stays.
  offer(intents) {
    this.#intents = intents;
    if (this.#chosen) this.#chosen = this.#offered(this.#chosen);
    if (this.#chosen || !this.#intent.querySelector('input')) this.#drawIntent();
  }

  #offered({id, name}) {
    if (id) return this.#intents.find(one => one.id === id) ?? null;
    return this.#intents.find(one => one.name === name) ?? {name};
  }

  draw() {
    const {picked, mayPickMore, count} = this.#rows;
    this.element.hidden = picked === 0;
    this.#picked.textContent = `${plural(picked, 'text')} picked`;
    this.#more.hidden = !mayPickMore;
    this.#more.textContent = `Pick all ${number(count)} of this filter`;
  }

  async #make() {
    const choice = this.#action.value;
    const [kind, target = ''] = choice.split(':');
    if (kind === 'erase') return this.#erase();
    const {pickedFilter: filter} = this.#rows;
    const {id = '', name} = this.#named ? this.#chosen : {id: target};
    const edit = {filter, kind, value: id};
    const isNew = this.#named && !id;
    const named = isNew ? `“${name}”, a new one` : name;
    const said = this.#action.selectedOptions[0].textContent.replace('…', () => named); // a name may hold “$&”
    const terms = await agree(this.#base, edit, said, {joins: this.#several});
    if (!terms) return null;
    const key = newKey();
    const {changed, left} = await post(`${this.#base}/edits`, {...edit, create: isNew ? name : '', key, ...terms});
    const words = DONE[choice](changed, {named, nothing: this.#nothing});
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
