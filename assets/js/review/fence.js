// The fence: method and threshold for being in scope, and the texts that cross it while it is moved.
import {field, fill, h, optionsOf, table} from '../shared/elements.js';
import {guarded, toast} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';
import {number, percent} from '../shared/words.js';

const PAUSE = 60;
const METHODS = {
  votes: {called: 'largest vote score', unit: 'a score of '},
  nearest: {called: 'nearest examples', unit: 'a familiarity of '},
  mahalanobis: {called: 'distance to the intents (Mahalanobis)', unit: 'a familiarity of '},
  mixture: {called: 'all three together', unit: 'a familiarity of '},
};
const OF_VOTES = [-0.2, 1.2];

export class FenceTab {
  #path;
  #intents;
  #asked = null; // the fence on the screen: `method`, `limit` and `limits`
  #own = 0;
  #timer = 0;
  #running = null;
  #intent = ''; // the intent whose threshold is moved; "" for the project's
  #whose;
  #method;
  #slider;
  #unit = h('span');
  #value = h('b', {class: 'tabular'});
  #figures = h('div', {class: 'row', style: {gap: '26px', margin: '16px 0'}, 'data-role': 'fence'});
  #crossed = h('div', {class: 'stack'});
  #buttons = h('div', {class: 'row'});
  #below = h('div');

