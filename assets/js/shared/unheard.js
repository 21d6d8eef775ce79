// Keys and clicks that found nothing to act on: they are told as soon as the hand rests, never lost in silence.
import {toast} from './messages.js';

const PAUSE = 200; // milliseconds without another one

export class Unheard {
  #n = 0; // since one was heard
  #timer = 0;
  #says;

  // `says` returns a message and its hint for a number of them.
  constructor(says) {
    this.#says = says;
  }

  count() {
    this.#n += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#n && toast(...this.#says(this.#n), 'bad'), PAUSE);
  }

  heard() {
    this.#n = 0;
  }
}
