// The panel beside the map: the selection and its actions, a point's neighbours, and moved points.
import {address, whyAddress} from '../shared/address.js';
import {fill, h, said, titled} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {post} from '../shared/rest.js';
import {moreWords, number, percent, plural, similarityWords} from '../shared/words.js';
import {Labelling} from './labelling.js';
import {MixedUp} from './mixed_up.js';
import {utterances} from './points.js';

const MOST_SHOWN = 100;
const NEIGHBOURS = 6;

export class Selection {
  // It scrolls, and before the intents that are mixed up have come nothing in it takes the focus.
  element = h('section', {class: 'sheet', tabindex: 0, 'aria-label': 'Selection', 'data-role': 'selection'});
  #context;
  #intents;
  #hears;
  #picked = []; // ids of the selected utterances
  #concealed = 0; // how many of them the legend hides
  #clicked = null; // id of the text whose neighbours are shown
  #about = h('div', {class: 'row', 'data-role': 'about'}); // its label
  #rows = []; // the first of them, as they are now
  #shown = MOST_SHOWN;
  #labelling;
  #heading = h('h2', {'data-role': 'picked'});
  #list = h('ul', {class: 'last picked'});
  #more = h('button', {class: 'plain', onclick: guarded(() => this.#showMore())});
  #mixedUp;
  #asked = 0; // number of the newest request to show something; older answers are dropped
  #readings = 0; // the same for the texts of the selection

  // Callbacks in `hears`: `edited` after texts were changed; `marked` with ids to highlight; `picked` when a text was
  // taken out; `opened` with the id of a text; `paired` with two intents to show alone, which returns their
  // colours; `cleared` when the selection is dropped.
  constructor(context, intents, hears) {
    this.#context = context;
    this.#intents = intents;
    this.#hears = hears;
    this.#mixedUp = new MixedUp(context, pair => this.#showPair(pair));
    this.#labelling = new Labelling(context, intents, () => hears.edited());
    this.#labelling.element.addEventListener('reach', () => this.#draw()); // other rows are taken now
  }

  get picked() {
    return this.#picked;
  }

  // Whether it shows a selection or a point's neighbours.
  get isUsed() {
    return this.element.classList.contains('used');
  }

