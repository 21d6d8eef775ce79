// Type to find any of many intents, or create one in place.
import {fill, h} from './elements.js';
import {chip} from './intents.js';

const MOST_SHOWN = 60;

const plain = text => text.toLowerCase().replace(/[_-]/g, ' ');

export class IntentFinder {
  static #made = 0; // an input names its list by id, so each list needs its own id
  #id = `finder-${(IntentFinder.#made += 1)}`;
  #shown = []; // {intent} or {create: name}
  #at = 0;
  #list;
  #input;

  // `intents` returns the intents to choose from; without `create` no new intent can be made.
  constructor({intents, pick, create = null, label}) {
    Object.assign(this, {intents, pick, create});
    this.#list = h('ul', {id: this.#id, role: 'listbox', 'aria-label': label, hidden: true});
    this.#input = h('input', {
      type: 'search',
      role: 'combobox',
      'aria-expanded': 'false',
      'aria-controls': this.#id,
      'aria-autocomplete': 'list',
      'aria-label': label,
      placeholder: create ? 'Find or create an intent  /' : label,
      autocomplete: 'off',
      maxlength: 200,
      style: {width: '100%'},
      oninput: () => this.#look(),
      onfocus: () => this.#look(),
      onblur: () => this.#draw(),
      onkeydown: event => this.#onKey(event),
    });
    this.element = h('div', {class: 'found'}, this.#input, this.#list);
  }

  open() {
    this.#input.focus();
    this.#input.select();
  }

  #look() {
    const typed = this.#input.value.trim();
    const words = plain(typed).split(/\s+/).filter(Boolean);
    const begins = intent => plain(intent.name).startsWith(words[0] ?? '');
    const fits = intent =>
      words.every(word => plain(intent.name).includes(word));
    this.#shown = this.intents()
      .filter(fits)
      .sort((a, b) => begins(b) - begins(a))
      .slice(0, MOST_SHOWN)
      .map(intent => ({intent}));
    if (this.create && typed && !this.#exists(typed)) this.#shown.push({create: typed});
    this.#at = 0;
    this.#draw();
  }

  #exists(name) {
    return this.intents().some(intent => intent.name.toLowerCase() === name.toLowerCase());
  }

  #draw() {
    const [list, input] = [this.#list, this.#input];
    list.hidden = !this.#shown.length || document.activeElement !== input;
    input.setAttribute('aria-expanded', String(!list.hidden));
    input.setAttribute('aria-activedescendant', list.hidden ? '' : `${this.#id}-${this.#at}`);
    fill(
      list,
      this.#shown.map((one, place) => this.#option(one, place)),
    );
    list.children[this.#at]?.scrollIntoView({block: 'nearest'});
  }

  #option(one, place) {
    const choose = event => {
      event.preventDefault(); // keeps the focus in the input
      this.#take(one);
    };
    return h(
      'li',
      {
        id: `${this.#id}-${place}`,
        role: 'option',
        'aria-selected': String(place === this.#at),
        onmousedown: choose,
      },
      one.intent
        ? chip(one.intent)
        : [h('span', {class: 'badge accent'}, 'new'), `Create “${one.create}”`],
    );
  }

  #take(one) {
    if (!one) return;
    this.#close();
    if (one.intent) this.pick(one.intent);
    else this.create(one.create);
  }

  #close() {
    this.#input.value = '';
    this.#shown = [];
    this.#draw();
    this.#input.blur();
  }

  #onKey(event) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      this.#at = (this.#at + step + this.#shown.length) % Math.max(1, this.#shown.length);
      this.#draw();
    }
    if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      this.#take(this.#shown[this.#at]);
    }
    if (event.key === 'Escape') {
      event.stopPropagation();
      this.#close();
    }
  }
}
