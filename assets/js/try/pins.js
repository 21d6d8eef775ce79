// Pins: this text must get this intent; every training is compared with them.
import {fill, h, said} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {guarded} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';

const explanation = multi =>
  `A pin is a promise: this text must get ${multi ? 'just these intents' : 'this intent, or be out of scope'}. ` +
  'A version that breaks one does not go live by itself.';

export class Pins {
  element = h('section', {class: 'sheet', 'aria-label': 'Pins'});
  #path;
  #intents;

  constructor(base, intents) {
    this.#path = `${base}/pins`;
    this.#intents = intents;
  }

  async load() {
    const pins = await call(this.#path);
    const list = h(
      'ul',
      {class: 'last', 'data-role': 'pins'},
      pins.map(pin => this.#line(pin)),
    );
    const none = h('p', {class: 'soft'}, explanation(this.#intents.multi));
    fill(this.element, h('h2', {}, 'Pins'), pins.length ? list : none);
  }

  // Returns what takes it back: to the text's earlier pin, or to none.
  async set(text, intents) {
    const pins = await call(`${this.#path}/history`);
    const earlier = pins.find(({pin}) => pin.text === text);
    const put = async body => {
      await post(this.#path, {text, ...body});
      await this.load();
    };
    await put({intents});
    return () => put(earlier ? {intents: earlier.intents} : {}); // a post without intents removes the pin
  }

  #line(pin) {
    const gets = pin.kept === false && `, gets ${pin.answer}`;
    const must = h('div', {class: 'soft small'}, `must get ${pin.expected}`, gets);
    const remove = guarded(async () => {
      await post(this.#path, {text: pin.text}); // a post without intents removes the pin
      await this.load();
    });
    const button = {
      class: 'plain small push',
      title: 'Remove this pin',
      'aria-label': `Remove the pin of “${pin.text}”`,
      'data-key': pin.text,
      onclick: remove,
    };
    return h(
      'li',
      {},
      badge(pin.kept),
      h('div', {class: 'grow'}, said(pin.text), must),
      h('button', button, icon('x')),
    );
  }
}

function badge(kept) {
  if (kept === null) return h('span', {class: 'badge'}, '…');
  return h('span', {class: `badge ${kept ? 'good' : 'bad'}`}, kept ? 'kept' : 'broken');
}