  constructor({base, intents}) {
    this.#path = `${base}/fence`;
    this.#intents = intents;
    this.#whose = h('select', {
      'aria-label': 'Whose limit',
      onchange: event => {
        this.#intent = event.target.value;
        this.#drawSlider();
      },
    });
    this.#method = h('select', {
      'aria-label': 'Method',
      onchange: event => this.#set({method: event.target.value, limit: null, limits: {}}),
    });
    this.#slider = h('input', {
      type: 'range',
      step: 0.005,
      'aria-label': 'Limit',
      oninput: event => this.#move(Number(event.target.value)),
    });
    this.element = this.#layOut();
  }

  #layOut() {
    const lead =
      'A text that stays under the limit is out of scope: by its best score, or by how familiar it is, ' +
      'in standard deviations of your examples. Move it, and see who would go in and out; ' +
      'nothing is saved before you say so.';
    return h(
      'section',
      {class: 'sheet', 'aria-label': 'Fence'},
      h('p', {class: 'soft'}, lead),
      h(
        'div',
        {class: 'row end fence'},
        field('Goes by', this.#method),
        field('Limit of', this.#whose),
        h(
          'label',
          {class: 'field grow'},
          h('span', {}, 'In scope from ', this.#unit, this.#value),
          this.#slider,
        ),
        this.#buttons,
      ),
      this.#figures,
      this.#crossed,
      this.#below,
    );
  }

  async renew() {
    if (this.#intents.multi) {
      const words =
        'Where a text may have several intents, each has a threshold of its own, chosen in training.';
      fill(this.element, h('div', {class: 'empty'}, words));
      return;
    }
    await this.#look();
  }

  async #look() {
    this.#running?.abort();
    this.#running = new AbortController();
    const {signal} = this.#running;
    const found = await post(`${this.#path}/what-if`, this.#asked ?? undefined, {signal});
    this.#own = found.own;
    this.#asked = found.asked;
    const {open} = this.#intents;
    if (!open.some(({id}) => id === this.#intent)) this.#intent = ''; // it was archived meanwhile
    const options = open.map(({id, name}) => [id, this.#isOwn(id) ? `${name} (own)` : name]);
    fill(this.#whose, optionsOf([['', 'all intents'], ...options], this.#intent));
    fill(this.#method, optionsOf(methodOptions(found), found.asked.method));
    fill(this.#unit, METHODS[found.asked.method].unit);
    const [low, high] = found.asked.method === 'votes' ? OF_VOTES : found.span;
    this.#slider.min = Math.min(low, this.#limit).toFixed(2);
    this.#slider.max = Math.max(high, this.#limit).toFixed(2);
    this.#drawSlider();
    this.#draw(found);
  }

  #isOwn(id) {
    return id in (this.#asked?.limits ?? {});
  }

  get #limit() {
    const {limit, limits} = this.#asked;
    return limits[this.#intent] ?? limit ?? this.#own;
  }

  #drawSlider() {
    this.#slider.value = this.#limit;
    fill(this.#value, this.#limit.toFixed(3));
  }

  #move(limit) {
    if (this.#intent) this.#set({limits: {...this.#asked.limits, [this.#intent]: limit}});
    else this.#set({limit});
    fill(this.#value, limit.toFixed(3));
  }

  #set(change) {
    this.#running?.abort(); // its answer would bring back the earlier fence
    this.#asked = {...this.#asked, ...change};
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => guarded(() => this.#look())(), PAUSE);
  }

  #draw(found) {
    const {accuracy, kept, recall, judged} = found;
    fill(
      this.#figures,
      figure('answered right', accuracy, `of ${number(judged[0])} texts to judge by, in scope`),
      figure('let in', kept, 'of the same texts'),
      figure(
        'kept out',
        recall,
        recall ? `of ${number(judged[1])} texts labelled out of scope` : 'no such text yet',
      ),
    );
    fill(
      this.#crossed,
      crossedView('Now in', found.entering, found.n_entering),
      crossedView('Now out', found.leaving, found.n_leaving),
    );
    fill(this.#buttons, this.#actions(found));
    fill(this.#below, this.#suggestion(found.suggested), methodsView(found));
  }

  #actions({stands, asked}) {
    const moved = !isSame(stands, asked);
    const has = stands.method !== 'votes' || stands.limit !== null || Object.keys(stands.limits).length > 0;
    // Without an argument the fence on the screen is saved; the preview may still be of an earlier one.
    const save = (setting, words) =>
      guarded(async () => {
        const shown = this.#asked;
        const saved = setting ?? shown;
        await call(this.#path, {method: 'PUT', body: saved});
        toast(words, '', 'good');
        if (isSame(this.#asked, shown)) this.#asked = saved; // otherwise the user has moved it since
        await this.#look();
      });
    const back = () => this.#set(stands);
    const none = save(
      {method: 'votes', limit: null, limits: {}},
      'The model decides by its own limit again.',
    );
    const here = save(null, 'The fence stands there now.');
    return [
      moved && h('button', {class: 'primary', 'data-key': 'save', onclick: here}, 'Save'),
      moved && h('button', {'data-key': 'back', onclick: back}, 'As it stands'),
      has && !moved && h('button', {'data-key': 'none', onclick: none}, ownWords(stands, this.#own)),
    ];
  }

  #suggestion({limit, limits}) {
    const many = Object.keys(limits).length;
    return h(
      'div',
      {class: 'row', style: {'margin-top': '16px'}},
      h(
        'span',
        {class: 'soft'},
        `Calibrated on your labels, each judged by the others: ${limit.toFixed(3)}.`,
      ),
      h(
        'button',
        {class: 'small', 'data-key': 'calibrated', onclick: () => this.#set({limit})},
        'Look at it',
      ),
      many > 0 &&
        h(
          'button',
          {class: 'small', 'data-key': 'each', onclick: () => this.#set({limit, limits})},
          `With a limit for each of ${many} intents`,
        ),
    );
  }
}

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

const ownWords = ({method}, own) => 'The model’s own' + (method === 'votes' ? ` (${own.toFixed(3)})` : '');

const methodOptions = ({methods, best}) =>
  Object.entries(METHODS).map(([name, {called}]) => {
    if (!(name in methods)) return [name, called];
    return [name, `${called}: AUROC ${methods[name].toFixed(3)}${name === best ? ', measures best' : ''}`];
  });

const nowAndThen = ([now, then]) => (now === then ? percent(now) : `${percent(now)} → ${percent(then)}`);

const figure = (name, pair, note) =>
  h(
    'div',
    {},
    h('div', {class: 'soft small'}, name),
    h('div', {class: 'tabular figure'}, pair ? nowAndThen(pair) : '–'),
    h('div', {class: 'soft small'}, note),
  );

function crossedView(title, crossed, total) {
  if (!crossed.length) return null;
  return h(
    'details',
    {open: true, 'data-key': title},
    h('summary', {}, `${title}: ${number(total)}`),
    h('ul', {class: 'last told'}, crossed.map(crossedLine)),
  );
}

const crossedLine = ({text, intent, score, labelled, place}) =>
  h(
    'li',
    {},
    h('div', {class: 'grow'}, h('div', {}, text), h('div', {class: 'small soft'}, `best intent ${intent}`)),
    labelled ? h('span', {class: 'badge'}, labelled) : h('span', {class: 'soft small'}, place),
    h('span', {class: 'small tabular'}, score.toFixed(3)),
  );

function methodsView({methods, best}) {
  const rows = Object.entries(methods).map(([name, share]) => [
    METHODS[name].called + (name === best ? ' (measures best here)' : ''),
    h('td', {class: 'number'}, share.toFixed(3)),
  ]);
  if (!rows.length) return null;
  const words = 'AUROC: 1 is perfect, 0.5 is chance.';
  return h(
    'details',
    {style: {'margin-top': '12px'}, 'data-key': 'methods'},
    h('summary', {}, 'How well each method tells texts in scope from others here'),
    h('p', {class: 'soft small'}, words),
    table(['Method', h('th', {class: 'number'}, 'AUROC')], rows, {class: 'narrow'}),
  );
}