  #giveUp(isUsed = true) {
    this.#picked = [];
    this.#clicked = null;
    this.#asked += 1;
    this.#readings += 1;
    this.element.classList.toggle('used', isUsed);
  }

  // What the panel shows, under the newest act.
  #fill(...content) {
    fill(this.element, this.#labelling.newest, content);
  }

  showNothing() {
    this.#giveUp(false);
    const words = 'Each point is a text; similar texts lie together. Click one, or choose Lasso and draw around some.';
    this.#fill(h('h2', {}, 'Selection'), h('p', {class: 'soft'}, words), this.#mixedUp.element);
  }

  // Finds the intents that are mixed up; the map does not wait for it.
  compare() {
    return this.#mixedUp.offer(this.#intents.counts.by_split.train ?? 0);
  }

  #headed(...title) {
    const clear = {class: 'plain push', 'data-key': 'clear', onclick: () => this.#hears.cleared()};
    return h('div', {class: 'row start'}, title, h('button', clear, 'Clear'));
  }

  // Two intents that are mixed up, and the texts by which they are.
  #showPair(pair) {
    const {intents, title, measure, figure, texts} = pair;
    this.#giveUp();
    const [first, second] = intents;
    const border = address('review', this.#context.project, {tab: 'border', first, second});
    const tints = this.#hears.paired(intents.map(id => this.#intents.byId.get(id)?.name ?? '?'));
    this.#fill(
      this.#headed(h('h2', {class: 'grow', dir: 'auto'}, titled(title))),
      h('p', {class: 'soft'}, `${measure} of one of the two that get the other as answer.`),
      h('div', {class: 'around'}, h('a', {class: 'button', href: border}, 'Walk along their border')),
      figure > texts.length && h('p', {class: 'soft small'}, `The first ${number(texts.length)}:`),
      h('ul', {class: 'last', 'data-role': 'mixed-texts'}, texts.map(one => this.#pairLine(one, tints))),
    );
    this.#hears.marked([]);
  }

  #pairLine({id, text, intents, place}, tints) {
    const set = place === 'test' && h('span', {class: 'badge'}, 'test text');
    const show = guarded(() => this.#hears.opened(id));
    const about = h('span', {class: 'row tight'}, this.#intents.labels(intents, tints), set);
    const words = h('span', {class: 'grow'}, said(text), about);
    return h('li', {}, h('button', {class: 'plain', 'data-key': `text ${id}`, onclick: show}, words));
  }

  showMoved({moved}) {
    this.#giveUp(false);
    this.#fill(
      h('h2', {}, 'Moved most'),
      h(
        'ol',
        {class: 'last', 'data-role': 'moved'},
        moved.map(one => this.#movedLine(one)),
      ),
    );
  }

  #movedLine({id, text, intents, labelled, change}) {
    const share = `${percent(change, 0)} of the texts around it are others now`;
    const label = labelled ? intents.join(', ') || this.#intents.nothing : 'no label';
    const words = h('div', {class: 'soft small'}, `${label}; ${share}`);
    const mark = () => this.#hears.marked([id]);
    const button = {class: 'plain', style: {'text-align': 'start'}, onclick: mark};
    return h('li', {}, h('button', button, h('span', {}, said(text), words)));
  }

  // The ids are set at once, because actions apply to them; the texts follow.
  async showPicked(ids) {
    this.#giveUp();
    this.#picked = ids;
    this.#shown = MOST_SHOWN;
    this.#rows = [];
    fill(this.#list);
    this.#fill(
      this.#headed(this.#heading),
      this.#labelling.element,
      this.#list,
      this.#more,
    );
    this.#count();
    this.#labelling.start(ids);
    await this.renew();
  }

  // Shows the current labels of the selection, and counts again what a label would change.
  async renew() {
    const ids = this.#clicked ? [this.#clicked] : this.#picked;
    if (!ids.length) return;
    const reading = (this.#readings += 1);
    const [rows] = await Promise.all([
      utterances(this.#context.base, ids.slice(0, this.#shown)),
      this.#labelling.count(ids),
    ]);
    if (reading !== this.#readings) return;
    this.#rows = rows;
    if (this.#clicked && rows[0]) this.#tellOf(rows[0]);
    else this.#draw();
  }

  #tellOf({text, labels}) {
    const href = whyAddress(this.#context.project, text);
    const why = href && h('a', {class: 'button push', href}, 'Why this answer');
    fill(this.#about, this.#intents.labels(labels), why);
  }

  #count() {
    const concealed = this.#concealed && `, ${number(this.#concealed)} of them hidden by the legend`;
    this.#heading.textContent = `${plural(this.#picked.length, 'text')} selected${concealed || ''}`;
    const more = this.#picked.length - this.#shown;
    fill(this.#more, more > 0 && moreWords(this.#shown, this.#picked.length, MOST_SHOWN));
    this.#more.hidden = more <= 0;
  }

  // An act on the selection takes them, too.
  tellConcealed(n) {
    if (n === this.#concealed) return; // a button is not drawn anew under a finger
    this.#concealed = n;
    this.#count();
  }

  #draw() {
    fill(
      this.#list,
      this.#rows.map(row => this.#line(row)),
    );
  }

  #line(row) {
    const out = {
      class: 'plain push',
      'aria-label': `Take out “${row.text.slice(0, 60)}”`,
      title: 'Take it out of the selection',
      'data-key': `out ${row.id}`,
      onclick: guarded(() => this.#takeOut(row.id)),
    };
    const about = [
      this.#intents.labels(row.labels),
      row.split === 'test' && h('span', {class: 'badge'}, 'test text'),
    ];
    return h(
      'li',
      {class: this.#labelling.takes(row) ? '' : 'spared'},
      h('div', {class: 'grow'}, said(row.text), h('div', {class: 'row tight'}, about)),
      h('button', out, '×'),
    );
  }

  async #showMore() {
    this.#shown += MOST_SHOWN;
    this.#count();
    await this.renew();
  }

  async #takeOut(id) {
    this.#picked = this.#picked.filter(one => one !== id);
    if (!this.#picked.length) {
      this.#hears.cleared();
      return;
    }
    this.#rows = this.#rows.filter(row => row.id !== id);
    this.#count();
    this.#draw();
    this.#hears.picked();
    await this.#labelling.count(this.#picked);
  }

  async showNeighbours(id) {
    const {base} = this.#context;
    const asked = (this.#asked += 1);
    const [row] = await utterances(base, [id]);
    if (!row) return;
    const similar = unlabelled => post(`${base}/similar`, {texts: [row.text], n: NEIGHBOURS, unlabelled});
    const found = await Promise.all([similar(false), similar(true)]).catch(() => [[], []]);
    if (asked !== this.#asked) return;
    this.#giveUp();
    const [examples, others] = found.map(list => list.filter(one => one.record.id !== id));
    const ids = [...examples, ...others].map(one => one.record.id);
    this.#hears.marked([id, ...ids]);
    this.#clicked = id;
    this.#tellOf(row);
    this.#fill(
      this.#headed(h('h2', {class: 'grow', dir: 'auto'}, row.text)),
      this.#about,
      this.#labelling.element,
      this.#near('Nearest examples', examples),
      this.#near('Nearest without a label', others),
    );
    this.#labelling.start([id]);
    await this.#labelling.count([id]);
  }

  #near(title, found) {
    const lines = found.map(({record, cosine}) => {
      const chips = record.labels === null ? [] : this.#intents.labels(record.labels);
      const about = h('div', {class: 'row small soft'}, chips, similarityWords(cosine));
      return h('li', {}, h('div', {}, said(record.text), about));
    });
    return [h('h3', {class: 'after'}, title), h('ul', {class: 'last'}, lines)];
  }
}
