// The tray: utterances set aside, to be labelled together.
import {fill, h} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {IntentFinder} from '../shared/finder.js';
import {number} from '../shared/words.js';

export class Tray {
  element = h('section', {class: 'sheet', 'aria-label': 'Set aside', hidden: true});
  #items = [];
  #finder;
  #back;
  #similar;

  // `label` takes the utterances and how to label them, `back` one that returns to the queue, `similar` texts.
  constructor(intents, {label, back, similar}) {
    this.#back = back;
    this.#similar = similar;
    const give = how => {
      const items = this.#items;
      this.#set([]);
      label(items, how);
    };
    this.#finder = new IntentFinder({
      intents: () => intents.open,
      label: 'Label all with',
      pick: intent => give({intents: [intent.id]}),
      create: name => give({create: [name]}),
    });
  }

  get ids() {
    return this.#items.map(item => item.id);
  }

  add(item) {
    this.#set([...this.#items, item]);
  }

  #remove(item) {
    this.#set(this.#items.filter(one => one !== item));
    this.#back(item);
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
    return h('li', {}, h('span', {}, item.text), h('button', button, icon('x')));
  }
}
