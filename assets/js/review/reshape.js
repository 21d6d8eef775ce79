// Reshape intents: merge two, move examples, split by groups, rename; counted and previewed first, then done.
import {address, query, setQuery} from '../shared/address.js';
import {field, fill, h, offer} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {isUntold, radiusLine, resultWords, turnsOf} from '../shared/radius.js';
import {call, post} from '../shared/rest.js';
import {failed} from '../shared/skeleton.js';
import {capital, number, plural} from '../shared/words.js';
import {harmOf, isUnknown} from './harm.js';
import {Splitting} from './splitting.js';

const MOST = 500; // examples of an intent that are shown
const PAUSE = 150;
const HOWS = [
  ['', 'Choose'],
  ['merge', 'Merge it into another intent'],
  ['relabel', 'Move some examples to another intent'],
  ['split', 'Split it by groups'],
  ['rename', 'Rename it'],
];
const TO_ANOTHER = new Set(['merge', 'relabel']);
const EMPTY = {intent: '', how: '', target: '', name: ''};

// What a link to this tab chose; a new name is typed here.
function asLinked() {
  const [intent, how, target] = ['intent', 'how', 'target'].map(name => query().get(name) ?? '');
  return {...EMPTY, intent, how: HOWS.some(([one]) => one === how) ? how : '', target};
}

