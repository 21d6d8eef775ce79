// A pin is a promise: this text must get this intent, and every training is judged by it.
import {field, fill, h, select} from '../shared/elements.js';
import {guarded, toast} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';

const EXPLANATION =
  'A pin is a promise: this text must get this intent. ' +
  'A training that breaks one is not promoted by itself.';

export class Pins {
  element = h('section', {class: 'sheet', 'aria-label': 'Pins'});
  #path;
  #intents;
  #chosen = null; // for the text that is on the page, which may be answered anew meanwhile

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
    fill(this.element, h('h2', {}, 'Pins'), pins.length ? list : h('p', {class: 'soft'}, EXPLANATION));
  }

  // Promises the intent of an answer, or another one.
  form({text, ranked}) {
    const options = this.#intents.open.map(({id, name}) => [id, name]);
    const likeliest = this.#intents.byName.get(ranked[0].intent)?.id;
    const expected = this.#chosen?.text === text ? this.#chosen.intent : likeliest;
    const choose = event => {
      this.#chosen = {text, intent: event.target.value};
    };
    const attributes = {'aria-label': 'Expected intent', 'data-key': 'expected', onchange: choose};
    const which = select(attributes, options, expected);
    const pin = guarded(async () => {
      await post(this.#path, {text, intent: which.value});
      toast(`Pinned “${text.slice(0, 60)}”.`, 'Every training is judged by it.', 'good');
      await this.load();
    });
    return h(
      'div',
      {class: 'row end', style: {'margin-top': '14px'}},
      field('This text must get', which),
      h('button', {'data-key': 'pin', onclick: pin}, 'Pin'),
    );
  }

  #line(pin) {
    const gets = pin.kept === false && `, gets ${pin.answer}`;
    const must = h('div', {class: 'soft small'}, `must get ${pin.expected}`, gets);
    const remove = guarded(async () => {
      await post(this.#path, {text: pin.text}); // without an intent: nothing is promised any more
      await this.load();
    });
    const button = {
      class: 'plain push',
      'aria-label': `Remove the pin of “${pin.text}”`,
      'data-key': pin.text,
      onclick: remove,
    };
    return h('li', {}, badge(pin.kept), h('div', {}, h('div', {}, pin.text), must), h('button', button, '×'));
  }
}

function badge(kept) {
  if (kept === null) return h('span', {class: 'badge'}, '…');
  return h('span', {class: `badge ${kept ? 'good' : 'bad'}`}, kept ? 'kept' : 'broken');
}
