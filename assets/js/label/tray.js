// The tray: utterances set aside, to be labelled together. The browser remembers which, also after a reload.
import {keptAs} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {IntentFinder} from '../shared/finder.js';
import {call} from '../shared/rest.js';
import {number} from '../shared/words.js';

const AT_ONCE = 100; // texts that one request can name

export class Tray {
  element = h('section', {class: 'sheet', 'aria-label': 'Set aside', hidden: true});
  #items = [];
  #awaited = []; // ids of texts of before a reload, until the server has named the texts
  #base;
  #store;
  #finder;
  #back;
  #similar;

  // `label` takes the utterances and how to label them, `back` one that returns to the queue, `similar` texts.
  constructor({project, base}, intents, {label, back, similar}) {
    this.#base = base;
    this.#store = keptAs(`set aside:${project}`);
    this.#back = back;
    this.#similar = similar;
    const give = how => {
      const items = this.#items;
      this.forget(items);
      label(items, how);
    };
    this.#finder = new IntentFinder({
      intents: () => intents.open,
      label: 'Label all with',
      pick: intent => give({intents: [intent.id]}),
      create: name => give({create: [name]}),
      isForMany: true,
    });
  }

  get ids() {
    return [...this.#awaited, ...this.#items.map(item => item.id)];
  }

  add(item) {
    this.#keep([...this.#kept(), item.id]);
    this.#set([...this.#items, item]);
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
