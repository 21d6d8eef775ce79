// A new example, with the labels it conflicts with, shown while typing.
import {field, fill, h, offer, said} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {placeExample} from '../shared/placeholder.js';
import {radiusLine, turnsOf} from '../shared/radius.js';
import {post} from '../shared/rest.js';
import {failed} from '../shared/skeleton.js';
import {sameText, similarityWords} from '../shared/words.js';
import {harmOf} from './harm.js';

const PAUSE = 120; // shorter than between two words
const LONGEST_NAMED = 60; // characters of a text in a message

export class AddingTab {
  #tools;
  #running = null;
  #timer = 0;
  #chosen = '';
  #list = h('select', {'data-key': 'as', onchange: event => this.#choose(event.target.value)});
  #meter = h('div', {'aria-live': 'polite', 'data-role': 'collision'});
  #buttons = h('div', {class: 'row tight', 'data-role': 'adds'});
  #box;

  constructor(tools) {
    this.#tools = tools;
    this.#box = h('textarea', {
      rows: 2,
      maxlength: 10000, // more than a text may have, which the server says: a browser cuts without a word
      'aria-label': 'New example',
      class: 'said',
      oninput: () => this.#soon(),
    });
    this.element = h(
      'section',
      {class: 'sheet stack', 'aria-label': 'Add an example'},
      h('p', {class: 'soft'}, 'Teach the model one more text. You see first which labels it conflicts with.'),
      this.#box,
      h('div', {class: 'row end'}, field('An example of', this.#list), this.#buttons),
      this.#meter,
    );
  }

  async renew() {
    const {intents} = this.#tools;
    const options = [['', 'Choose an intent'], ...intents.openSorted.map(({id, name}) => [id, name])];
    if (!intents.byId.has(this.#chosen)) this.#chosen = ''; // nothing is chosen for the user
    offer(this.#list, options, this.#chosen);
    placeExample(this.#tools.base, this.#box).catch(() => {}); // the field works without
    await this.#measure();
  }

  #choose(id) {
    this.#chosen = id;
    this.#soon();
  }

  get #text() {
    return this.#box.value.trim();
  }

  // What is still to be said, in words; empty if the example can be added.
  get #lacks() {
    if (!this.#text) return 'Type a text. You see the examples most like it, and which answers change.';
    return this.#chosen ? '' : 'Choose its intent.';
  }

  // Between a change of the form and its effect nothing can be added.
  #soon() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    for (const button of this.element.querySelectorAll('[data-key^="add "]')) button.disabled = true;
    this.#timer = setTimeout(() => guarded(() => this.#measure())(), PAUSE);
  }

  async #measure() {
    this.#running?.abort();
    if (this.#lacks) {
      fill(this.#buttons, h('button', {class: 'primary', disabled: true}, 'Add it'));
      fill(this.#meter, h('p', {class: 'soft'}, this.#lacks));
      return;
    }
    this.#running = new AbortController();
    const {signal} = this.#running;
    try {
      await this.#foretell(signal);
    } catch (error) {
      if (!signal.aborted) fill(this.#meter, failed(error, () => this.#measure()));
      throw error;
    }
  }

  async #foretell(signal) {
    const chosen = this.#chosen;
    const [blast] = await this.#foresee([chosen], signal);
    const better = this.#better(blast.near);
    const isKnown = this.#known(blast.near);
    const [instead] = better && !isKnown ? await this.#foresee([better.id], signal) : [];
    if (signal.aborted) return;
    const isDoubted = isKnown || better || this.#clashes(blast.near) > 0 || this.#isAlone(blast.near);
    const verb = isKnown ? (this.#tools.intents.multi ? 'Label it also' : 'Relabel it') : 'Add it';
    // What is warned of does not stand out, and comes after the warning, on a phone too.
    const isWarned = isDoubted || harmOf({blast});
    const act = this.#button(verb, chosen, blast, isWarned ? 'small' : 'primary');
    fill(this.#buttons, !isWarned && act);
    const changes = h('h3', {class: 'after'}, `What changes as ${this.#nameOf(chosen)}`);
    const verdict = this.#verdict(blast, {better, instead, isDoubted, act: isWarned && act});
    fill(this.#meter, verdict, this.#near(blast.near), changes, turnsOf(blast));
  }

  #foresee(ids, signal) {
    const repairs = ids.map(id => this.#repair(id));
    return post(`${this.#tools.base}/review/what-if`, {repairs}, {signal});
  }

  // Where a text may have several intents, one that is an example already keeps those that it has.
  #repair(id) {
    return {kind: 'add', intents: [id], intent: this.#tools.intents.multi ? id : '', value: this.#text};
  }

  // The other label that more than half of the most similar examples have, and how many have it; null for none.
  #better(near) {
    if (this.#tools.intents.multi) return null;
    const [first, n] = mostFrequent(near.map(({intents}) => intents[0] ?? ''));
    const isOther = first !== this.#chosen && this.#tools.intents.byId.has(first);
    return isOther && 2 * n > near.length ? {id: first, n, of: near.length} : null;
  }

  // Whether examples are similar, and none of them has the chosen label.
  #isAlone(near) {
    return near.length > 0 && !near.some(({intents}) => intents.includes(this.#chosen));
  }

  // A text that is an example already gets the chosen label, or one more intent; it does not come twice.
  #known(near) {
    return near.some(one => this.#isSame(one));
  }

  get #becomes() {
    return this.#tools.intents.multi ? 'it keeps its intents and gets this one, too' : 'its label changes';
  }

  #isSame({text}) {
    return sameText(text, this.#text);
  }

  #nameOf(id) {
    return this.#tools.intents.byId.get(id)?.name ?? '?';
  }

  #button(verb, id, blast, kind) {
    const add = guarded(() => this.#add(verb, id, blast));
    return h('button', {class: kind, 'data-key': `add ${id}`, onclick: add}, `${verb} as ${this.#nameOf(id)}`);
  }

  // Very similar examples with another label, but the text itself.
  #clashes(near) {
    return near.filter(one => one.conflict && !this.#isSame(one)).length;
  }

  #likeness(near) {
    const n = this.#clashes(near);
    if (n) return `${n === 1 ? 'One very similar example has' : `${n} very similar examples have`} another label. `;
    const isOne = near.length === 1;
    const who = isOne ? 'The only similar example is not' : `None of the ${near.length} most similar examples is`;
    const none = `${who} labelled ${this.#nameOf(this.#chosen)}. `;
    return this.#isAlone(near) ? none : 'No very similar example has another label. ';
  }

  #verdict(blast, {better, instead, isDoubted, act}) {
    const whose = better && `${mostSimilar(better)} labelled ${this.#nameOf(better.id)}. `;
    return h(
      'div',
      {class: `note ${isDoubted ? 'warn' : 'good'}`, 'data-role': 'verdict'},
      this.#known(blast.near) && `This text is an example already; ${this.#becomes}. `,
      better && h('b', {dir: 'auto'}, whose),
      !better && h('span', {dir: 'auto'}, this.#likeness(blast.near)),
      h('span', {dir: 'auto'}, `The answer now: ${blast.now}.`),
      this.#effect(this.#chosen, blast, act),
      // The person has chosen another label: this one is offered beneath it, and neither stands out.
      instead && this.#effect(better.id, instead, this.#button('Add it', better.id, instead, 'small')),
    );
  }

  #effect(id, blast, button = null) {
    const as = h('span', {dir: 'auto'}, `As ${this.#nameOf(id)}:`);
    return h('div', {class: 'row tight small'}, as, radiusLine(blast), button);
  }

  #near(near) {
    return h(
      'div',
      {class: 'after'},
      h('h3', {}, 'Most similar examples'),
      h(
        'ul',
        {class: 'last told'},
        near.map(one => this.#close(one)),
      ),
    );
  }

  #close(one) {
    const {text, intents, cosine, conflict} = one;
    const {intents: known} = this.#tools;
    const isOther = conflict || (!known.multi && String(intents) !== this.#chosen);
    const other = conflict ? 'other label, very similar' : 'other label';
    const words = this.#isSame(one) ? (known.multi ? 'gets this intent, too' : 'gets the new label') : other;
    const badge = isOther && h('span', {class: `badge ${conflict ? 'warn' : ''}`}, words);
    return h(
      'li',
      {},
      h('div', {class: 'grow'}, said(text), h('div', {class: 'row small'}, known.labels(intents), badge)),
      h('span', {class: 'soft small tabular'}, similarityWords(cosine)),
    );
  }

  async #add(verb, id, blast) {
    if (this.#lacks) return;
    const repair = this.#repair(id);
    const deed = {'Add it': 'Added', 'Label it also': 'Labelled also'}[verb] ?? 'Relabelled';
    this.#box.value = '';
    const words = `${deed} “${repair.value.slice(0, LONGEST_NAMED)}” as ${this.#nameOf(id)}.`;
    try {
      await this.#tools.act(repair, words, {blast, seen: blast.revision});
    } catch (error) {
      if (!this.#text) this.#box.value = repair.value; // nothing was typed since: it can be tried again
      this.#soon();
      throw error;
    }
    this.#box.focus();
  }
}

// Of some words that with most occurrences, and how many it has.
function mostFrequent(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), ['', 0]);
}

// How many of the most similar examples have the other label, up to the word before it.
function mostSimilar({n, of}) {
  if (of === 1) return 'The only similar example is';
  return `${n === of ? `All ${n}` : `${n} of the ${of}`} most similar examples are`;
}
