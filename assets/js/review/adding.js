// A new example, with the labels it conflicts with, shown while typing.
import {field, fill, h, said, select} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {placeExample} from '../shared/placeholder.js';
import {radiusLine, turnsOf} from '../shared/radius.js';
import {post} from '../shared/rest.js';
import {points} from '../shared/words.js';

const PAUSE = 120; // shorter than between two words

const plain = text => text.trim().normalize();

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
      class: 'said',
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
    const options = [['', 'Choose an intent'], ...intents.openSorted.map(({id, name}) => [id, name])];
    if (!intents.byId.has(this.#chosen)) this.#chosen = ''; // nothing is chosen for the user
    const choose = event => {
      this.#chosen = event.target.value;
      this.#soon();
    };
    fill(
      this.#choice,
      field('An example of', select({onchange: choose, 'data-key': 'as'}, options, this.#chosen)),
    );
    placeExample(this.#tools.base, this.#box).catch(() => {}); // the field works without
    await this.#measure();
  }

  get #repair() {
    return {kind: 'add', intents: this.#chosen ? [this.#chosen] : [], value: this.#box.value.trim()};
  }

  // What is still to be said, in words; empty if the example can be added.
  get #lacks() {
    if (!this.#repair.value)
      return 'Type a text. You see the examples most like it, and which answers change.';
    return this.#chosen ? '' : 'Choose its intent.';
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => guarded(() => this.#measure())(), PAUSE);
  }

  async #measure() {
    this.#running?.abort();
    const lacks = this.#lacks;
    this.#button.disabled = Boolean(lacks);
    if (lacks) {
      fill(this.#meter, h('p', {class: 'soft'}, lacks));
      return;
    }
    this.#running = new AbortController();
    const {signal} = this.#running;
    const [blast] = await post(`${this.#tools.base}/review/what-if`, {repairs: [this.#repair]}, {signal});
    fill(this.#meter, this.#verdict(blast), this.#near(blast.near), turnsOf(blast));
  }

  // A text that is an example already gets the chosen label; it does not come twice.
  #isSame({text}) {
    return plain(text) === plain(this.#repair.value);
  }

  #verdict(blast) {
    const others = blast.near.filter(one => one.conflict);
    const relabelled = others.some(one => this.#isSame(one));
    this.#button.textContent = relabelled ? 'Relabel it' : 'Add it';
    const clashes = others.length - (relabelled ? 1 : 0);
    const known = relabelled && 'This text is an example already; its label changes. ';
    const words = clashes
      ? `${clashes === 1 ? 'One similar example has' : `${clashes} similar examples have`} another label. `
      : 'No similar example has another label. ';
    return h(
      'div',
      {class: `note ${clashes || relabelled ? 'warn' : 'good'}`, 'data-role': 'verdict'},
      known,
      words,
      h('span', {dir: 'auto'}, `The answer now: ${blast.now}. `),
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

  #close(one) {
    const {text, intents, cosine, conflict} = one;
    const label = h('div', {class: 'row small'}, this.#tools.intents.labels(intents));
    return h(
      'li',
      {},
      h('div', {class: 'grow'}, said(text), label),
      conflict && h('span', {class: 'badge warn'}, this.#isSame(one) ? 'gets the new label' : 'other label'),
      h('span', {class: 'soft small tabular'}, `similarity ${points(cosine)}`),
    );
  }

  async #add() {
    const repair = this.#repair;
    if (this.#lacks) return;
    const deed = this.#button.textContent === 'Add it' ? 'Added' : 'Relabelled';
    this.#box.value = '';
    await this.#tools.act(repair, `${deed} “${repair.value.slice(0, 60)}”.`);
    this.#box.focus();
  }
}
