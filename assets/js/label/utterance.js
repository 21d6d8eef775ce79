// The text on the card. A long one is set smaller; what is still out of sight is said to be there, a tap away.
import {h} from '../shared/elements.js';
import {unturned} from '../shared/words.js';

const ALWAYS_FITS = 60; // characters: shorter texts are not measured, for measuring lays the page out
const ROUNDING = 1; // pixels

export class Utterance {
  #text = h('p', {class: 'utterance', dir: 'auto', 'aria-live': 'polite', 'data-role': 'utterance'});
  #more = h('button', {class: 'small goes-on', hidden: true, onclick: () => this.#goOn()}, 'Goes on ▾');
  element = h('div', {class: 'reading'}, this.#text, this.#more);

  constructor() {
    this.#text.addEventListener('scroll', () => this.#look(), {passive: true});
    window.addEventListener('resize', () => this.#fit());
  }

  show({id, text}) {
    const words = unturned(text);
    const isOther = this.#text.dataset.id !== String(id) || this.#text.textContent !== words;
    this.#text.dataset.id = id;
    if (!isOther) return; // drawn again, it stays where it was scrolled to
    this.#text.textContent = words;
    this.#text.scrollTop = 0;
    this.#fit();
  }

  #fit() {
    this.#text.classList.remove('long');
    const isShort = this.#text.textContent.length <= ALWAYS_FITS;
    if (!isShort && this.#below() > 0) this.#text.classList.add('long');
    this.#look(isShort);
  }

  #look(isShort = false) {
    this.#more.hidden = isShort || this.#below() <= 0;
  }

  // Pixels of the text below its box.
  #below() {
    const {scrollHeight, clientHeight, scrollTop} = this.#text;
    return scrollHeight - clientHeight - scrollTop - ROUNDING;
  }

  // The last line in sight, which the button covers in part, becomes the first.
  #goOn() {
    const line = parseFloat(getComputedStyle(this.#text).lineHeight);
    this.#text.scrollBy({top: this.#text.clientHeight - 1.5 * line});
  }
}
