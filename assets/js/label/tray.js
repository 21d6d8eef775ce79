// The tray: utterances set aside, to be labelled together. The browser remembers which, also after a reload.
import {keptAs} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {IntentFinder} from '../shared/finder.js';
import {call} from '../shared/rest.js';
import {number, plural} from '../shared/words.js';

const AT_ONCE = 100; // texts that one request can name

export class Tray {
  element = h('section', {class: 'sheet', 'aria-label': 'Set aside', hidden: true});
  #items = [];
  #awaited = []; // ids of texts of before a reload, until the server has named the texts
  #base;
  #store;
  #finder;
  #intents;
  #give; // labels all
  #marked = {intents: new Set(), create: new Set()}; // what all are labelled with, in a multi-label project
  #back;
  #similar;

  // `label` takes the utterances and how to label them, `back` one that returns to the queue, `similar` texts.
  constructor({project, base}, intents, {label, back, similar}) {
    this.#base = base;
    this.#store = keptAs(`set aside:${project}`);
    this.#back = back;
    this.#similar = similar;
    this.#intents = intents;
    const give = how => {
      const items = this.#items;
      this.forget(items);
      label(items, how);
    };
    this.#give = give;
    const mark = how => {
      this.#mark(how);
      this.element.querySelector('[data-key="label all"]').focus(); // Enter would save the text on the card
    };
    const take = intents.multi ? mark : give;
    this.#finder = new IntentFinder({
      intents: () => intents.open,
      label: intents.multi ? 'Add an intent for all' : 'Label all with',
      pick: intent => take({intents: [intent.id]}),
      create: name => take({create: [name]}),
      isForMany: true,
    });
  }

  get ids() {
    return [...this.#awaited, ...this.#items.map(item => item.id)];
  }

  // `how` is what a person has marked on the card.
  add(item, how) {
    this.#keep([...this.#kept(), item.id]);
    this.#items = [...this.#items, item];
    this.#mark(how);
  }

  #mark({intents = [], create = []}) {
    for (const id of intents) this.#marked.intents.add(id);
    for (const name of create) this.#marked.create.add(name);
    this.#set(this.#items);
  }

  // Brings back what was set aside before a reload, but not what was labelled meanwhile.
  restore = async () => {
    this.#awaited = this.#kept();
    while (this.#awaited.length) {
      const ids = this.#awaited.slice(0, AT_ONCE);
      const asked = encodeURIComponent(ids.join(','));
      const found = await call(`${this.#base}/suggestions?ids=${asked}`);
      this.#awaited = this.#awaited.slice(ids.length);
      const waiting = found.filter(item => item.labels === null);
      const known = new Set(waiting.map(item => item.id));
      this.#keep(this.#kept().filter(id => known.has(id) || !ids.includes(id)));
      this.#set([...this.#items, ...waiting]);
    }
  };

  #remove(item) {
    this.forget([item]);
    this.#back(item);
  }

  forget(items) {
    const gone = new Set(items.map(item => item.id));
    this.#keep(this.#kept().filter(id => !gone.has(id)));
    this.#set(this.#items.filter(item => !gone.has(item.id)));
  }

  #kept() {
    try {
      return JSON.parse(localStorage.getItem(this.#store)) ?? [];
    } catch {
      return [];
    }
  }

  // If the browser's storage is full, the texts are known until the next reload only.
  #keep(ids) {
    try {
      localStorage.setItem(this.#store, JSON.stringify(ids));
    } catch (error) {
      console.warn('texts set aside are kept in this tab alone', error);
    }
  }

  #set(items) {
    this.#items = items;
    this.element.hidden = !items.length;
    if (!items.length) this.#marked = {intents: new Set(), create: new Set()};
    const similar = () => this.#similar(items.map(item => item.text));
    fill(
      this.element,
      h('h2', {}, `Set aside: ${number(items.length)}`),
      h(
        'ul',
        {class: 'last'},
        items.map(item => this.#line(item)),
      ),
      h('div', {class: 'row around'}, h('button', {'data-key': 'similar', onclick: similar}, 'Find similar')),
      this.#finder.element,
      this.#intents.multi && this.#labelling(),
    );
  }

  // The intents that all get; a press takes one away.
  #labelling() {
    const {intents, create} = this.#marked;
    const chip = (among, one, name) => {
      const leave = event => {
        if (event.detail) event.currentTarget.blur(); // else Enter would take away the next one
        among.delete(one);
        this.#set(this.#items);
      };
      const about = {class: 'small', 'data-key': `marked ${one}`, 'aria-label': `Without ${name}`, onclick: leave};
      return h('button', about, h('bdi', {}, name), ' ', icon('x'));
    };
    const n = intents.size + create.size;
    const give = () => this.#give({intents: [...intents], create: [...create]});
    const about = {class: 'primary', 'data-key': 'label all', disabled: !n, onclick: give};
    const words = `Label ${plural(this.#items.length, 'text')} with ${plural(n, 'intent')}`;
    return h(
      'div',
      {class: 'row tight around'},
      [...intents].map(id => chip(intents, id, this.#intents.byId.get(id)?.name ?? '?')),
      [...create].map(name => chip(create, name, name)),
      h('button', about, n ? words : 'Choose the intents of all'),
    );
  }

  #line(item) {
    const button = {
      class: 'plain push',
      'aria-label': 'Back into the queue',
      'data-key': item.id,
      onclick: () => this.#remove(item),
    };
    return h('li', {}, h('span', {dir: 'auto'}, item.text), h('button', button, icon('x')));
  }
}
