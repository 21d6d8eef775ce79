// The legend: names by the alphabet, colours, shapes and counts, with a search; pressed entries are shown alone.
import {Drawer} from '../shared/drawer.js';
import {breaking, fill, h} from '../shared/elements.js';
import {plain} from '../shared/finder.js';
import {number} from '../shared/words.js';
import {SHAPES, shapeOf} from './scene.js';

const STEPS = {ArrowDown: 1, ArrowUp: -1};
const OF_INTENTS = new Set(['intent', 'prediction']); // other entries have an order of their own

// What the signs on the map mean, as far as no entry says it.
function signsOf(used, entries, {hasGroups, nothing}) {
  const kinds = !used.some(({kind}) => kind) && `Small dots have no label, crosses are labelled ${nothing}.`;
  const isOther = entry => !entry.kind && shapeOf(entries.indexOf(entry), entry.kind) > 0;
  const shapes = used.some(isOther) && 'Shapes only tell apart intents of similar colours.';
  const groups = hasGroups && 'Names in italics are groups of Discover, without a label.';
  return [kinds, shapes, groups].filter(Boolean).join(' ');
}

export class Legend {
  element;
  #drawer;
  #by = '';
  #entries = [];
  #hasGroups = false; // whether names of groups stand on the map
  #alone = new Set(); // entries shown alone, named with their way of colouring; codes change when an entry is added
  #away = new Set(); // entries hidden by their button, named likewise
  #first = new Set(); // entries that another panel asked for: on top, so that all of them are in sight
  #glanced = null; // code of the entry under the pointer
  #hears;
  #nothing;
  #search = h('input', {
    type: 'search',
    placeholder: 'Find in the legend',
    'aria-label': 'Find in the legend',
    maxlength: 200,
    oninput: () => this.#draw(),
  });
  #all = h(
    'button',
    {class: 'plain push', 'data-role': 'show-all', onclick: () => this.showAll()},
    'Show all',
  );
  #heading = h('h2');
  #list = h('ul', {class: 'entries'});
  #signs = h('p', {class: 'soft small', 'data-role': 'signs'});

  // `nothing` is the word for no intent. Callbacks in `hears`: `hidden` with the codes of points to hide; `glanced`
  // with codes to point out for a moment.
  constructor(nothing, hears) {
    this.#nothing = nothing;
    this.#hears = hears;
    const about = {class: 'sheet legend', 'aria-label': 'Legend', onkeydown: event => this.#onKey(event)};
    this.element = h('section', about);
    this.#drawer = new Drawer(this.element, {name: 'Legend', first: () => this.#search});
    const head = h('div', {class: 'row'}, this.#heading, this.#all, this.#drawer.closer);
    this.element.append(head, this.#search, this.#list, this.#signs);
  }

  // The button that opens the legend where there is no room beside the map.
  get opener() {
    return this.#drawer.opener;
  }

  // Shows the entries of these names alone.
  showAlone(names) {
    this.#first = new Set(names.map(name => this.#nameOf({name})));
    this.#isolate(this.#first, new Set());
    this.#list.scrollTop = 0;
  }

  showAll() {
    this.#isolate(new Set(), new Set());
  }

  // Entries that are shown alone stay so when colours are loaded again.
  show(by, entries, islands) {
    if (by !== this.#by) this.#search.value = '';
    this.#by = by;
    this.#entries = entries;
    this.#hasGroups = islands.some(({kind}) => kind === 'group');
    this.#draw();
  }

  get by() {
    return this.#by;
  }

  // Codes of the points that are not shown.
  get hidden() {
    const codes = [...this.#entries.keys()];
    const isIn = names => code => names.has(this.#nameOf(this.#entries[code]));
    const isAlone = isIn(this.#alone);
    if (codes.some(isAlone)) return new Set(codes.filter(code => !isAlone(code)));
    return new Set(codes.filter(isIn(this.#away)));
  }

  // The first press shows an entry alone; then each press adds one or takes one out, and without any all are shown.
  #press(entry) {
    const name = this.#nameOf(entry);
    const others = this.#aloneHere.filter(one => one !== name);
    this.#isolate(new Set(this.#alone.has(name) ? others : [...others, name]));
  }

  // Of this way of colouring.
  get #aloneHere() {
    return [...this.#alone].filter(one => one.startsWith(`${this.#by}: `));
  }

  #hide(entry) {
    const name = this.#nameOf(entry);
    const others = [...this.#away].filter(one => one !== name);
    this.#isolate(new Set(), new Set(this.#away.has(name) ? others : [...others, name]));
  }

  #isolate(alone, away = this.#away) {
    this.#alone = alone;
    if (!alone.size) this.#first = new Set();
    this.#away = away;
    this.#glanced = null;
    this.#draw();
    this.#hears.hidden(this.hidden);
  }

  #nameOf({name}) {
    return `${this.#by}: ${name}`;
  }

  #draw() {
    const words = plain(this.#search.value).split(/\s+/).filter(Boolean);
    const used = this.#inOrder(this.#entries.filter(entry => entry.count > 0));
    const found = used.filter(({name}) => words.every(word => plain(name).includes(word)));
    const {hidden} = this;
    const seen = used.filter(entry => !hidden.has(this.#entries.indexOf(entry)));
    this.#heading.textContent = hidden.size
      ? `${number(seen.length)} of ${number(used.length)} shown`
      : 'Legend';
    this.#all.hidden = !hidden.size;
    const row = entry => h('li', {}, this.#button(entry, hidden), entry.kind && this.#hider(entry));
    const none = h('li', {class: 'soft'}, 'Nothing by that name.');
    fill(this.#list, found.length ? found.map(row) : none);
    this.#signs.textContent = signsOf(used, this.#entries, {hasGroups: this.#hasGroups, nothing: this.#nothing});
    this.#stop(this.#list.querySelector('[aria-pressed=true]') ?? this.#list.querySelector('.entry'));
  }

  // What is no intent stands on top, because there is most of it.
  #inOrder(entries) {
    if (!OF_INTENTS.has(this.#by)) return entries;
    const kinds = ['unlabelled', 'outside', '']; // skipped texts are of the first kind
    const rank = entry => (this.#first.has(this.#nameOf(entry)) ? -1 : kinds.indexOf(entry.kind));
    return entries.sort((a, b) => rank(a) - rank(b) || (a.kind ? 0 : a.name.localeCompare(b.name)));
  }

  #hider(entry) {
    const isAway = this.#away.has(this.#nameOf(entry));
    const about = {class: 'plain hider', 'data-key': `hide ${entry.name}`};
    const words = isAway ? 'Show' : 'Hide';
    const act = {'aria-label': `${words} ${entry.name}`, onclick: () => this.#hide(entry)};
    return h('button', {...about, ...act}, words);
  }

  #button(entry, hidden) {
    const code = this.#entries.indexOf(entry);
    const isAlone = this.#alone.has(this.#nameOf(entry));
    const about = {
      class: `plain entry${hidden.has(code) ? ' spared' : ''}`,
      'aria-pressed': String(isAlone),
      'data-key': entry.name,
      title: this.#deed(isAlone),
      tabindex: -1,
      onclick: () => this.#press(entry),
      onpointermove: event => this.#glance(event, code),
      onpointerleave: event => this.#glance(event, null),
    };
    const shape = `${SHAPES[shapeOf(code, entry.kind)]} ${entry.kind}`;
    return h(
      'button',
      about,
      h('i', {class: `shape ${shape}`, style: {'--dot': entry.colour}}),
      h('span', {class: 'grow'}, breaking(entry.name)),
      h('span', {class: 'soft tabular'}, number(entry.count)),
    );
  }

  // What a press does.
  #deed(isAlone) {
    const n = this.#aloneHere.length;
    if (isAlone) return n > 1 ? 'Take this out' : 'Show all again';
    return n ? 'Show this as well' : 'Show only this';
  }

  // Only a pointer that moves points something out, not an entry that comes to lie under it.
  #glance({pointerType, movementX, movementY}, code) {
    if (pointerType !== 'mouse' || code === this.#glanced || (code !== null && !movementX && !movementY)) return;
    this.#glanced = code;
    this.#hears.glanced(new Set(code === null ? [] : [code]));
  }

  // One entry is reached by Tab, the others from it by the arrow keys.
  #stop(button) {
    this.#list.querySelector('.entry[tabindex="0"]')?.setAttribute('tabindex', -1);
    button?.setAttribute('tabindex', 0);
  }

  #onKey(event) {
    const buttons = [...this.#list.querySelectorAll('.entry')];
    const at = buttons.indexOf(document.activeElement);
    const step = STEPS[event.key];
    if (!step || (at < 0 && document.activeElement !== this.#search)) return;
    event.preventDefault();
    if (at + step < 0) this.#search.focus();
    else buttons[at + step]?.focus();
    if (buttons[at + step]) this.#stop(buttons[at + step]);
  }
}
