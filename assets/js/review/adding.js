// A new example, with the labels it conflicts with, shown while typing.
import {field, fill, h, select} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {radiusLine, turnsOf} from '../shared/radius.js';
import {post} from '../shared/rest.js';

const PAUSE = 120; // shorter than between two words

export class AddingTab {
  #tools;
  #running = null;
  #timer = 0;
  #chosen = '';
  #choice = h('div');
  #meter = h('div', {'aria-live': 'polite', 'data-role': 'collision'});
  #box;
  #button;

  constructor(tools) {
    this.#tools = tools;
    this.#box = h('textarea', {
      rows: 2,
      maxlength: 2000,
      'aria-label': 'New example',
      placeholder: 'the picture freezes every evening',
      style: {'font-size': '19px'},
      oninput: () => this.#soon(),
    });
    this.#button = h('button', {class: 'primary', onclick: guarded(() => this.#add())}, 'Add it');
    this.element = h(
      'section',
      {class: 'sheet stack', 'aria-label': 'Add an example'},
      this.#box,
      h('div', {class: 'row end'}, this.#choice, this.#button),
      this.#meter,
    );
  }

  async renew() {
    const {intents} = this.#tools;
    const options = intents.open.map(({id, name}) => [id, name]);
    if (!intents.byId.has(this.#chosen)) this.#chosen = options[0]?.[0] ?? '';
    const choose = event => {
      this.#chosen = event.target.value;
      this.#soon();
    };
    fill(
      this.#choice,
      field('as an example of', select({onchange: choose, 'data-key': 'as'}, options, this.#chosen)),
    );
    await this.#measure();
  }

  get #repair() {
    return {kind: 'add', intents: this.#chosen ? [this.#chosen] : [], value: this.#box.value.trim()};
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => guarded(() => this.#measure())(), PAUSE);
  }

  async #measure() {
    this.#running?.abort();
    this.#button.disabled = !this.#repair.value;
    if (!this.#repair.value) {
      fill(this.#meter, h('p', {class: 'soft'}, 'Type, and see which examples it would stand beside.'));
      return;
    }
    this.#running = new AbortController();
    const {signal} = this.#running;
    const [blast] = await post(`${this.#tools.base}/review/what-if`, {repairs: [this.#repair]}, {signal});
    fill(this.#meter, this.#verdict(blast), this.#near(blast.near), turnsOf(blast));
  }

  #verdict(blast) {
    const clashes = blast.near.filter(one => one.conflict).length;
    const words = clashes
      ? `It stands beside ${clashes === 1 ? 'an example' : `${clashes} examples`} of another label. `
      : 'It collides with no example. ';
    return h(
      'div',
      {class: `note ${clashes ? 'warn' : 'good'}`, 'data-role': 'verdict'},
      words,
      `Answered now: ${blast.now}. `,
      radiusLine(blast),
    );
  }

  #near(near) {
    return h(
      'ul',
      {class: 'last told'},
      near.map(one => this.#close(one)),
    );
  }

  #close({text, intents, cosine, conflict}) {
    const label = h('div', {class: 'row small'}, this.#tools.intents.labels(intents));
    return h(
      'li',
      {},
      h('div', {class: 'grow'}, h('div', {}, text), label),
      conflict && h('span', {class: 'badge warn'}, 'other label'),
      h('span', {class: 'soft small tabular'}, cosine.toFixed(2)),
    );
  }

  async #add() {
    const repair = this.#repair;
    if (!repair.value) return;
    this.#box.value = '';
    await this.#tools.act(repair, `Added “${repair.value.slice(0, 60)}”.`);
    this.#box.focus();
  }
}
