// The list of groups: those that are open, those that are mostly labelled, and those that somebody is done with.
import {fill, h} from '../shared/elements.js';
import {number, plural} from '../shared/words.js';

const STATES = [
  ['open', 'Open'],
  ['mostly', 'Mostly labelled'],
  ['aside', 'For later'],
  ['done', 'Taken'],
];

export class GroupList {
  #intents;
  #opens;
  #wished = 'open'; // what the person wants to see; without such groups others are listed
  #state = 'open';
  #cards = [];
  #chosen = null;
  #sought = null; // number of a group that is to be listed, whatever its state
  #filter = h('div', {class: 'row tight', role: 'group', 'aria-label': 'Which groups'});
  #list = h('ul', {class: 'findings', 'data-role': 'groups'});
  element = h('section', {class: 'sheet', 'aria-label': 'Groups'}, this.#filter, this.#list);

  // `opens` is called with the number of the group that is chosen.
  constructor(intents, opens) {
    this.#intents = intents;
    this.#opens = opens;
  }

  // The cards that are listed, in order.
  get listed() {
    return this.#cards.filter(({state}) => state === this.#state);
  }

  seek(id) {
    this.#sought = id;
  }

  show(cards, chosen) {
    this.#cards = cards;
    this.#chosen = chosen;
    this.#wished = cards.find(({id}) => id === this.#sought)?.state ?? this.#wished;
    this.#sought = null;
    this.#state = this.#wished;
    if (!this.listed.length)
      this.#state = STATES.find(([state]) => cards.some(one => one.state === state))?.[0] ?? 'open';
    this.#draw();
  }

  mark(chosen) {
    this.#chosen = chosen;
    this.#draw();
    this.#list.querySelector('[aria-pressed=true]')?.scrollIntoView({block: 'nearest'});
  }

  focus() {
    this.#list.querySelector('[aria-pressed=true]')?.focus();
  }

  #draw() {
    const count = state => this.#cards.filter(one => one.state === state).length;
    const some = STATES.filter(([state]) => state === this.#state || count(state));
    const choices = some.map(([state, words]) =>
      h(
        'button',
        {
          class: 'kind',
          'aria-pressed': String(state === this.#state),
          'data-key': `state ${state}`,
          onclick: () => this.#choose(state),
        },
        words,
        h('span', {class: 'soft tabular'}, number(count(state))),
      ),
    );
    this.#filter.hidden = choices.length < 2; // one alone is no choice
    fill(this.#filter, choices);
    fill(
      this.#list,
      this.listed.length ? this.listed.map(card => this.#row(card)) : h('li', {class: 'empty'}, DONE),
    );
  }

  #choose(state) {
    this.#wished = this.#state = state;
    this.#draw();
    if (this.listed.length) this.#opens(this.listed[0].id);
  }

  #row(card) {
    const {id, name, description, size, joined, label, labelled, state} = card;
    const {is_new: isNew, stands_for_label: stands} = card;
    const amount = state === 'done' ? plural(labelled, 'label') : plural(size, 'text');
    return h(
      'li',
      {},
      h(
        'button',
        {
          'aria-pressed': String(id === this.#chosen),
          'data-key': `group ${id}`,
          onclick: () => this.#opens(id, true),
        },
        h(
          'span',
          {class: 'row tight'},
          h('span', {class: 'what', dir: 'auto'}, name),
          isNew && state === 'open' && h('span', {class: 'badge accent'}, 'new'),
          joined > 0 && h('span', {class: 'badge accent'}, `${number(joined)} new`),
          h('span', {class: 'soft small tabular push'}, amount),
        ),
        label && stands ? h('span', {class: 'row tight'}, this.#intents.labels([label])) : null,
        h('span', {class: 'soft small cut', dir: 'auto'}, description),
      ),
    );
  }
}

const DONE = [h('h2', {}, 'No group is left'), 'Each text of them has a label, or waits on the Label page.'];

// Whether somebody was done with a group of which texts wait: it can be opened again.
export const isPutAside = ({state, size, set_aside: aside}) =>
  size > 0 && aside > 0 && ['aside', 'done'].includes(state);

// How many texts of a group wait, and how many of these are out of scope: `nothing` is what the project calls that.
export const waitingWords = ({size, out_of_scope: outside}, nothing) =>
  [
    (size > outside || !outside) && `${plural(size - outside, 'text')} without a label`,
    outside > 0 && `${plural(outside, 'text')} labelled “${nothing}”`,
  ]
    .filter(Boolean)
    .join(' · ');

// Says that no group is to be looked at, and why.
export const noneLeft = groups => {
  const rest = groups.some(({state}) => state === 'mostly') ? ', for later or mostly labelled' : ' or for later';
  return `No group is left to look at: all are taken${rest}.`;
};

// Says how many texts joined groups that have an intent already.
export const mostlyLabelled = groups => {
  const some = groups.filter(({state}) => state === 'mostly');
  const waiting = some.reduce((sum, {size, out_of_scope: outside = 0}) => sum + size - outside, 0);
  const words = `${plural(waiting, 'text')} ${waiting === 1 ? 'waits' : 'wait'}`;
  return some.length ? ` In ${plural(some.length, 'group')} whose other texts have labels, ${words} for a label.` : '';
};
