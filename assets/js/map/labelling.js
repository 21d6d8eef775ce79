// Labels the selected texts together: what it changes is counted first, and Undo stays in the panel.
import {fill, h} from '../shared/elements.js';
import {IntentFinder} from '../shared/finder.js';
import {chip} from '../shared/intents.js';
import {guarded, once, toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {Newest, whenLabelsCount} from '../shared/newest.js';
import {Reach, leftWords} from '../shared/reach.js';
import {post} from '../shared/rest.js';
import {undoing} from '../shared/undoing.js';
import {capital, number, plural} from '../shared/words.js';

const MOST = 20000; // texts of one act
const NONE_FREE = 'No text here is unlabelled: tick first what else may change';

export class Labelling {
  element = h('div');
  #context;
  #base;
  #intents;
  #done;
  #ids = [];
  #target = null; // kind, value and chip of the chosen label
  #reach;
  #chosen = h('div', {class: 'row tight', 'data-role': 'chosen-label'});
  #button = h('button', {class: 'primary', 'data-key': 'label', onclick: once(() => this.#label())});
  #newest = new Newest(({back}) => back());
  #flag = h('button', {'data-key': 'flag', onclick: once(() => this.#flagAll())});
  #outside = h('button', {'data-key': 'out-of-scope', onclick: guarded(() => this.#chooseNone())});
  #tests = 0; // selected texts of the test set

  // Calls `done` after the texts were changed, or changed back.
  constructor(context, intents, done) {
    const {base} = context;
    this.#context = context;
    this.#base = base;
    this.#intents = intents;
    this.#done = done;
    this.#reach = new Reach(base, {joins: intents.multi, hears: () => this.#drawButton()});
    document.addEventListener('keydown', event => {
      if (this.#newest.element.isConnected) this.#newest.onKey(event);
    });
  }

  // The newest act with its Undo, whatever the panel shows.
  get newest() {
    return this.#newest.element;
  }

  // Whether a text will be labelled as it is ticked now.
  takes({labels, split}) {
    const {kind, value} = this.#edit;
    if (split === 'test') return this.#reach.allows('test');
    if (kind === 'label' && labels?.includes(value)) return true;
    return labels === null || this.#reach.allows('labelled');
  }

  // A new selection starts without a label and without a tick.
  start(ids) {
    this.#target = null;
    this.#reach.reset();
    this.#ids = ids;
    this.#tests = 0;
    fill(this.element, ids.length > MOST ? tooMany() : this.#controls());
    this.#drawButton();
  }

  async count(ids) {
    this.#ids = ids;
    if (ids.length && ids.length <= MOST) await Promise.all([this.#reach.count(this.#edit), this.#countTests(ids)]);
    else this.#drawButton();
  }

  // A flag takes those of the test set, too, and so says how many they are: a deletion would spare them.
  async #countTests(ids) {
    const {counts} = await post(`${this.#base}/edits/count`, {filter: {ids}, kind: 'delete'});
    if (ids !== this.#ids) return;
    this.#tests = counts.test;
    this.#drawButton();
  }

  get #edit() {
    const {kind = 'label', value = ''} = this.#target ?? {};
    return {filter: {ids: this.#ids}, kind, value};
  }

  #controls() {
    const finder = new IntentFinder({
      intents: () => this.#intents.open,
      label: 'Choose the label',
      pick: intent => this.#choose({kind: 'label', value: intent.id, name: intent.name, chip: chip(intent)}),
    });
    this.#outside.textContent = capital(this.#intents.nothing);
    return [
      this.#reach.element,
      h('div', {class: 'around'}, finder.element),
      this.#chosen,
      h(
        'div',
        {class: 'row around'},
        this.#button,
        this.#outside,
        this.#flag,
      ),
    ];
  }

  async #chooseNone() {
    const {nothing} = this.#intents;
    await this.#choose({kind: 'out-of-scope', value: '', name: nothing, chip: this.#intents.nothingChip()});
  }

  async #choose(target) {
    this.#target = target;
    this.#drawButton();
    await guarded(() => this.count(this.#ids))();
    this.#button.focus();
  }

  #drawButton() {
    const n = this.#reach.number;
    const them = this.#ids.length === 1 ? 'it' : 'them';
    fill(this.#chosen, this.#target && [h('span', {class: 'soft'}, `Label ${them}`), this.#target.chip]);
    this.#button.disabled = !this.#target || !n;
    this.#button.textContent = n === null ? 'Label …' : n ? `Label ${plural(n, 'text')}` : 'No text to label';
    this.#outside.disabled = n === 0; // nothing is unlabelled, and nothing else is ticked
    this.#outside.title = n === 0 ? NONE_FREE : '';
    const flagged = this.#ids.length === 1 ? '1 text' : `all ${number(this.#ids.length)}`;
    this.#flag.textContent = `Flag ${flagged}${this.#tests ? ` (${this.#testWords})` : ''}`;
    this.element.dispatchEvent(new CustomEvent('reach', {bubbles: true}));
  }

  get #testWords() {
    return this.#ids.length === 1 ? 'a test text' : plural(this.#tests, 'test text');
  }

  async #label() {
    const {name} = this.#target;
    await this.#send({...this.#edit, ...this.#reach.terms}, `labelled ${name}`, whenLabelsCount(this.#context.status));
  }

  async #flagAll() {
    const flag = {filter: {ids: this.#ids}, kind: 'flag', value: ''}; // a note that is there stays
    await this.#send({...flag, expected: this.#ids.length}, `flagged${this.#tests ? `, ${this.#testWords}` : ''}`);
  }

  async #send(edit, said, about = '') {
    const key = newKey();
    try {
      const {changed, left} = await post(`${this.#base}/edits`, {...edit, key});
      const words = [`${plural(changed, 'text')} ${said}.`, leftWords(left)].filter(Boolean).join(' ');
      if (changed) this.#newest.add({words, about, isSaved: true, back: undoing(this.#base, key, this.#done)});
      else toast(words); // there is nothing to undo
      this.#reach.reset(); // a tick is for one act
    } finally {
      await this.#done(); // also after a refusal, so that the counts are those of now
    }
  }
}

const tooMany = () =>
  h('p', {class: 'warn'}, `Up to ${number(MOST)} texts can be labelled together. Draw a smaller lasso.`);
