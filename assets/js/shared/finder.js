// Type to find one of many: words in any order, arrow keys, Enter. An intent can also be created in place.
import {fill, h} from './elements.js';
import {chip} from './intents.js';
import {untilReleased} from './pressed.js';
import {number} from './words.js';

const MOST_SHOWN = 300;
const KEY = matchMedia('(pointer: coarse)').matches ? '' : '  /'; // a finger presses none

export const plain = text => text.toLowerCase().replace(/[_-]/g, ' ');

// Returns the choices whose words hold all that is typed, in any order; those that begin with it come first.
export function fitting(choices, typed, wordsOf) {
  const asked = plain(typed).split(/\s+/).filter(Boolean);
  const read = choices.map(choice => [choice, plain(wordsOf(choice))]);
  const begins = words => words.startsWith(asked[0] ?? '');
  return read
    .filter(([, words]) => asked.every(word => words.includes(word)))
    .sort(([, a], [, b]) => begins(b) - begins(a))
    .map(([choice]) => choice);
}

// A search field with a list of choices under it.
export class Finder {
  static #made = 0; // an input names its list by id, so each list needs its own id
  #id = `finder-${(Finder.#made += 1)}`;
  #shown = [];
  #more = 0; // choices that fit and are not listed
  #at = 0;
  #typed = null; // the words to which `#at` belongs
  #isAsked = false; // whether Enter was pressed with nothing marked, and marked what the next one takes
  #list;
  #nothing = h('p', {class: 'soft nothing', role: 'status'});
  #input;
  #choices;
  #draws;
  #takes;
  #left;
  #isSure;

  // `choices` returns what fits the typed words, `draws` what shows a choice, `takes` is called with the chosen one,
  // `left` on Escape. Enter takes the first choice if `isSure` says so of it and the typed words.
  constructor({choices, draws, takes, left = () => {}, isSure = () => true, label, placeholder}) {
    this.#choices = choices;
    this.#draws = draws;
    this.#takes = takes;
    this.#left = left;
    this.#isSure = isSure;
    this.#list = h('ul', {id: this.#id, role: 'listbox', 'aria-label': label, hidden: true});
    this.#input = h('input', {
      type: 'search',
      role: 'combobox',
      'aria-expanded': 'false',
      'aria-controls': this.#id,
      'aria-autocomplete': 'list',
      'aria-label': label,
      placeholder,
      autocomplete: 'off',
      maxlength: 200,
      style: {width: '100%'},
      oninput: () => this.look(),
      onfocus: () => this.look(),
      // without the list the page may be shorter, and scroll away under a click
      onblur: () => untilReleased().then(() => this.#draw()),
      onkeydown: event => this.#onKey(event),
    });
    this.element = h('div', {class: 'found'}, this.#input, this.#list, this.#nothing);
  }

  open() {
    this.#input.focus();
    this.#input.select();
  }

  // Lists what fits now; to be called when there is more to choose from.
  look() {
    const typed = this.#input.value.trim();
    const fits = this.#choices(typed);
    this.#shown = fits.slice(0, MOST_SHOWN);
    this.#more = fits.length - this.#shown.length;
    const [first] = this.#shown;
    const start = first && this.#isSure(first, typed) ? 0 : -1;
    // Choices that arrive late leave the place that an arrow has reached.
    const isReached = typed === this.#typed && this.#at >= 0;
    this.#isAsked &&= isReached;
    this.#at = isReached ? Math.min(this.#at, this.#shown.length - 1) : start;
    this.#typed = typed;
    this.#draw();
  }

