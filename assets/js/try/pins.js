// Pins: this text must get this intent; every training is compared with them.
import {field, fill, h, select} from '../shared/elements.js';
import {guarded, toast} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';

const explanation = multi =>
  `A pin is a promise: this text must get ${multi ? 'just these intents' : 'this intent'}. ` +
  'A training that breaks one is not promoted by itself.';

export class Pins {
  element = h('section', {class: 'sheet', 'aria-label': 'Pins'});
  #path;
  #intents;
  #chosen = null; // for the text on the page, which may be answered again meanwhile

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

  // Pins the intents of the answer, or other ones.
  form({text, ranked, decision}) {
    const idOf = name => this.#intents.byName.get(name)?.id;
    const answered = this.#intents.multi ? decision.intents : [ranked[0].intent];
    const chosen = this.#chosen?.text === text ? this.#chosen.intents : answered.map(idOf).filter(Boolean);
    const choose = intents => {
      this.#chosen = {text, intents};
    };
    const pin = guarded(async () => {
      const intents = this.#chosen?.text === text ? this.#chosen.intents : chosen;
      await post(this.#path, {text, intents});
      toast(`Pinned “${text.slice(0, 60)}”.`, 'Every training is judged by it.', 'good');
      await this.load();
    });
    const which = this.#intents.multi ? this.#boxes(chosen, choose) : this.#choice(chosen, choose);
    return h(
      'div',
      {class: 'row end', style: {'margin-top': '14px'}},
      which,
      h('button', {'data-key': 'pin', onclick: pin}, 'Pin'),
    );
  }

  #choice([expected], choose) {
    const options = this.#intents.open.map(({id, name}) => [id, name]);
    const attributes = {
      'aria-label': 'Expected intent',
      'data-key': 'expected',
      onchange: event => choose([event.target.value]),
    };
    return field('This text must get', select(attributes, options, expected));
  }

  // Any number of intents; with none, the text must get no intent.
  #boxes(chosen, choose) {
    const now = new Set(chosen);
    const box = ({id, name}) => {
      const change = event => {
        if (event.target.checked) now.add(id);
        else now.delete(id);
        choose([...now]);
      };
      const attributes = {
        type: 'checkbox',
        checked: now.has(id),
        'data-key': `expects ${id}`,
        onchange: change,
      };
      return h('label', {class: 'check'}, h('input', attributes), name);
    };
    return h(
      'fieldset',
      {class: 'expected', 'aria-label': 'Expected intents'},
      h('legend', {class: 'soft small'}, 'This text must get just these, or none'),
      this.#intents.open.map(box),
    );
  }

  #line(pin) {
    const gets = pin.kept === false && `, gets ${pin.answer}`;
    const must = h('div', {class: 'soft small'}, `must get ${pin.expected}`, gets);
    const remove = guarded(async () => {
      await post(this.#path, {text: pin.text}); // a post without intents removes the pin
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
