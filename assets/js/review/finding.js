// One finding: why it is one, its texts, and what mends it, each with whose answers it would change.
import {address, query} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {IntentFinder} from '../shared/finder.js';
import {ask, guarded, toast} from '../shared/messages.js';
import {post} from '../shared/rest.js';
import {radiusLine, turnsOf} from './radius.js';

const ABOUT_ONE = new Set(['label', 'greedy', 'next']); // the other texts are there to compare with

const FIRST = {
  relabel: ['intent', 'Choose the label, and see first what it changes.'],
  rename: ['name', 'Labels and answers stay as they are.'],
  describe: ['description', 'Say in a sentence what belongs to it. Labels stay as they are.'],
};
// What has to be said before anything can be foretold; else undefined.
const firstOf = ({asks, repair}) =>
  asks && FIRST[repair.kind]?.[0] === asks ? FIRST[repair.kind][1] : undefined;
const QUESTIONS = {
  split: input => ['Name of the new intent', input, 'Split'],
  rename: input => ['New name of the intent', input, 'Rename'],
  describe: input => ['What belongs to this intent', input, 'Describe'],
};

export class FindingView {
  element = h('section', {
    class: 'sheet',
    'aria-label': 'Finding',
    'data-role': 'finding',
    'aria-live': 'polite',
  });
  #tools;
  #finding = null;
  #remedies = []; // each with its button, its line, and what it would change
  #body = h('div');
  #choices = h('div', {class: 'remedies'});
  #turns = h('div');
  #asked = 0;

  constructor(tools) {
    this.#tools = tools;
  }

