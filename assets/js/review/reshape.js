// Reshape intents: merge two, move examples, split some off, rename; previewed first, then done.
import {field, fill, h, select} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';
import {plural} from '../shared/words.js';
import {radiusLine, turnsOf} from './radius.js';

const MOST = 500; // examples of an intent that are shown
const PAUSE = 150;
const HOWS = [
  ['merge', 'merge all of it into'],
  ['relabel', 'move the chosen examples to'],
  ['split', 'split the chosen examples off as'],
  ['rename', 'call it'],
];

export class ReshapeTab {
  #tools;
  #intent = '';
  #how = 'merge';
  #target = '';
  #name = '';
  #chosen = new Set();
  #examples = [];
  #timer = 0;
  #running = null;
  #asked = 0; // number of the newest list; older answers are dropped
  #choice = h('div', {class: 'row end'});
  #radius = h('div', {'data-role': 'reshape', 'aria-live': 'polite', style: {margin: '14px 0'}});
  #list = h('ul', {class: 'last told'});
  #button = h(
    'button',
    {class: 'primary', 'data-key': 'do', disabled: true, onclick: guarded(() => this.#do())},
    'Do it',
  );

  constructor(tools) {
    this.#tools = tools;
    this.element = h(
      'section',
      {class: 'sheet', 'aria-label': 'Reshape intents'},
      h(
        'p',
        {class: 'soft'},
        'Nothing is saved before you say so. Answers of a merged intent count as the other’s.',
      ),
      this.#choice,
      this.#radius,
      this.#list,
    );
  }

  async renew() {
    const list = (this.#asked += 1);
    this.#running?.abort();
    this.#button.disabled = true;
    const {intents, base} = this.#tools;
    const open = intents.open.filter(one => one.utterances > 0);
    if (!open.some(one => one.id === this.#intent)) this.#intent = open[0]?.id ?? '';
    const others = intents.open.filter(one => one.id !== this.#intent);
    if (!others.some(one => one.id === this.#target)) this.#target = others[0]?.id ?? '';
    const asked = new URLSearchParams({intent: this.#intent, split: 'train', size: MOST, order: 'text'});
    const examples = this.#intent ? (await call(`${base}/utterances?${asked}`)).rows : [];
    if (list !== this.#asked) return;
    this.#examples = examples;
    const there = new Set(this.#examples.map(row => row.id));
    this.#chosen = new Set([...this.#chosen].filter(id => there.has(id)));
    this.#draw(open, others);
    await this.#look();
  }

  get #choosing() {
    return this.#how === 'relabel' || this.#how === 'split';
  }

  get #repair() {
    const ids = [...this.#chosen];
    switch (this.#how) {
      case 'merge':
        return {kind: 'merge', intent: this.#intent, value: this.#target};
      case 'relabel':
        return {kind: 'relabel', ids, intents: [this.#target]};
      case 'split':
        return {kind: 'split', ids, intent: this.#intent, value: this.#name};
      default:
        return {kind: 'rename', intent: this.#intent, value: this.#name};
    }
  }

  get #complete() {
    const named = this.#how === 'merge' || this.#how === 'relabel' ? this.#target : this.#name.trim();
    return Boolean(this.#intent && named && (!this.#choosing || this.#chosen.size));
  }

  #draw(open, others) {
    const again = (name, value) =>
      guarded(async () => {
        if (name === 'intent') this.#intent = value;
        if (name === 'how') this.#how = value;
        if (name === 'target') this.#target = value;
        await this.renew();
      });
    const choose = name => event => again(name, event.target.value)();
    const named = list => list.map(({id, name}) => [id, name]);
    fill(
      this.#choice,
      field('Intent', select({onchange: choose('intent'), 'data-key': 'intent'}, named(open), this.#intent)),
      field('What if we', select({onchange: choose('how'), 'data-key': 'how'}, HOWS, this.#how)),
      this.#how === 'merge' || this.#how === 'relabel'
        ? field(
            'Other intent',
            select({onchange: choose('target'), 'data-key': 'target'}, named(others), this.#target),
          )
        : field('New name', this.#nameField()),
      this.#button,
    );
    fill(this.#list, this.#choosing && this.#examples.map(row => this.#line(row)));
  }

  #nameField() {
    const type = event => {
      this.#name = event.target.value;
      this.#soon();
    };
    return h('input', {type: 'text', maxlength: 200, value: this.#name, 'data-key': 'name', oninput: type});
  }

  #line(row) {
    const choose = event => {
      if (event.target.checked) this.#chosen.add(row.id);
      else this.#chosen.delete(row.id);
      this.#soon();
    };
    const box = {type: 'checkbox', checked: this.#chosen.has(row.id), 'data-key': row.id, onchange: choose};
    return h('li', {}, h('label', {class: 'check grow'}, h('input', box), row.text));
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => guarded(() => this.#look())(), PAUSE);
  }

  async #look() {
    this.#running?.abort();
    this.#button.disabled = true;
    if (!this.#complete) {
      const words = this.#choosing ? 'Choose examples below.' : 'Type a name.';
      fill(this.#radius, h('p', {class: 'soft'}, words));
      return;
    }
    this.#running = new AbortController();
    const {signal} = this.#running;
    const path = `${this.#tools.base}/review/what-if`;
    const [blast] = await post(path, {repairs: [this.#repair]}, {signal});
    this.#button.disabled = false;
    const chosen =
      this.#choosing && h('div', {class: 'soft small'}, `${plural(this.#chosen.size, 'example')} chosen.`);
    fill(this.#radius, h('div', {class: 'note'}, radiusLine(blast)), chosen, turnsOf(blast));
  }

  async #do() {
    const {intents, act} = this.#tools;
    const repair = this.#repair;
    const [, words] = HOWS.find(([how]) => how === this.#how);
    const to =
      this.#how === 'merge' || this.#how === 'relabel' ? intents.byId.get(this.#target)?.name : this.#name;
    const from = intents.byId.get(this.#intent)?.name;
    this.#chosen.clear();
    this.#name = '';
    await act(repair, `${from}: ${words} ${to}.`);
  }
}
