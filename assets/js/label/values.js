// The panel of slot values on the card: once opened, it stays open for the next cards.
import {fill, h} from '../shared/elements.js';
import {Marker} from '../shared/marker.js';
import {guarded} from '../shared/messages.js';
import {SlotNames} from '../shared/slot_names.js';

const WHAT =
  'Choose words and say what they are: a name, a date, a place. ' +
  'Slots makes more examples of this text by putting other values there.';

export class Values {
  element = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Values'});
  #names;
  #marker;
  #shown = null;

  // Calls `left` when the user returns to the card.
  constructor(base, left) {
    this.#names = new SlotNames(base);
    this.#marker = new Marker({base, names: this.#names, left: () => this.#close(left)});
    const close = h(
      'button',
      {class: 'plain push', onclick: () => this.#close(left)},
      'Close ',
      h('kbd', {}, 'Esc'),
    );
    const head = h('div', {class: 'row'}, h('h2', {}, 'Values'), close);
    fill(this.element, head, h('p', {class: 'soft'}, WHAT), this.#marker.element);
  }

  // Opens for an utterance and takes the keyboard at once, so no key reaches the card.
  open(item) {
    this.element.hidden = false;
    this.#marker.focus();
    this.#names.forget(); // other users may have added names
    this.#show(item.id);
  }

  // Shows the next card's utterance if the panel is open.
  follow(item) {
    if (this.element.hidden || !item || item.id === this.#shown) return;
    this.#show(item.id);
  }

  #show = guarded(async id => {
    this.#shown = id;
    await this.#marker.show(id);
  });

  #close(left) {
    this.element.hidden = true;
    this.#shown = null;
    left();
  }
}