  async show(finding) {
    const same = finding && finding.id === this.#finding?.id;
    this.#finding = finding;
    if (!finding) {
      this.#remedies = [];
      fill(this.element, h('div', {class: 'empty'}, h('h2', {}, 'All is well here'), 'Choose another kind.'));
      return;
    }
    fill(this.element, this.#heading(finding), this.#body, this.#choices, this.#turns);
    fill(this.#body, this.#textsOf(finding));
    this.#remedies = finding.remedies.map((remedy, place) => this.#remedy(remedy, place));
    this.#drawChoices();
    if (!same) fill(this.#turns);
    await this.#ask(this.#remedies.filter(one => one.repair && !firstOf(one)));
  }

  onKey(key) {
    if (key === 'p' && this.#finding) return () => this.#pin();
    if (!/^[1-9]$/.test(key)) return null;
    const chosen = this.#remedies[Number(key) - 1];
    return chosen && (() => this.#take(chosen));
  }

  #heading({title, why, kind, intents}) {
    const [first, second] = intents;
    const between = {tab: 'border', first, second};
    const walk = h(
      'a',
      {href: address('review', query().get('project'), between)},
      'Walk along their border',
    );
    return [h('h2', {}, title), h('p', {class: 'soft'}, why, kind === 'confusion' && [' ', walk, '.'])];
  }

  #textsOf({texts, kind}) {
    const each = kind === 'confusion';
    return h(
      'ul',
      {class: `last told ${ABOUT_ONE.has(kind) ? 'lead' : ''}`},
      texts.map(one => this.#line(one, each)),
    );
  }

  #line(one, each) {
    const {intents} = this.#tools;
    const fix = each && one.suggested && this.#fix(one);
    return h(
      'li',
      {},
      h(
        'div',
        {class: 'grow'},
        h('div', {}, one.text),
        h('div', {class: 'row small soft'}, intents.labels(one.intents), one.note),
      ),
      fix,
    );
  }

  // Promises that the first text gets the label that it has.
  async #pin() {
    const [{text, intents}] = this.#finding.texts;
    if (!intents?.length) {
      toast('It has no label that could be pinned.', 'Label it first.');
      return;
    }
    await post(`${this.#tools.base}/pins`, {text, intents});
    toast(`Pinned “${text.slice(0, 60)}”.`, 'Every training is judged by it.', 'good');
  }

  // Mends one text of many in place.
  #fix(one) {
    const {intents, act} = this.#tools;
    const repair = {kind: 'relabel', ids: [one.id], intents: one.suggested};
    const name = one.suggested.map(id => intents.byId.get(id)?.name ?? '?').join(' and ');
    const words = `Labelled “${one.text.slice(0, 50)}” ${name}.`;
    const look = guarded(() => this.#lookAt(repair, `Label it ${name}`));
    return h(
      'button',
      {
        class: 'small push',
        title: `Label it ${name}`,
        'data-key': `fix ${one.id}`,
        onclick: guarded(() => act(repair, words)),
        onpointerenter: look,
        onfocus: look,
      },
      '→ ',
      name,
    );
  }

  async #lookAt(repair, words) {
    const asked = (this.#asked += 1);
    const [blast] = await post(`${this.#tools.base}/review/what-if`, {repairs: [repair]});
    if (asked === this.#asked) fill(this.#turns, h('h3', {}, words), radiusLine(blast), turnsOf(blast));
  }

  #remedy(remedy, place) {
    const one = {
      ...remedy,
      blast: null,
      line: h('span', {class: 'small soft radius'}, remedy.repair ? '…' : ''),
    };
    if (firstOf(remedy)) fill(one.line, firstOf(remedy));
    if (!remedy.repair) fill(one.line, 'Nothing changes, and it is not listed again.');
    const look = () => this.#open(one);
    one.element = h(
      'button',
      {
        class: 'remedy',
        'data-key': `remedy ${place}`,
        onclick: guarded(() => this.#take(one)),
        onpointerenter: look,
        onfocus: look,
      },
      h('kbd', {}, place + 1),
      h('span', {class: 'grow'}, h('span', {class: 'words'}, remedy.words), one.line),
    );
    return one;
  }

  #drawChoices(...more) {
    const elements = this.#remedies.map(one => one.element);
    fill(this.#choices, elements, more);
  }

  // Asks whose answers would change, of all that can be done at once.
  async #ask(remedies) {
    if (!remedies.length) return;
    const finding = this.#finding;
    const repairs = remedies.map(one => one.repair);
    try {
      const found = await post(`${this.#tools.base}/review/what-if`, {repairs});
      if (finding !== this.#finding) return;
      remedies.forEach((one, place) => this.#tell(one, found[place]));
    } catch (error) {
      for (const one of remedies) fill(one.line, error.message);
    }
  }

  #tell(one, blast) {
    one.blast = blast;
    fill(one.line, radiusLine(blast));
    if (one === this.#remedies[0]) this.#open(one);
  }

  #open(one) {
    if (!one.blast) return;
    fill(this.#turns, h('h3', {}, one.words), turnsOf(one.blast));
  }

  async #take(one) {
    if (one.asks === 'intent') {
      this.#choose();
      return;
    }
    const finding = this.#finding;
    const repair = one.asks ? await this.#spoken(one) : one.repair;
    if (!repair) return;
    const text = finding.texts[0]?.text.slice(0, 50) ?? '';
    await this.#tools.act(repair, `${one.words.replace(' …', '')}: “${text}”`, finding.id);
  }

  async #spoken({asks, repair}) {
    const attributes = {name: 'value', required: asks === 'name', maxlength: asks === 'name' ? 200 : 5000};
    const input =
      asks === 'name'
        ? h('input', {type: 'text', value: repair.value, ...attributes})
        : h('textarea', {rows: 4, ...attributes}, repair.value);
    const given = await ask(...QUESTIONS[repair.kind](input));
    return given && {...repair, value: given.value};
  }

  // Another label: it becomes a remedy of its own, with what it would change.
  #choose() {
    const {intents} = this.#tools;
    const asking = this.#finding.remedies.find(one => one.asks === 'intent');
    const nothing = {id: '', name: intents.nothing, number: 0, color: ''};
    const finder = new IntentFinder({
      intents: () => [...intents.open, nothing],
      label: 'Find the right label',
      pick: intent => {
        const repair = {...asking.repair, intents: intent.id ? [intent.id] : []};
        const one = this.#remedy({words: `Label it ${intent.name}`, repair, asks: ''}, this.#remedies.length);
        this.#remedies.push(one);
        this.#drawChoices();
        one.element.focus();
        this.#ask([one]).then(() => this.#open(one));
      },
    });
    this.#drawChoices(finder.element);
    finder.open();
  }
}
