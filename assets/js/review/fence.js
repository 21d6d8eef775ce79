// The fence: method and threshold for being in scope, and the texts that cross it while it is moved.
import {address, query} from '../shared/address.js';
import {field, fill, h, offer, table} from '../shared/elements.js';
import {guarded, toast} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';
import {failed} from '../shared/skeleton.js';
import {number, percent, plural} from '../shared/words.js';
import {choicesView} from './line_choices.js';
import {changesView, crossedView, METHODS, pinsView} from './moved_line.js';

const PAUSE = 60;
const OF_VOTES = [-0.2, 1.2];
const FITTING = ['test text that has', 'test texts that have'];
const OF_TRAINING = 'texts that you labelled out of scope, none a test text';
const FEWEST = 20; // texts labelled out of scope by which a limit can be judged; reports ask for as many
const UNMOVED = 'Nothing to save yet: choose a limit, or move the slider.';

export class FenceTab {
  #path;
  #intents;
  #asked = null; // the fence on the screen: `method`, `limit` and `limits`
  #own = 0;
  #refresh;
  #champion;
  #stands = null; // the fence in force
  #starts = false; // whether a method was just chosen, and no limit of it
  #wasMoved = false; // whether the line on the screen was another than that in force
  #timer = 0;
  #running = null;
  #intent = ''; // the intent whose threshold is moved; "" for the project's
  #whose;
  #method;
  #slider;
  #unit = h('span');
  #value = h('b', {class: 'tabular'});
  #inForce = h('div', {class: 'in-force soft small', 'data-role': 'in force'});
  #figures = h('div', {class: 'figures', 'data-role': 'fence'});
  #changes = h('div', {class: 'grow', role: 'status', 'data-role': 'changes'});
  #few = h('div', {'data-role': 'few'});
  #pins = h('div');
  #crossed = h('div', {class: 'stack after'});
  #buttons = h('div', {class: 'row tight'});
  // The buttons come first: how long the words are moves none of them.
  #decision = h('div', {class: 'row decision', hidden: true}, this.#buttons, this.#changes);
  #version = h('span', {'data-role': 'version'});
  #wishes = h('div', {class: 'around', 'data-role': 'wishes'});
  #each = h('div', {'data-role': 'each'});
  #below = h('div');
  #saving = null; // the line that is on its way: a second press of Save sends it no second time

