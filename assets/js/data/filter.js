// Filter and order of the utterances, held in the address so that a link shows the same rows.
import {query, setQuery} from '../shared/address.js';
import {Drawer} from '../shared/drawer.js';
import {field, fill, h, offer, select} from '../shared/elements.js';
import {number, SETS} from '../shared/words.js';

const PAUSE = 60; // milliseconds without typing before a search is sent
const SPLITS = [['', 'any set'], ...Object.entries(SETS)];
const USES = {
  train: 'What a training learns from',
  test: 'They check the model, which never learns from them',
  unlabelled: 'They become examples when they get a label',
};
const CHECKING = '; those labelled out of scope check what is refused';
const statesOf = nothing => [
  ['', 'any state'],
  ['unlabelled', 'unlabelled'],
  ['labelled', 'labelled'],
  ['out-of-scope', nothing],
  ['skipped', 'skipped'],
  ['flagged', 'flagged'],
];
const ORDERS = [
  ['newest', 'newest first'],
  ['oldest', 'oldest first'],
  ['changed', 'last changed first'],
  ['text', 'from A to Z'],
];
const NAMES = {intent: 'Intent', second: 'And also', split: 'Set', state: 'State of the label', order: 'Order'};
const MISLED =
  'Texts with a word of another intent’s name and none of their own: they are easily mistaken';
const DISAGREES = 'Labelled texts to which the model would give another label: the label or the model is wrong';

export class Filter {
  page = 0;
  splits = h('div', {
    class: 'row tight push',
    role: 'group',
    'aria-label': 'Texts by set',
    'data-role': 'splits',
  });
  #values; // filter and order
  #changed;
  #counts = null;
  #intents = []; // id and name of each
  #timer = 0;
  #search;
  #selects;
  #second; // the field of a second intent; it is there once a first one is chosen
  #differs;
  #borderline;
  #more = h('button', {class: 'more-filters', 'aria-expanded': 'false'}, 'More filters');
  #chosen = h('span', {class: 'cut'}); // what the filter restricts, on the button that opens it on a phone
  #known; // the intents of the project, and its words

