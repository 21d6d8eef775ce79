// The Slots page: slots and their values, proposals, and synthetic utterances.
import {AugmentingSheet} from './slots/augmenting.js';
import {BookSheet} from './slots/book.js';
import {ByHandSheet} from './slots/by_hand.js';
import {ProposalsSheet} from './slots/proposals.js';
import {address} from './shared/address.js';
import {Behind} from './shared/behind.js';
import {fill, h} from './shared/elements.js';
import {emptyPage, firstAct} from './shared/first_act.js';
import {Intents} from './shared/intents.js';
import {dialogIsOpen, guarded} from './shared/messages.js';
import {failed, skeleton} from './shared/skeleton.js';
import {number, plural} from './shared/words.js';
import {frame} from './studio.js';

const LEAD =
  'Mark cities, dates and names, so that they do not mislead the answers: the training “Marked values”, on the page ' +
  'Train under “More ways”, then looks at the words around them. The model still answers with intents alone, and ' +
  'gives no values out.';
const LOADING = 'Looking for values in your texts …';
const WHAT = 'A value is what changes from text to text while the intent stays: “Rome” in “a flight to Rome”.';
const FIRST = 'Mark a few by hand; the same words are then known in all other texts.';

export const mount = view => frame(view, 'slots', 'Slots', LEAD, context => new SlotsPage(context).start());

class SlotsPage {
  #context;
  #intents;
  #book;
  #proposals;
  #byHand;
  #augmenting;
  #isNew = true; // nothing is marked
  #counts = h('span', {class: 'soft small tabular push', 'data-role': 'marked'});
  #next = h('div', {class: 'note row', 'data-role': 'advice', role: 'status', hidden: true});
  #place = h('div');
  #opening = h('div', {class: 'sheet empty', hidden: true});
  #aside;
  #columns;
  #asked = 0; // number of the newest request; older answers are dropped

  constructor(context) {
    const {base} = context;
    const changed = guarded(() => this.#load());
    this.#context = context;
    this.#intents = new Intents(base, context.status.task);
    this.#book = new BookSheet(base, changed);
    this.#proposals = new ProposalsSheet(base, {changed, counted: () => this.#drawNext()});
    this.#byHand = new ByHandSheet(base, changed);
    this.#augmenting = new AugmentingSheet(base, this.#intents, {changed, isFirst: () => !this.#proposals.count});
    // What is proposed is the next thing to do, so it comes before the list of what is marked.
    const parts = [this.#opening, this.#next, this.#proposals.element, this.#byHand.element, this.#book.element];
    this.#aside = h('aside', {class: 'stack'}, this.#augmenting.element);
    this.#columns = h('div', {}, h('div', {class: 'stack'}, parts), this.#aside);
  }

  async start() {
    this.#context.heading.append(this.#counts);
    this.#context.main.append(this.#place);
    fill(this.#place, h('div', {class: 'sheet'}, skeleton(LOADING)));
    try {
      await this.#intents.load();
      await this.#load();
    } catch (error) {
      fill(this.#place, h('div', {class: 'sheet'}, failed(error, () => location.reload())));
      throw error;
    }
    const behind = new Behind(
      dialogIsOpen,
      guarded(() => this.#load()),
    );
    this.#context.onStatus((status, before) => {
      if (before && before.revision !== status.revision) behind.note();
    });
  }

  // Parts stay where they are when the first value is marked, so that the hand that marks keeps its place.
  async #load() {
    const asked = (this.#asked += 1);
    if (this.#intents.counts.total === 0) await this.#intents.load(); // they may have come since
    const book = await this.#book.load();
    if (asked !== this.#asked) return;
    const {n_marked: marked, n_utterances: all} = book;
    this.#counts.hidden = all === 0;
    const base = this.#intents.counts.by_split.test ? ' that are no test texts' : '';
    this.#counts.textContent = `Values marked in ${number(marked)} of ${plural(all, 'text')}${base}`;
    if (this.#intents.counts.total === 0) {
      fill(this.#place, this.#noTexts());
      return;
    }
    this.#isNew = !book.slots.length;
    this.#columns.classList.toggle('columns', !this.#isNew);
    this.#book.element.hidden = this.#aside.hidden = this.#isNew;
    await Promise.all([this.#proposals.load(), this.#byHand.start()]);
    if (!this.#columns.isConnected) fill(this.#place, this.#columns);
  }

  #noTexts() {
    const {project} = this.#context;
    const words = 'Import some; then mark which words are a city, a date or a name.';
    return emptyPage('No texts yet', words, firstAct(project, this.#intents.counts));
  }

  // What to do now, in the page's first line below its purpose.
  #drawNext() {
    const {count} = this.#proposals;
    this.#proposals.element.hidden = !count && !this.#proposals.isWide;
    this.#opening.hidden = !this.#isNew;
    this.#next.hidden = this.#isNew || count > 0;
    if (this.#isNew) this.#drawOpening(count);
    else if (!count) this.#drawAdvice();
  }

  #drawAdvice() {
    const train = h('a', {class: 'button', href: address('train', this.#context.project)}, 'Train “Marked values”');
    const more = h('button', {'data-key': 'more', onclick: () => this.#byHand.focus()}, 'Mark more by hand');
    const words = h('span', {class: 'grow'}, 'All known values are marked. Next: let the model learn from them.');
    fill(this.#next, words, train, more);
  }

  // One first step: to mark what is proposed, or else to begin by hand.
  #drawOpening(count) {
    const known = count === 1 ? '1 known value stands' : `${number(count)} known values stand`;
    const first = count ? `${known} in your texts: untick what is wrong below, and mark the rest.` : FIRST;
    const begin = {class: count ? '' : 'primary', 'data-key': 'begin', onclick: () => this.#byHand.focus()};
    fill(
      this.#opening,
      h('h2', {}, 'No value is marked yet'),
      h('p', {}, WHAT),
      h('p', {}, first),
      h('button', begin, 'Mark by hand'),
    );
  }
}
