// A box for pasted texts. They go the way of a dropped file; a large paste is not put into the box first.
import {h} from '../shared/elements.js';

const NAME = 'pasted texts';
const MOST_SHOWN = 200000; // characters; a box with more of them stops the page for seconds

export class PasteBox {
  #send;
  #box;

  // Calls `send` with the pasted text as a file.
  constructor(send) {
    this.#send = send;
    this.#box = h('textarea', {
      rows: 4,
      'aria-label': 'Texts to import',
      placeholder: 'One text a line, or cells copied from a spreadsheet',
      spellcheck: 'false',
      onpaste: event => this.#onPaste(event),
    });
    const read = h('button', {type: 'button', onclick: () => this.#read()}, 'Preview');
    this.element = h(
      'details',
      {'data-key': 'paste', class: 'below'},
      h('summary', {}, 'Paste texts'),
      h('div', {class: 'stack below'}, this.#box, h('div', {class: 'row'}, read)),
    );
  }

  #onPaste(event) {
    const text = event.clipboardData.getData('text/plain');
    if (text.length <= MOST_SHOWN) return;
    event.preventDefault();
    this.#box.value = '';
    this.#send(fileOf(text));
  }

  #read() {
    if (this.#box.value.trim()) this.#send(fileOf(this.#box.value));
    else this.#box.focus();
  }
}

const fileOf = text => new File([text], NAME, {type: 'text/plain'});
