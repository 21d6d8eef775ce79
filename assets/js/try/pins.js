// Pins: this text must get this intent; every training is compared with them.
import {fill, h, said} from '../shared/elements.js';
import {keptBadge, removeButton, renewing, setPin, whatPinsAre} from '../shared/pins.js';
import {call} from '../shared/rest.js';

export class Pins {
  element = h('section', {class: 'sheet', 'aria-label': 'Pins'});
  #path;
  #asked = 0; // number of the newest request; older answers are dropped
  #pins = [];
  #came;

  // `came` is called when the list of pins is there.
  constructor(base, came) {
    this.#path = `${base}/pins`;
    this.#came = came;
  }

  // The ids of the intents that a text must get, or null without a pin that can be judged.
  of(text) {
    return this.#pins.find(pin => pin.text === text && !pin.stale)?.intents ?? null;
  }

  async load() {
    const asked = ++this.#asked;
    const pins = await call(this.#path);
    if (asked !== this.#asked) return;
    this.#pins = pins;
    this.#came();
    const list = h(
      'ul',
      {class: 'last', 'data-role': 'pins'},
      pins.map(pin => this.#line(pin)),
    );
    fill(this.element, h('h2', {}, 'Pins'), h('p', {class: 'soft small'}, whatPinsAre), pins.length > 0 && list);
  }

  // Returns what takes it back: to the text's earlier pin, or to none.
  async set(text, intents) {
    const back = await setPin(this.#path, text, intents);
    await this.load();
    return async () => {
      await back().catch(renewing(() => this.load()));
      await this.load();
    };
  }

  #line(pin) {
    const gets = pin.kept === false && `, gets ${pin.answer}`;
    const must = h('div', {class: 'soft small'}, `must get ${pin.expected}`, gets);
    return h(
      'li',
      {},
      keptBadge(pin),
      h('div', {class: 'grow'}, said(pin.text), must),
      removeButton(this.#path, pin, () => this.load()),
    );
  }
}