  // `refresh` shows the saved fence's accuracy in the header; `champion()` is the number of the version that answers.
  constructor({base, intents, refresh, champion}) {
    this.#refresh = refresh;
    this.#champion = champion;
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
      'aria-label': 'Measure',
      onchange: event => this.#choose(event.target.value),
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
      'The model refuses texts that are too unlike your examples: they are out of scope. ' +
      'Choose how strict it is; nothing is saved until you press Save.';
    return h(
      'section',
      {class: 'sheet scope-limit', 'aria-label': 'Out of scope'},
      h('h2', {}, 'Which texts should be refused?'),
      h('p', {class: 'soft'}, lead, ' ', this.#version),
      this.#few,
      this.#wishes,
      h(
        'div',
        {class: 'fence'},
        h(
          'label',
          {class: 'field line'},
          h('span', {class: 'small'}, 'Or move the limit yourself: refused below ', this.#unit, this.#value),
          this.#slider,
        ),
        this.#inForce,
        h('div', {class: 'row ends soft small'}, h('span', {}, '← more lenient'), h('span', {}, 'stricter →')),
      ),
      this.#decision,
      h(
        'div',
        {class: 'fence'},
        h(
          'details',
          {'data-key': 'fence choices'},
          h('summary', {}, 'Another measure, or a limit for one intent'),
          h('div', {class: 'row end'}, field('Measured by', this.#method), field('Limit for', this.#whose)),
          this.#each,
        ),
      ),
      this.#figures,
      this.#pins,
      this.#crossed,
      this.#below,
    );
  }

  async renew() {
    if (this.#intents.multi) {
      const words =
        'Where a text may have several intents, each has a limit of its own, set when the model is trained.';
      fill(this.element, h('div', {class: 'empty'}, words));
      return;
    }
    await this.#look().catch(error => {
      const isLate = error.name === 'AbortError'; // a newer look is on its way
      if (!this.#stands && !isLate) fill(this.#wishes, failed(error, () => this.renew()));
      throw error;
    });
  }

  async #look() {
    this.#running?.abort();
    this.#running = new AbortController();
    const {signal} = this.#running;
    let found = await post(`${this.#path}/what-if`, this.#asked ?? undefined, {signal});
    if (this.#starts && found.asked.method !== found.stands.method) {
      const start = {...found.asked, limit: found.equal};
      found = await post(`${this.#path}/what-if`, start, {signal});
    }
    this.#starts = false;
    this.#stands = found.stands;
    this.#own = found.own;
    this.#asked = found.asked;
    const {openSorted: open} = this.#intents;
    if (!open.some(({id}) => id === this.#intent)) this.#intent = ''; // it was archived meanwhile
    const options = open.map(({id, name}) => [id, this.#isOwn(id) ? `${name} (own)` : name]);
    offer(this.#whose, [['', 'All intents'], ...options], this.#intent);
    offer(this.#method, methodOptions(found), found.asked.method);
    fill(this.#unit, METHODS[found.asked.method].unit);
    const [low, high] = found.asked.method === 'votes' ? OF_VOTES : found.span;
    this.#slider.min = Math.min(low, this.#limit).toFixed(2);
    this.#slider.max = Math.max(high, this.#limit).toFixed(2);
    this.#drawSlider();
    this.#draw(found);
  }

  // Another method starts from the limit that keeps as many texts in scope as now.
  #choose(method) {
    this.#starts = true;
    if (method === this.#stands?.method) this.#set(this.#stands);
    else this.#set({method, limit: null, limits: {}});
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
    fill(this.#value, this.#say(this.#limit));
    this.#markInForce();
  }

  // Where the limit is that decides now; by another measure it has no place on this slider.
  #markInForce() {
    const {method, limit, limits} = this.#stands;
    const isHere = method === this.#asked.method;
    const now = limits[this.#intent] ?? limit ?? this.#own;
    const {min, max} = this.#slider;
    const share = Math.min(1, Math.max(0, (now - min) / (max - min)));
    this.#inForce.style.setProperty('--w', share);
    this.#inForce.classList.toggle('late', share > 0.5);
    const words = isHere ? `decides now: ${this.#say(now)}` : `decides now: ${METHODS[method].called}`;
    fill(this.#inForce, isHere && h('i', {'aria-hidden': 'true'}), h('span', {}, words));
  }

  #say(value) {
    return METHODS[this.#asked.method].say(value);
  }

  #move(limit) {
    if (!this.#stands) return; // it has not arrived
    if (this.#intent) this.#set({limits: {...this.#asked.limits, [this.#intent]: limit}});
    else this.#set({limit});
    fill(this.#value, this.#say(limit));
  }

  #set(change) {
    this.#running?.abort(); // its answer would bring back the earlier fence
    this.#asked = {...this.#asked, ...change};
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => guarded(() => this.#look())(), PAUSE);
  }

  #draw(found) {
    const {accuracy, kept, recall, judged, outside_tested: isTested} = found;
    const labelled = isTested ? 'test texts labelled out of scope' : OF_TRAINING;
    fill(
      this.#figures,
      figure('Answered right', accuracy, `of ${plural(judged[0], ...FITTING)} an intent`),
      figure('Not refused', kept, 'of the same texts'),
      figure(
        'Refused, as they should be',
        recall,
        recall ? `of ${number(judged[1])} ${labelled}` : 'no text is labelled out of scope yet',
      ),
    );
    fill(this.#few, judged[1] < FEWEST && fewOutside(judged[1]));
    fill(this.#version, versionWords(this.#champion()));
    const moved = !isSame(found.stands, found.asked);
    fill(this.#changes, moved ? changesView(found) : h('p', {class: 'soft'}, UNMOVED));
    fill(this.#pins, moved && pinsView(found));
    fill(
      this.#crossed,
      crossedView(found),
    );
    fill(this.#buttons, this.#actions(found));
    this.#decision.hidden = false;
    if (moved && !this.#wasMoved) this.#decision.scrollIntoView({block: 'nearest'});
    this.#wasMoved = moved;
    fill(this.#wishes, choicesView(found, {fewest: FEWEST, choose: change => this.#set(change)}));
    fill(this.#each, this.#eachOwn(found.suggested));
    fill(this.#below, methodsView(found));
  }

  #actions({stands, asked, default: own}) {
    const moved = !isSame(stands, asked);
    const put = guarded((...given) => this.#saveOnce(...given));
    const save = () => put(this.#asked, 'The new limit decides now.'); // the preview may be older
    const reset = () => put(own, 'The default limit decides again.');
    const discard = () => this.#set(stands);
    // Both stand there from the beginning: one that came later would push Save from under the pointer.
    return [
      h('button', {class: 'primary', 'data-key': 'save', disabled: !moved, onclick: save}, 'Save'),
      h('button', {'data-key': 'back', disabled: !moved, onclick: discard}, 'Discard changes'),
      !isSame(meant(stands), meant(own)) &&
        !moved &&
        h('button', {'data-key': 'none', onclick: reset}, 'Reset to default'),
    ];
  }

  async #saveOnce(setting, words) {
    if (isSame(this.#saving, setting)) return;
    this.#saving = setting;
    try {
      await this.#save(setting, words);
    } finally {
      if (this.#saving === setting) this.#saving = null;
    }
  }

  async #save(setting, words) {
    const [before, shown] = [this.#stands, this.#asked];
    await this.#send(setting, before);
    toast(words, 'It also decides in the files that you hand over.', 'good', () => this.#undo(setting, before));
    if (isSame(this.#asked, shown)) this.#asked = setting; // otherwise the user has moved it since
    await this.#look();
  }

  // Restores the former fence, unless somebody has changed it since.
  async #undo(saved, before) {
    await this.#send(before, saved);
    this.#asked = null;
    toast('The former limit decides again.', '', 'good');
    await this.#look();
  }

  // Where another limit than `seen` is in force by now, it is refused, and the page shows that one.
  async #send(setting, seen) {
    await call(this.#path, {method: 'PUT', body: {...setting, seen}}).catch(error => {
      if (isSame(this.#asked, this.#stands)) this.#asked = null; // the user has moved nothing
      this.#look().catch(() => {}); // the message tells of the first error
      throw error;
    });
    await this.#refresh();
  }

  #eachOwn({limit, limits}) {
    const many = Object.keys(limits).length;
    const choose = () => this.#set({limit, limits});
    const {length: all} = this.#intents.openSorted;
    const words = `Give ${many === all ? `each of ${all}` : `${many} of ${all}`} intents a limit of its own`;
    const [kept, them] = all - many === 1 ? ['one keeps', 'it'] : [`${all - many} keep`, 'them'];
    const others =
      `The other ${kept} the limit of all: the model answers too few of your examples with ${them} to set one.`;
    return (
      many > 0 && [
        h('button', {class: 'small after', 'data-key': 'each', onclick: choose}, words),
        many < all && h('p', {class: 'soft small'}, others),
      ]
    );
  }
}

// Without such texts nobody can tell whether the limit refuses the right ones.
function fewOutside(n) {
  const lead = n
    ? `Only ${plural(n, 'text is', 'texts are')} labelled out of scope: too few to tell`
    : 'No text is labelled out of scope, so nobody knows';
  const label = address('label', query().get('project'), {order: 'unlike'});
  return h(
    'div',
    {class: 'note row'},
    h('span', {class: 'grow'}, `${lead} what a more lenient limit costs. Label at least ${FEWEST}.`),
    h('a', {class: 'button', href: label}, 'Label texts unlike your examples'),
  );
}

const versionWords = champion =>
  `You choose it for version ${champion}, which answers now. A limit that you save stays when another version is used.`;

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

const meant = ({method, limit, limits}) => [method, limit, Object.entries(limits).sort()];

const methodOptions = ({methods, best}) =>
  Object.entries(METHODS).map(([name, {called}]) => {
    if (!(name in methods)) return [name, called];
    return [name, name === best ? `${called} (best here)` : called];
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

function methodsView({methods, best}) {
  const rows = Object.entries(methods).map(([name, share]) => [
    METHODS[name].called + (name === best ? ' (best here)' : ''),
    h('td', {class: 'number'}, percent(share)),
  ]);
  if (!rows.length) return null;
  const words =
    'How often the measure tells a text that fits an intent from one that fits none. 50 % is chance.';
  return h(
    'details',
    {class: 'after', 'data-key': 'methods'},
    h('summary', {}, 'How this is computed'),
    h('p', {class: 'soft small'}, words),
    table(['Measure', h('th', {class: 'number'}, 'Told apart')], rows, {class: 'narrow'}),
  );
}
