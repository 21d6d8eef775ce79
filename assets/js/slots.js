// The Slots page: slots and their values, proposals, and synthetic utterances.
import {AugmentingSheet} from './slots/augmenting.js';
import {BookSheet} from './slots/book.js';
import {ProposalsSheet} from './slots/proposals.js';
import {address} from './shared/address.js';
import {fill, h} from './shared/elements.js';
import {emptyPage, firstAct} from './shared/first_act.js';
import {Intents} from './shared/intents.js';
import {dialogIsOpen, guarded} from './shared/messages.js';
import {number, plural} from './shared/words.js';
import {frame} from './studio.js';

const LEAD =
  'Marking cities, dates and names helps to tell intents apart: the training “Marked values” (on Train, under More ' +
  'ways, once some are marked) learns from the words around them. The model answers with an intent, and fills no ' +
  'slot.';

export const mount = view => frame(view, 'slots', 'Slots', LEAD, context => new SlotsPage(context).start());

class SlotsPage {
  #context;
  #intents;
  #book;
  #proposals;
  #augmenting;
  #bare = 0; // texts without a marked value
  #counts = h('span', {class: 'soft small tabular push', 'data-role': 'marked'});
  #next = h('p', {class: 'note', 'data-role': 'advice', role: 'status', hidden: true});
  #place = h('div');
  #opening = h('div', {class: 'sheet empty'});

  constructor(context) {
    const {base} = context;
    const changed = guarded(() => this.#load());
    this.#context = context;
    this.#intents = new Intents(base, context.status.task);
    this.#book = new BookSheet(base, changed);
    this.#proposals = new ProposalsSheet(base, {changed, counted: () => this.#drawNext()});
    this.#augmenting = new AugmentingSheet(base, this.#intents, {changed, isFirst: () => !this.#proposals.count});
  }

  async start() {
    this.#context.heading.append(this.#counts);
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
    this.#bare = all - marked;
    this.#counts.hidden = all === 0;
    const base = this.#intents.counts.by_split.test ? ' outside the test set' : '';
    this.#counts.textContent = `Values marked in ${number(marked)} of ${plural(all, 'text')}${base}`;
    // What is proposed is the next thing to do, so it comes before the list of what is marked.
    const sheets = [
      h('div', {class: 'stack'}, this.#next, this.#proposals.element, this.#book.element),
      h('aside', {class: 'stack'}, this.#augmenting.element),
    ];
    if (!book.slots.length) fill(this.#place, this.#start());
    else if (!this.#book.element.isConnected) fill(this.#place, h('div', {class: 'columns'}, sheets));
    await this.#proposals.load();
    if (!book.slots.length && this.#intents.counts.total > 0) this.#drawOpening();
  }

  // What to do now, in the page's first line below its purpose.
  #drawNext() {
    const bare = this.#bare;
    const {count} = this.#proposals;
    const {project} = this.#context;
    this.#next.hidden = false;
    if (count) {
      const proposed = plural(count, 'proposed value');
      fill(this.#next, `Next: look at the ${proposed} below, untick what is wrong, and mark the rest.`);
      return;
    }
    const train = h('a', {href: address('train', project)}, 'train with “Marked values”');
    const label = h('a', {href: address('label', project)}, 'mark more words');
    const others = bare > 0 && ` In the other ${plural(bare, 'text')} none is found.`;
    fill(this.#next, 'All known values are marked.', others, ' Next: ', train, ', or ', label, '.');
  }

  #start() {
    const {project} = this.#context;
    const {counts} = this.#intents;
    if (counts.total === 0) {
      const words = 'Import some; then mark which words are a city, a date or a name.';
      return emptyPage('No texts yet', words, firstAct(project, counts));
    }
    this.#drawOpening();
    return h('div', {class: 'stack'}, this.#opening, this.#proposals.element);
  }

  // One first step: to mark what is proposed, or else to begin by hand.
  #drawOpening() {
    const {project} = this.#context;
    const {count} = this.#proposals;
    const byHand = h('a', {class: 'button primary', href: address('label', project)}, 'Mark values');
    const more = h('a', {href: address('label', project)}, 'mark others by hand');
    const title = h('h2', {}, 'No value is marked yet');
    if (count) {
      const found = count === 1 ? '1 value was found' : `${number(count)} values were found`;
      const words = `${found}: look at them below, untick what is wrong, and mark the rest. Or `;
      fill(this.#opening, title, h('p', {}, words, more, '.'));
      return;
    }
    fill(
      this.#opening,
      title,
      h(
        'p',
        {},
        'Mark the words in a few texts; then the same words are proposed here in all others. ',
        'Do it where names, dates or numbers mislead the answers; else you need no slots.',
      ),
      h('p', {class: 'small'}, 'On the Label page V begins to mark. A file may bring marks along: JSONL, Rasa.'),
      h(
        'div',
        {class: 'row centre'},
        byHand,
        h('a', {class: 'button', href: address('data', project)}, 'Import'),
      ),
    );
  }
}
