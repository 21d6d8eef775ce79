// Pins with the answers of every version; a version that breaks a pin is not promoted automatically.
import {field, fill, h, select, since, table} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {guarded, toast} from '../shared/messages.js';
import {placeExample} from '../shared/placeholder.js';
import {call, post} from '../shared/rest.js';
import {capital} from '../shared/words.js';

const SHOWN = 12; // versions of a pin's history, the newest

export class PinsTab {
  #base;
  #path;
  #intents;
  #list = h('div', {'data-role': 'promises'});
  #form = h('div', {class: 'row end after'});

  constructor({base, intents}) {
    this.#base = base;
    this.#path = `${base}/pins`;
    this.#intents = intents;
    const lead =
      'A pin is a promise: this text must get this label. A version that breaks a pin does not go live by itself.';
    const attributes = {class: 'sheet', 'aria-label': 'Pins'};
    this.element = h('section', attributes, h('p', {class: 'soft'}, lead), this.#list, this.#form);
  }

  async renew() {
    const found = await call(`${this.#path}/history`);
    const none = h(
      'div',
      {class: 'empty'},
      h('h2', {}, 'No pin yet'),
      'Set one here, on the Try page, or with P on the Label page.',
    );
    const head = ['Text', 'Must get', 'Gets now', 'Versions', 'Set', ''];
    const rows = found.map(one => this.#row(one));
    fill(this.#list, rows.length ? table(head, rows, {class: 'wide stacked'}) : none);
    if (!this.#form.hasChildNodes()) this.#drawForm();
  }

  #row({pin, at, judgements}) {
    const remove = guarded(async () => {
      await post(this.#path, {text: pin.text}); // a post without a label removes the pin
      await this.renew();
    });
    const button = {
      class: 'plain small',
      title: 'Remove this pin',
      'aria-label': `Remove the pin of “${pin.text}”`,
      'data-key': pin.text,
      onclick: remove,
    };
    return [
      pin.text,
      pin.expected,
      [pin.answer ?? '–', ' ', state(pin)],
      h('span', {class: 'verdicts'}, judgements.slice(-SHOWN).map(judged)),
      h('span', {class: 'soft'}, since(at)),
      h('button', button, icon('x')),
    ];
  }

  #drawForm() {
    const text = h('input', {type: 'text', maxlength: 10000});
    const nothing = ['', capital(this.#intents.nothing)];
    const options = [...this.#intents.openSorted.map(({id, name}) => [id, name]), nothing];
    const label = select({'aria-label': 'Label that it must get'}, options);
    const set = guarded(async () => {
      await post(this.#path, {text: text.value, intents: label.value ? [label.value] : []});
      toast(`Pinned “${text.value.slice(0, 60)}”.`, 'Each new version is checked against it.', 'good');
      text.value = '';
      await this.renew();
    });
    placeExample(this.#base, text).catch(() => {}); // the field works without
    fill(
      this.#form,
      field('Text', text, {class: 'field grow'}),
      field('Must get', label),
      h('button', {'data-key': 'pin', onclick: set}, 'Pin it'),
    );
  }
}

function state({kept, stale}) {
  if (stale) return h('span', {class: 'badge'}, 'intent is gone');
  if (kept === null) return null;
  return h('span', {class: `badge ${kept ? 'good' : 'bad'}`}, kept ? 'kept' : 'broken');
}

const judged = ({version, verdict, answer}) =>
  h(
    'span',
    {class: `badge ${verdict === 'kept' ? 'good' : 'bad'}`, title: answer ? `answered ${answer}` : verdict},
    `v${version} ${verdict === 'kept' ? '✓' : '✗'}`,
  );
