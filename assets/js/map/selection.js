// The panel beside the map: the selection and its actions, a point's neighbours, and moved points.
import {address} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {IntentFinder} from '../shared/finder.js';
import {guarded} from '../shared/messages.js';
import {post} from '../shared/rest.js';
import {capital, number, plural} from '../shared/words.js';
import {utterances} from './points.js';

const MOST_SHOWN = 100;
const NEIGHBOURS = 6;

export class Selection {
  element = h('section', {class: 'sheet', 'aria-label': 'Selection', 'data-role': 'selection'});
  #context;
  #intents;
  #hears;
  #picked = []; // ids of the selected utterances
  #list = h('ul'); // their texts
  #asked = 0; // number of the newest request to show something; older answers are dropped
  #readings = 0; // the same for the texts of the selection

  // Callbacks in `hears`: `edit` with ids, kind, value and words of an edit; `marked` with ids to highlight;
  // `cleared` when the selection is dropped.
  constructor(context, intents, hears) {
    this.#context = context;
    this.#intents = intents;
    this.#hears = hears;
  }

  get picked() {
    return this.#picked;
  }

  #giveUp() {
    this.#picked = [];
    this.#asked += 1;
  }

  showNothing() {
    this.#giveUp();
    const words = 'Draw a lasso around points to label them together. Click a point for its neighbours.';
    fill(this.element, h('h2', {}, 'Selection'), h('p', {class: 'soft'}, words));
  }

  showMoved({moved}) {
    this.#giveUp();
    fill(
      this.element,
      h('h2', {}, 'Moved most'),
      h(
        'ol',
        {class: 'last', 'data-role': 'moved'},
        moved.map(one => this.#movedLine(one)),
      ),
    );
  }

  #movedLine({id, text, intents, change}) {
    const share = `${Math.round(100 * change)} % of its neighbours are others now`;
    const words = h('div', {class: 'soft small'}, `${intents.join(', ') || 'no label'}; ${share}`);
    const mark = () => this.#hears.marked([id]);
    const button = {class: 'plain', style: {'text-align': 'left'}, onclick: mark};
    return h('li', {}, h('button', button, h('span', {}, text, words)));
  }

  // The ids are set at once, because actions apply to them; the texts follow.
  async showPicked(ids) {
    this.#giveUp();
    this.#picked = ids;
    this.#list = h('ul', {class: 'last', style: {'max-height': '420px', overflow: 'auto'}});
    const more = ids.length - MOST_SHOWN;
    const clear = {class: 'plain push', 'data-key': 'clear', onclick: () => this.#hears.cleared()};
    fill(
      this.element,
      h(
        'div',
        {class: 'row'},
        h('h2', {'data-role': 'picked'}, `${plural(ids.length, 'utterance')} selected`),
        h('button', clear, 'Clear'),
      ),
      this.#actions(ids),
      this.#list,
      more > 0 && h('p', {class: 'soft'}, `and ${number(more)} more`),
    );
    await this.renew();
  }

  // Shows the current labels of the selection.
  async renew() {
    if (!this.#picked.length) return;
    const reading = (this.#readings += 1);
    const rows = await utterances(this.#context.base, this.#picked.slice(0, MOST_SHOWN));
    if (reading !== this.#readings) return;
    const line = row => h('li', {}, h('div', {}, h('div', {}, row.text), this.#intents.labels(row.labels)));
    fill(this.#list, rows.map(line));
  }

  #actions(ids) {
    const edit = (...how) => guarded(() => this.#hears.edit(ids, ...how));
    const finder = new IntentFinder({
      intents: () => this.#intents.open,
      label: `Label ${plural(ids.length, 'utterance')} as …`,
      pick: intent => edit('label', intent.id, `labelled ${intent.name}`)(),
    });
    const {nothing} = this.#intents;
    const none = {'data-key': 'out-of-scope', onclick: edit('out-of-scope', '', `marked as ${nothing}`)};
    const flag = {'data-key': 'flag', onclick: edit('flag', 'from the map', 'flagged')};
    return [
      finder.element,
      h(
        'div',
        {class: 'row', style: {margin: '10px 0'}},
        h('button', none, capital(nothing)),
        h('button', flag, 'Flag'),
      ),
    ];
  }

  async showNeighbours(id) {
    const {base, project} = this.#context;
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
    const why = {class: 'button push', href: address('try', project, {text: row.text})};
    fill(
      this.element,
      h('h2', {}, row.text),
      h('div', {class: 'row'}, this.#intents.labels(row.labels), h('a', why, 'Why this answer')),
      this.#near('Nearest examples', examples),
      this.#near('Nearest without a label', others),
    );
  }

  #near(title, found) {
    const lines = found.map(({record, cosine}) => {
      const chips = record.labels === null ? [] : this.#intents.labels(record.labels);
      const about = h('div', {class: 'row small soft'}, chips, `similarity ${cosine.toFixed(2)}`);
      return h('li', {}, h('div', {}, h('div', {}, record.text), about));
    });
    return [h('h3', {style: {'margin-top': '12px'}}, title), h('ul', {class: 'last'}, lines)];
  }
}
