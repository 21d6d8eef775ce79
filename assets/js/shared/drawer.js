// Makes an element a drawer: on a narrow screen it is hidden, and its button brings it up from below.
import {h} from './elements.js';

export class Drawer {
  opener; // the button that opens it
  closer; // the button in it that closes it
  #element;
  #first;

  // `content` stands on the button; `first()` gets the focus when the drawer opens.
  constructor(element, {name, content = name, first}) {
    this.#element = element;
    this.#first = first;
    element.classList.add('drawer');
    element.addEventListener('keydown', event => this.#onKey(event));
    const turn = () => this.#open(!this.isOpen);
    this.opener = h('button', {class: 'only-narrow', 'aria-expanded': 'false', onclick: turn}, content);
    const leave = {class: 'plain push only-narrow', 'aria-label': `Close: ${name}`, onclick: () => this.close()};
    this.closer = h('button', leave, '×');
  }

  get isNarrow() {
    return this.opener.offsetParent !== null;
  }

  get isOpen() {
    return this.#element.classList.contains('open');
  }

  open() {
    this.#open(true);
  }

  close() {
    this.#open(false);
    this.opener.focus();
  }

  #open(opens) {
    this.#element.classList.toggle('open', opens);
    this.opener.setAttribute('aria-expanded', String(opens));
    if (opens) this.#first().focus();
  }

  #onKey(event) {
    if (event.key !== 'Escape' || !this.isOpen) return;
    event.stopPropagation();
    this.close();
  }
}