export class ReshapeTab {
  #tools;
  #form = asLinked(); // nothing is chosen for the user
  #chosen = new Set();
  #examples = [];
  #seen = null; // the revision at which they were listed
  #splitting;
  #timer = 0;
  #running = null;
  #asked = 0; // number of the newest list; older answers are dropped
  #blast = null; // what the chosen change does, once it is known
  #lists = Object.fromEntries(['intent', 'how', 'target'].map(name => [name, this.#list(name)]));
  #fields = {
    intent: field('Intent', this.#lists.intent),
    how: field('What to do', this.#lists.how),
    target: field('Other intent', this.#lists.target),
  };
  #name = this.#nameBox();
  #named = field('New name', this.#name);
  #choice = h('div', {class: 'row end'});
  #radius = h('div', {class: 'grow', 'data-role': 'reshape', 'aria-live': 'polite'});
  #turns = h('div', {class: 'after', 'data-role': 'answers'});
  #texts = h('ul', {class: 'last told'});
  #button = h(
    'button',
    {class: 'primary', 'data-key': 'do', disabled: true, onclick: guarded(() => this.#do())},
    'Choose what to change',
  );

  constructor(tools) {
    this.#tools = tools;
    this.#splitting = new Splitting(tools.base, () => this.#soon());
    this.element = h(
      'section',
      {class: 'sheet reshape', 'aria-label': 'Reshape intents'},
      h(
        'p',
        {class: 'soft'},
        'Choose an intent and a change. You see what it touches before anything is saved.',
      ),
      this.#choice,
      this.#texts,
      this.#splitting.element,
      this.#turns,
      h('div', {class: 'row decision'}, this.#radius, this.#button),
    );
  }

  async renew() {
    const list = (this.#asked += 1);
    this.#running?.abort();
    this.#arm(null);
    const {intents, base} = this.#tools;
    const open = intents.openSorted.filter(one => one.utterances > 0);
    if (!open.some(one => one.id === this.#form.intent)) this.#form = {...EMPTY};
    const {intent, how} = this.#form;
    const others = intents.openSorted.filter(one => one.id !== intent);
    if (!others.some(one => one.id === this.#form.target)) this.#form.target = '';
    const asked = new URLSearchParams({intent, split: 'train', size: MOST, order: 'text'});
    const isListed = intent && how === 'relabel';
    const found = isListed ? await call(`${base}/utterances?${asked}`) : {rows: [], revision: null};
    if (list !== this.#asked) return;
    this.#examples = found.rows;
    this.#seen = found.revision;
    const there = new Set(this.#examples.map(row => row.id));
    this.#chosen = new Set([...this.#chosen].filter(id => there.has(id)));
    setQuery({intent, how, target: this.#form.target});
    this.#draw(open, others);
    if (intent && how === 'split') await this.#splitting.load(intent);
    else this.#splitting.clear();
    if (list === this.#asked) await this.#look();
  }

  get #repair() {
    const {intent, how, target, name} = this.#form;
    switch (how) {
      case 'merge':
        return {kind: 'merge', intent, value: target};
      case 'relabel':
        // Of several intents of a text the others stay.
        return {kind: 'relabel', ids: [...this.#chosen], ...(this.#tools.intents.multi && {intent}), intents: [target]};
      case 'split':
        return {kind: 'split', intent, parts: this.#splitting.parts};
      default:
        return {kind: 'rename', intent, value: name};
    }
  }

  // What is still to be chosen, in words; empty if the change can be counted.
  get #lacks() {
    const {intent, how, target, name} = this.#form;
    if (!intent || !how) return 'Choose an intent and what to do with it.';
    if (TO_ANOTHER.has(how) && !target) return 'Choose the other intent.';
    if (how === 'relabel' && !this.#chosen.size) return 'Tick the examples below that move.';
    if (how === 'split') return this.#splitting.lacks;
    return how === 'rename' && !name.trim() ? 'Type the new name.' : '';
  }

  #draw(open, others) {
    const named = intents => [['', 'Choose an intent'], ...intents.map(({id, name}) => [id, name])];
    const {intent, how, target, name} = this.#form;
    if (this.#name.value !== name) this.#name.value = name;
    offer(this.#lists.intent, named(open), intent);
    offer(this.#lists.how, HOWS, how);
    offer(this.#lists.target, named(others), target);
    fill(
      this.#choice,
      this.#fields.intent,
      this.#fields.how,
      TO_ANOTHER.has(how) && this.#fields.target,
      how === 'rename' && this.#named,
    );
    fill(
      this.#texts,
      this.#examples.map(row => this.#line(row)),
    );
  }

  #list(name) {
    const choose = guarded(async event => {
      this.#form[name] = event.target.value;
      await this.renew();
      if (this.#form.how === 'split') this.#splitting.comeIntoSight();
    });
    return h('select', {'data-key': name, onchange: choose});
  }

  #nameBox() {
    const type = event => {
      this.#form.name = event.target.value;
      this.#soon();
    };
    return h('input', {type: 'text', maxlength: 200, 'data-key': 'name', oninput: type});
  }

  #line(row) {
    const choose = event => {
      if (event.target.checked) this.#chosen.add(row.id);
      else this.#chosen.delete(row.id);
      this.#soon();
    };
    const box = {type: 'checkbox', checked: this.#chosen.has(row.id), 'data-key': row.id, onchange: choose};
    return h('li', {}, h('label', {class: 'check grow'}, h('input', box), h('bdi', {}, row.text)));
  }

  // Between a change of the form and its count nothing can be done.
  #soon() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#arm(null);
    this.#timer = setTimeout(() => guarded(() => this.#look())(), PAUSE);
  }

  #arm(blast) {
    this.#blast = blast;
    this.#button.disabled = !blast;
    // Where two intents count as one, more answers are right: that recommends nothing, so no button stands out. Nor
    // does one that makes more answers wrong than right, or of which nobody knows what it does.
    const isAdvised = this.#form.how !== 'merge' && !(blast && (harmOf({blast}) || isUnknown({blast})));
    this.#button.classList.toggle('primary', isAdvised);
    this.#button.textContent = blast ? this.#deed(blast) : 'Choose what to change';
  }

  #deed({touched: [n]}) {
    const {intent, how, target, name} = this.#form;
    const [own, other] = [intent, target].map(id => this.#tools.intents.byId.get(id)?.name);
    switch (how) {
      case 'merge':
        return `Merge ${own} (${plural(n, 'text')}) into ${other}`;
      case 'relabel':
        return `Move ${plural(n, 'text')} to ${other}`;
      case 'split':
        return `Split ${plural(n, 'text')} off`;
      default:
        return `Rename it ${name.trim()}`;
    }
  }

  async #look() {
    this.#running?.abort();
    this.#arm(null);
    const lacks = this.#lacks;
    if (lacks || (this.#form.how === 'split' && !this.#splitting.possible)) {
      fill(this.#radius, h('p', {class: 'soft'}, lacks));
      fill(this.#turns);
      return;
    }
    this.#running = new AbortController();
    const {signal} = this.#running;
    const path = `${this.#tools.base}/review/what-if`;
    const [blast] = await post(path, {repairs: [this.#repair]}, {signal}).catch(error => {
      if (!signal.aborted) this.#fail(error);
      throw error;
    });
    if (signal.aborted) return;
    this.#arm(blast);
    const touched = h('p', {'data-role': 'touched'}, touchedWords(blast), this.#goes());
    const {how} = this.#form;
    // The bar lies over the list: it has the result alone.
    fill(this.#radius, h('p', {'data-role': 'result'}, capital(resultWords(blast))));
    const answers = !isUntold(blast) && [radiusLine(blast, how), turnsOf(blast, how)]; // else the bar says it all
    fill(this.#turns, h('h3', {}, 'What changes'), touched, answers);
  }

  // What was counted before is of another choice.
  #fail(error) {
    fill(this.#radius, failed(error, () => this.#look()));
    fill(this.#turns);
  }

  // What a merge leaves of the intent.
  #goes() {
    const {intent, how, target} = this.#form;
    if (how !== 'merge') return null;
    const [own, other] = [intent, target].map(id => this.#tools.intents.byId.get(id)?.name);
    const texts = h('a', {href: address('data', query().get('project'), {intent})}, 'See its texts');
    return [` ${own} becomes ${other}: what told the two apart is gone. Undo brings it back. `, texts, '.'];
  }

  async #do() {
    const {intents, act} = this.#tools;
    const repair = this.#repair;
    const from = intents.byId.get(this.#form.intent)?.name;
    const deed = this.#button.textContent;
    const isNamed = repair.kind === 'merge';
    const words = isNamed ? `${deed}.` : `${from}: ${deed[0].toLowerCase()}${deed.slice(1)}.`;
    const [form, chosen, blast] = [this.#form, this.#chosen, this.#blast];
    this.#form = {...EMPTY};
    this.#chosen = new Set();
    this.#splitting.clear();
    this.#arm(null);
    try {
      await act(repair, words, {blast, seen: this.#seen ?? blast.revision});
    } catch (error) {
      if (!this.#form.intent) [this.#form, this.#chosen] = [form, chosen]; // so that it can be tried again
      this.renew().catch(() => {}); // the message tells of the first error
      throw error;
    }
  }
}

function touchedWords({touched: [n, nTest]}) {
  if (!n) return 'Labels stay as they are.';
  const inTest = nTest ? `, ${number(nTest)} of them test texts` : ', none of them a test text';
  return `Changes the label of ${plural(n, 'text')}${inTest}.`;
}