  // Calls `changed` when other rows are to be shown.
  constructor(intents, changed) {
    this.#known = intents;
    const given = query();
    this.#changed = changed;
    this.page = Number(given.get('page') ?? 0);
    this.#values = {
      text: given.get('text') ?? '',
      intent: given.get('intent') ?? '',
      second: (intents.multi && given.get('intent') && given.get('second')) || '', // of a set with both
      split: given.get('split') ?? '',
      state: given.get('state') ?? '',
      differs: given.get('differs') === 'true',
      borderline: given.get('borderline') === 'true',
      order: given.get('order') ?? 'newest',
    };
    this.#makeControls();
  }

  #makeControls() {
    this.#search = h('input', {
      type: 'search',
      placeholder: 'Search',
      maxlength: 1000,
      title: 'Search in texts (key /)',
      'aria-label': 'Search in texts',
      value: this.#values.text,
      style: {'min-width': '160px', flex: '1'},
      oninput: () => this.#searchSoon(),
    });
    this.#selects = {
      intent: this.#choice('Intent', [], 'intent'),
      second: this.#choice('And also', [], 'second'),
      split: this.#choice('Set', SPLITS, 'split'),
      state: this.#choice('State of the label', statesOf(this.#known.nothing), 'state'),
      order: this.#choice('Order', ORDERS, 'order'),
    };
    this.#differs = h('input', {
      type: 'checkbox',
      checked: this.#values.differs,
      onchange: event => this.#change({differs: event.target.checked}),
    });
    const differs = h(
      'label',
      {class: 'check', title: DISAGREES},
      this.#differs,
      'answer differs from the label',
    );
    this.#borderline = h('input', {
      type: 'checkbox',
      checked: this.#values.borderline,
      onchange: event => this.#change({borderline: event.target.checked}),
    });
    const misled = h('label', {class: 'check', title: MISLED}, this.#borderline, 'has a word of another intent’s name');
    const about = {class: 'row filters', role: 'group', 'aria-label': 'Filter'};
    const named = name => field(NAMES[name], this.#selects[name]);
    const rare = h('div', {class: 'row end rare'}, ['split', 'order'].map(named), differs, misled);
    this.#second = named('second');
    const ofSets = this.#known.multi && this.#second;
    const choices = h('div', about, named('intent'), ofSets, named('state'), this.#more, rare);
    this.#more.addEventListener('click', () => this.#fold(this.#isUnfolded));
    const first = () => this.#selects.intent;
    const drawer = new Drawer(choices, {name: 'Filter', content: this.#chosen, first});
    choices.append(drawer.closer);
    this.element = h('div', {class: 'row end'}, this.#search, drawer.opener, choices);
    this.#say();
    this.#fold(!this.#inForce);
  }

  #say() {
    const {differs, borderline, text, ...chosen} = this.#values;
    const words = Object.entries(chosen).map(([name, value]) => {
      const option = [...this.#selects[name].options].find(one => one.value === value);
      return value && (name !== 'order' || value !== 'newest') && option?.textContent;
    });
    const said = [...words, differs && 'answer differs', borderline && 'word of another name'].filter(Boolean);
    this.#fold(!this.#isUnfolded);
    this.#second.hidden = !chosen.intent;
    this.#chosen.textContent = said.length ? `Filter: ${said.join(' · ')}` : 'Filter';
  }

  // Folded filters that restrict; a chip shows whether a set is chosen that has one.
  get #inForce() {
    const {split, order, differs, borderline} = this.#values;
    return [split === 'pool', order !== 'newest', differs, borderline].filter(Boolean).length;
  }

  get #isUnfolded() {
    return this.#more.getAttribute('aria-expanded') === 'true';
  }

  #fold(isFolded) {
    this.#more.setAttribute('aria-expanded', String(!isFolded));
    const n = this.#inForce;
    const counted = n ? ` (${n})` : '';
    this.#more.textContent = isFolded ? `More filters${counted}` : 'Fewer filters';
  }

  #choice(label, options, name) {
    const change = event => this.#change({[name]: event.target.value});
    return select({'aria-label': label, onchange: change}, options, this.#values[name]);
  }

  // What a saved filter keeps: the fields that restrict, and an order other than the first.
  get kept() {
    const {order, ...fields} = this.#values;
    const set = Object.entries(fields).filter(([, value]) => value);
    const kept = set.map(([name, value]) => [name, String(value)]);
    return Object.fromEntries(order === 'newest' ? kept : [...kept, ['order', order]]);
  }

  // Sets the filter to a saved one; fields that it does not hold restrict nothing.
  set(kept) {
    const {text = '', intent = '', second = '', split = '', state = '', order = 'newest'} = kept;
    const chosen = {intent, second, split, state, order};
    this.#search.value = text;
    this.#offerIntents(intent, second);
    for (const [name, value] of Object.entries(chosen)) this.#selects[name].value = value;
    this.#differs.checked = kept.differs === 'true';
    this.#borderline.checked = kept.borderline === 'true';
    this.#change({text, ...chosen, differs: this.#differs.checked, borderline: this.#borderline.checked});
    this.#fold(!this.#inForce);
  }

  // The filter as the server reads it.
  get asked() {
    const {text, intent, second, split, state, differs, borderline} = this.#values;
    const set = {intent: intent || null, second: second || null, split: split || null, state: state || null};
    return {text, ...set, differs, borderline};
  }

  // The same as query parameters, with the current page.
  parameters(size) {
    const asked = new URLSearchParams({order: this.#values.order, page: this.page, size});
    for (const [name, value] of Object.entries(this.asked)) if (value) asked.set(name, value);
    return asked;
  }

  focus() {
    this.#search.focus();
  }

  offer(intents) {
    this.#intents = intents.map(({id, name, archived}) => [id, archived ? `${name} (archived)` : name]);
    this.#offerIntents(this.#values.intent, this.#values.second);
    this.#say();
  }

  // A link or a saved filter may ask for one that is there no more: its name is not known, and no text has it.
  // The second list leaves the first intent out: it narrows nothing.
  #offerIntents(first, second) {
    for (const [name, chosen, none] of [
      ['intent', first, 'any intent'],
      ['second', second, 'any or none'],
    ]) {
      const isKnown = !chosen || this.#intents.some(([id]) => id === chosen);
      const gone = isKnown ? [] : [[chosen, 'an intent that is gone']];
      const offered = name === 'second' ? this.#intents.filter(([id]) => id !== first) : this.#intents;
      offer(this.#selects[name], [['', none], ...offered, ...gone], chosen);
    }
  }

  // Shows how many texts each set has; a click shows those alone, a second one all again.
  count(counts) {
    this.#counts = counts;
    this.#drawSplits();
  }

  #drawSplits() {
    if (!this.#counts) return;
    const {by_split: sizes, unlabelled} = this.#counts;
    const sets = ['train', 'test'].map(name => this.#chip('split', name, `${SETS[name]} ${number(sizes[name] ?? 0)}`));
    fill(this.splits, sets, this.#chip('state', 'unlabelled', `unlabelled ${number(unlabelled)}`));
  }

  #chip(name, value, words) {
    const chosen = this.#values[name] === value;
    const show = () => {
      this.#selects[name].value = chosen ? '' : value;
      this.#change({[name]: this.#selects[name].value});
    };
    const pressed = {'aria-pressed': String(chosen), 'data-key': `${name} ${value}`};
    const more = value === 'train' && !this.#known.multi ? CHECKING : '';
    const title = USES[value] && `${USES[value]}${more}`;
    return h('button', {class: 'small', ...pressed, title, onclick: show}, words);
  }

  turn(pages) {
    this.page += pages;
    setQuery({page: this.page || ''});
  }

  clear() {
    const {order} = this.#values;
    this.set({order});
  }

  #searchSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#change({text: this.#search.value}), PAUSE);
  }

  #change(values) {
    this.page = 0;
    Object.assign(this.#values, values);
    const {intent, second, order} = this.#values;
    if (!intent || intent === second) this.#values.second = this.#selects.second.value = '';
    if ('intent' in values) this.#offerIntents(intent, this.#values.second);
    setQuery({...this.#values, page: '', order: order === 'newest' ? '' : order});
    this.#drawSplits();
    this.#say();
    this.#changed();
  }
}
