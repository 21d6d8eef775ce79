// The Slots page: slots and their values, proposals, and synthetic utterances.
import {AugmentingSheet} from './slots/augmenting.js';
import {BookSheet} from './slots/book.js';
import {ProposalsSheet} from './slots/proposals.js';
import {address} from './shared/address.js';
import {fill, h} from './shared/elements.js';
import {icon} from './shared/icons.js';
import {emptyPage, firstAct} from './shared/first_act.js';
import {Intents} from './shared/intents.js';
import {dialogIsOpen, guarded, toast} from './shared/messages.js';
import {post} from './shared/rest.js';
import {number, plural} from './shared/words.js';
import {frame} from './studio.js';

const LEAD =
  'Mark words that may be others in the same request: a city, a date, a name. Training then looks at the rest of the ' +
  'text. First check what is proposed, or mark values on the Label page.';

export const mount = view => frame(view, 'slots', 'Slots', LEAD, context => new SlotsPage(context).start());

class SlotsPage {
  #context;
  #intents;
  #book;
  #proposals;
  #augmenting;
  #counts = h('span', {class: 'soft small tabular', 'data-role': 'marked'});
  #acts = h('div', {class: 'row push'});
  #place = h('div');

  constructor(context) {
    const {base} = context;
    const changed = guarded(() => this.#load());
    this.#context = context;
    this.#intents = new Intents(base, context.status.task);
    this.#book = new BookSheet(base, changed);
    this.#proposals = new ProposalsSheet(base, changed);
    this.#augmenting = new AugmentingSheet(base, this.#intents, changed);
  }

  async start() {
    const undo = h('button', {onclick: guarded(() => this.#undo())}, icon('undo-2'), 'Undo');
    this.#acts.append(this.#counts, undo);
    this.#context.heading.append(this.#acts);
    this.#context.main.append(this.#place);
    await this.#intents.load();
    await this.#load();
    this.#context.onStatus((status, before) => {
      if (before && before.revision !== status.revision && !dialogIsOpen()) guarded(() => this.#load())();
    });
  }

  async #load() {
    if (this.#intents.counts.total === 0) await this.#intents.load(); // they may have come since
    const book = await this.#book.load();
    const {n_marked: marked, n_utterances: all} = book;
    this.#acts.hidden = all === 0;
    this.#counts.textContent = `Values marked in ${number(marked)} of ${plural(all, 'text')}`;
    const sheets = [
      h('div', {class: 'stack'}, this.#book.element),
      h('aside', {class: 'stack'}, this.#proposals.element, this.#augmenting.element),
    ];
    if (!book.slots.length) fill(this.#place, this.#start());
    else if (!this.#book.element.isConnected) fill(this.#place, h('div', {class: 'columns'}, sheets));
    await this.#proposals.load();
    // One action is the page's advice: to mark what is proposed, or else to begin by hand.
    const proposed = this.#proposals.element.querySelector('.primary');
    this.#place.querySelector('.empty .button')?.classList.toggle('primary', !proposed);
  }

  #start() {
    const {project} = this.#context;
    const {counts} = this.#intents;
    if (counts.total === 0) {
      const words = 'Import some; then mark which words are a city, a date or a name.';
      return emptyPage('No texts yet', words, firstAct(project, counts));
    }
    return h(
      'div',
      {class: 'stack'},
      h(
        'div',
        {class: 'sheet empty'},
        h('h2', {}, 'No value is marked yet'),
        h(
          'p',
          {},
          'Press V on the Label page and mark which words are a city, a date or a name. ',
          'Or import a file that has them: JSONL with slots, or Rasa.',
        ),
        h(
          'div',
          {class: 'row centre'},
          h('a', {class: 'button primary', href: address('label', project)}, 'Mark values'),
          h('a', {class: 'button', href: address('data', project)}, 'Import'),
        ),
      ),
      this.#proposals.element,
    );
  }

  async #undo() {
    const {undone} = await post(`${this.#context.base}/undo`);
    toast(undone ? `Taken back: ${undone.verb}.` : 'There is nothing to undo.');
    await this.#load();
  }
}