  #draw() {
    const [list, input] = [this.#list, this.#input];
    list.hidden = !this.#shown.length || document.activeElement !== input;
    const isLost = this.#typed && !this.#shown.length && document.activeElement === input;
    const isOpen = !list.hidden && this.#typed && this.#at < 0;
    const again = this.#isAsked && !list.hidden && 'Enter again takes what is marked; arrow keys choose another.';
    fill(this.#nothing, isLost ? 'Nothing found.' : isOpen ? 'Choose one: arrow keys, then Enter.' : again);
    input.setAttribute('aria-expanded', String(!list.hidden));
    input.setAttribute('aria-activedescendant', list.hidden || this.#at < 0 ? '' : `${this.#id}-${this.#at}`);
    const options = this.#shown.map((choice, place) => this.#option(choice, place));
    fill(list, options, this.#more > 0 && moreLine(this.#more));
    list.children[this.#at]?.scrollIntoView({block: 'nearest'});
  }

  #option(choice, place) {
    const choose = event => {
      event.preventDefault(); // keeps the focus in the input
      this.#take(choice);
    };
    const selected = String(place === this.#at);
    const attributes = {
      id: `${this.#id}-${place}`,
      role: 'option',
      'aria-selected': selected,
      onmousedown: choose,
    };
    return h('li', attributes, this.#draws(choice));
  }

  #take(choice) {
    if (!choice) return;
    this.#close();
    this.#takes(choice);
  }

  // What was typed itself is among the choices where it can be made.
  #markOne() {
    if (!this.#typed) return;
    const whole = this.#shown.findIndex(choice => this.#isSure(choice, this.#typed));
    this.#at = this.#shown.length ? Math.max(0, whole) : -1;
    this.#isAsked = this.#at >= 0;
    this.#draw();
  }

  #close() {
    this.#isAsked = false;
    this.#input.value = '';
    this.#typed = null;
    this.#shown = [];
    this.#more = 0;
    this.#draw();
    this.#input.blur();
  }

  #onKey(event) {
    if (event.isComposing) {
      event.stopPropagation(); // the key is for the list of signs to choose from, and for nothing on the page
      return;
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const from = this.#at < 0 && step < 0 ? 0 : this.#at;
      this.#at = (from + step + this.#shown.length) % Math.max(1, this.#shown.length);
      this.#isAsked = false;
      this.#draw();
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      event.stopPropagation();
      if (event.repeat) return; // held down, it would take at once what it has only marked
      if (this.#at < 0) this.#markOne();
      else this.#take(this.#shown[this.#at]);
    }
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      this.#close();
      this.#left();
    }
  }
}

// The last line of a list that does not show all; a press on it leaves the field as it is.
const moreLine = n =>
  h(
    'li',
    {class: 'soft', role: 'option', 'aria-disabled': 'true', onmousedown: event => event.preventDefault()},
    `${number(n)} more: type a part of the name`,
  );

export class IntentFinder {
  #finder;
  #intents;
  #create;

  // `intents` returns the intents to choose from; without `create` no new intent can be made. In an act on many texts,
  // Enter takes a whole name alone: “calendar”, meant as a new intent, labelled thirty as “calendar_update”.
  // `key` opens it on its page. `left` is called on Escape.
  constructor({intents, pick, create = null, label, isForMany = false, key = KEY, left}) {
    this.#intents = intents;
    this.#create = create;
    this.#finder = new Finder({
      choices: typed => this.#fitting(typed),
      draws: ({intent, name}) =>
        intent ? chip(intent) : [h('span', {class: 'badge accent'}, 'new'), `Create “${name}”`],
      takes: ({intent, name}) => (intent ? pick(intent) : create(name)),
      isSure: ({intent, name}, typed) => !isForMany || plain(intent?.name ?? name) === plain(typed),
      left,
      label,
      placeholder: create ? `Find or create an intent${key}` : label,
    });
  }

  get element() {
    return this.#finder.element;
  }

  open() {
    this.#finder.open();
  }

  #fitting(typed) {
    const isWhole = ({name}) => plain(name) === plain(typed);
    const fits = fitting(this.#intents(), typed, intent => intent.name);
    const found = fits.toSorted((one, other) => isWhole(other) - isWhole(one));
    const shown = found.map(intent => ({intent}));
    const isNew = this.#create && typed && !this.#exists(typed);
    if (isNew) shown.splice(MOST_SHOWN - 1, 0, {name: typed}); // the last one that is listed
    return shown;
  }

  #exists(name) {
    return this.#intents().some(intent => intent.name.toLowerCase() === name.toLowerCase());
  }
}
