// One finding: its reason, its texts, and its remedies, each with the answers it would change.
import {labelAs} from '../shared/act_words.js';
import {address, query} from '../shared/address.js';
import {fill, h, said, titled} from '../shared/elements.js';
import {ask, guarded, toast} from '../shared/messages.js';
import {named} from '../shared/named.js';
import {pin} from '../shared/pins.js';
import {COUNTING, radiusLine, turnsOf} from '../shared/radius.js';
import {post} from '../shared/rest.js';
import {SecondClick} from '../shared/second_click.js';
import {number, plural} from '../shared/words.js';
import {asLabelled, deedOf, LONGEST_NAMED} from './deeds.js';
import {harmOf, isUnknown, mayHarm} from './harm.js';
import {keysOf, unknownNumber} from './keys.js';
import {otherLabel} from './other_label.js';

const MOST_PICKED = 4; // typed labels that are kept as remedies
const ABOUT_ONE = new Set(['label', 'greedy', 'next']); // the other texts are for comparison

const PRESSED = 'It is done as soon as its effect is counted …'; // in place of the effect, once it was pressed
// What comes of a remedy without a change, by the kind of finding. Of two people's labels, one is replaced.
const KEPT = {
  people: 'Nothing changes here. The next sync puts it in the place of the folder’s.',
  other: 'Nothing changes, and it is not listed again.',
};
export const COUNTED_AGAIN = 'counting again …'; // a finding whose texts have just been changed

const FIRST = {
  relabel: ['intent', 'Choose the label, and see first what it changes.'],
  rename: ['name', 'Labels and answers stay as they are.'],
  describe: ['description', 'Say in a sentence what belongs to it. Labels stay as they are.'],
};
// What the user must enter before a preview is possible; otherwise undefined.
const firstOf = ({asks, repair}) =>
  asks && FIRST[repair.kind]?.[0] === asks ? FIRST[repair.kind][1] : undefined;
const isForetold = one => one.repair && !firstOf(one);
// What is done without a question, though nothing tells what it does to answers.
const isBlind = one => isForetold(one) && !one.asks && isUnknown(one);
const opensWords = n => `Opens ${n === 1 ? 'it on the Label page' : 'them on the Label page, one after the other'}.`;
// What a deletion changes is opened by who points at it: opened by itself it would look like advice.
const isOpened = one => isForetold(one) && one.repair.kind !== 'delete';
// The title of what a remedy would change: its words alone would look like a second button.
const foretold = words => h('h3', {}, `If you choose “${words.replace(' …', '').replace(/“(.*?)”/g, '‘$1’')}”`);
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
    tabindex: -1,
    'aria-live': 'polite',
  });
  #tools;
  #finding = null;
  #remedies = []; // each with its button, its line, and its preview
  #picked = []; // remedies for labels that the user typed; they survive redrawing
  #seen = null; // the remedy whose preview is shown, or will be when it arrives
  #head = h('div');
  #body = h('div', {class: 'body'});
  #choices = h('div', {class: 'remedies'});
  #other = h('div', {class: 'other'}); // the field for another label; it is not redrawn while the user types
  #turns = h('div', {class: 'foretold'});
  #second = new SecondClick();
  #pressed = new Map(); // by finding: the remedy that was pressed last and waits for its effect to be counted

  constructor(tools) {
    this.#tools = tools;
    const first = h('div', {class: 'first'}, this.#head, this.#body, this.#choices, this.#other);
    this.element.append(first, this.#turns);
  }

  // Id of the finding whose label is being typed; null if none is.
  get typedFor() {
    return this.#other.contains(document.activeElement) ? this.#finding.id : null;
  }

  async show(finding) {
    const typedFor = this.typedFor;
    if (typedFor !== null && typedFor !== finding?.id) return; // the typed text belongs to the finding on the screen
    const same = finding && finding.id === this.#finding?.id;
    this.#finding = finding;
    const waits = Boolean(finding?.waits);
    this.element.classList.toggle('waits', waits);
    if (!same) this.#picked = [];
    // The remedy in the same place of the next finding may delete, and must not have the focus.
    if (!same && this.#choices.contains(document.activeElement)) this.element.focus({preventScroll: true});
    const remedies = finding ? [...finding.remedies, ...this.#picked] : [];
    const keys = keysOf(remedies, finding);
    this.#remedies = remedies.map((remedy, place) => this.#remedy(remedy, place, keys[place]));
    this.#seen = this.#remedies.find(isOpened) ?? null;
    fill(this.#head, finding && this.#heading(finding));
    fill(this.#body, finding && this.#textsOf(finding));
    this.#drawChoices();
    if (!same || (typedFor === null && !this.#tools.intents.multi)) fill(this.#other); // ticks stay without the focus
    if (!same) fill(this.#turns);
    if (waits) return;
    const counted = this.#ask(this.#remedies.filter(isForetold));
    this.#sayPressed();
    await counted;
  }

  // What was counted before its texts were changed offers what was just done, or the opposite.
  #isBehind() {
    if (!this.#finding?.waits) return false;
    toast('This finding is being counted again.', 'One of its texts has just been changed.');
    return true;
  }

  onKey(key) {
    if (key === 'p' && this.#finding) return () => this.#pin();
    const chosen = this.#remedies.find(one => one.key.textContent.toLowerCase() === key);
    if (chosen) return () => this.#take(chosen, true);
    return this.#finding && unknownNumber(key);
  }

  #heading({title, why, kind, intents, figure, texts}) {
    const [first, second] = intents;
    const project = query().get('project');
    const about = intents.map(id => this.#tools.intents.byId.get(id));
    const between = {tab: 'border', first, second};
    const walk = h(
      'a',
      {href: address('review', project, between)},
      'Walk along their border',
    );
    const border = kind === 'confusion' && [' ', walk];
    const ofAll = figure > texts.length ? `, where all ${number(figure)} texts are` : '';
    return [
      h('h2', {dir: 'auto'}, named(title, about, project, titled)),
      h('p', {class: 'soft', dir: 'auto'}, named(why, about, project), border, border && `${ofAll}.`),
    ];
  }

  #textsOf({texts, kind}) {
    const each = kind === 'confusion';
    return h(
      'ul',
      {class: `last told ${ABOUT_ONE.has(kind) ? 'lead' : ''}`, tabindex: 0, 'aria-label': 'Texts'},
      texts.map(one => this.#line(one, each)),
    );
  }

  #line(one, each) {
    const {intents} = this.#tools;
    const fix = each && (one.place === 'test' ? this.#wrong(one) : one.suggested && this.#fix(one));
    return h(
      'li',
      {},
      h(
        'div',
        {class: 'grow'},
        said(one.text),
        h('div', {class: 'row small soft'}, intents.labels(one.intents), one.note),
      ),
      fix,
    );
  }

  // Pins the first text to its label.
  async #pin() {
    if (this.#isBehind()) return;
    const [{text, intents} = {}] = this.#finding.texts; // some findings are about no text
    if (!intents?.length) {
      toast('It has no label that could be pinned.', 'Label it first.');
      return;
    }
    const {base, intents: known, noted} = this.#tools;
    const words = intents.map(id => known.byId.get(id)?.name ?? '?').join(' and ');
    const named = `Pinned “${text.slice(0, LONGEST_NAMED)}”`;
    await pin(`${base}/pins`, text, intents, words, back => noted(named, back));
  }

  // Changes the label of one text of the list.
  #fix(one) {
    const {intents, act} = this.#tools;
    const repair = {kind: 'relabel', ids: [one.id], intents: one.suggested};
    const name = one.suggested.map(id => intents.byId.get(id)?.name ?? '?').join(' and ');
    const words = asLabelled(one.text, `“${name}”`);
    const look = guarded(() => this.#lookAt(repair, `Label it “${name}”`));
    return h(
      'button',
      {
        class: 'small push',
        'data-key': `fix ${one.id}`,
        onclick: guarded(() => !this.#isBehind() && act(repair, words, {seen: this.#finding.seen})),
        onpointerenter: look,
        onfocus: look,
      },
      labelAs(one.intents, name),
    );
  }

  // The label of a test text is changed only by somebody who says that it is wrong.
  #wrong(one) {
    const label = `Find the label of “${one.text.slice(0, 50)}”`;
    const choose = () => this.#choose({kind: 'relabel', ids: [one.id]}, label, one.text);
    return h(
      'button',
      {class: 'small push', 'data-key': `wrong ${one.id}`, onclick: choose},
      'Wrong label? …',
    );
  }

  async #lookAt(repair, words) {
    if (this.#finding?.waits) return;
    const pointed = {};
    this.#seen = pointed;
    const [blast] = await post(`${this.#tools.base}/review/what-if`, {repairs: [repair]});
    if (pointed !== this.#seen) return;
    fill(this.#turns, foretold(words), radiusLine(blast, repair.kind), turnsOf(blast, repair.kind));
  }

  #remedy(remedy, place, key) {
    const one = {
      ...remedy,
      blast: null,
      line: h('span', {class: 'small soft radius'}, remedy.repair ? COUNTING : ''),
    };
    if (firstOf(remedy)) fill(one.line, firstOf(remedy));
    if (!remedy.repair) fill(one.line, KEPT[this.#finding.kind] ?? KEPT.other);
    if (remedy.label_ids?.length) fill(one.line, opensWords(remedy.label_ids.length));
    one.key = h('kbd', {}, key);
    const look = () => this.#open(one);
    one.element = h(
      'button',
      {
        class: 'remedy',
        'data-key': `remedy ${place}`,
        onclick: guarded(event => !this.#second.is(event) && this.#take(one)),
        onpointerenter: look,
        onfocus: look,
      },
      h('span', {class: 'grow'}, h('span', {class: 'words'}, remedy.words), one.line),
      one.key,
    );
    this.#markHarm(one);
    return one;
  }

  // What harms, or may harm for all that is known, has no key, so that nobody does it in passing.
  #markHarm(one) {
    const isDark = (one.blast || one.hasFailed) && isBlind(one);
    one.key.hidden = harmOf(one) !== null || isDark || !one.key.textContent;
  }

  #drawChoices() {
    fill(
      this.#choices,
      this.#remedies.map(one => one.element),
    );
  }

  // Requests the previews of all remedies together; each knows when its own has come, wherever the user is by then.
  #ask(remedies) {
    const counted = remedies.length ? this.#count(remedies) : Promise.resolve();
    for (const one of remedies) one.counted = counted;
    return counted;
  }

  async #count(remedies) {
    const repairs = remedies.map(one => one.repair);
    try {
      const found = await post(`${this.#tools.base}/review/what-if`, {repairs});
      remedies.forEach((one, place) => this.#tell(one, found[place]));
    } catch (error) {
      for (const one of remedies) {
        one.hasFailed = true;
        fill(one.line, error.message);
        this.#markHarm(one);
      }
    }
  }

  #tell(one, blast) {
    one.blast = blast;
    fill(one.line, radiusLine(blast, one.repair.kind), this.#merges(one));
    this.#markHarm(one);
    if (one === this.#seen) this.#open(one);
  }

  // What a merge costs, whatever it does to answers: an intent that was told apart is one no more.
  #merges({repair, blast: {touched: [n]}}) {
    if (repair.kind !== 'merge') return null;
    const name = this.#tools.intents.byId.get(repair.intent)?.name ?? '?';
    return h('span', {class: 'badge warn', dir: 'auto'}, `relabels ${plural(n, 'text')}: “${name}” is gone`);
  }

  #open(one) {
    if (isForetold(one)) this.#seen = one;
    if (!one.blast) return;
    fill(this.#turns, foretold(one.words), turnsOf(one.blast, one.repair.kind));
  }

  // A second key while the first waits for the preview would do it twice.
  async #take(one, isByKey = false) {
    if (one.isTaken || this.#isBehind()) return;
    one.isTaken = true;
    try {
      await this.#carryOut(one, isByKey);
    } finally {
      one.isTaken = false;
    }
  }

  // Waits until the effect is counted, and says so; whether nothing else of the finding was pressed meanwhile.
  async #isCounted(one, {id}) {
    this.#pressed.set(id, one);
    this.#sayPressed();
    await one.counted;
    const isLast = this.#pressed.get(id) === one;
    if (isLast) this.#pressed.delete(id);
    return isLast;
  }

  // The buttons may have been drawn anew since.
  #sayPressed() {
    const pressed = this.#pressed.get(this.#finding?.id);
    if (!pressed) return;
    for (const one of this.#remedies)
      if (isForetold(one) && !one.blast) fill(one.line, one.words === pressed.words ? PRESSED : COUNTING);
  }

  async #carryOut(one, isByKey) {
    if (one.label_ids?.length) {
      const kind = query().get('kind') ?? '';
      const chosen = {texts: one.label_ids.join(','), from: 'review', kind};
      location.assign(address('label', query().get('project'), chosen));
      return;
    }
    if (one.asks === 'intent') {
      this.#choose(one.repair, 'Find the right label');
      return;
    }
    const finding = this.#finding;
    if (isForetold(one) && !one.blast && !one.effect && !(await this.#isCounted(one, finding))) return;
    if (isByKey && isBlind(one)) {
      toast('No key does this: nobody knows yet what it does to answers.', 'Press the button; Undo takes it back.');
      return;
    }
    if (!(await mayHarm(one, one.words.replace(' …', '')))) return;
    const repair = one.asks ? await this.#spoken(one) : one.repair;
    if (one.asks && !repair) return; // the user cancelled
    const settled = one.textOfMany ? '' : finding.id; // the other texts of a confusion are left
    const isTest = Boolean(one.textOfMany); // only test texts get their label one by one
    // A merge was counted at a revision of its own: a large set joins labels after its findings were listed.
    const seen = (repair?.kind === 'merge' && one.blast?.revision) || finding.seen;
    const about = {finding: settled, seen, blast: one.blast, isTest};
    await this.#tools.act(repair, deedOf(one, finding, ids => this.#labelled(ids)), about);
  }

  #labelled(ids) {
    const {byId, nothing} = this.#tools.intents;
    return ids.map(id => `“${byId.get(id)?.name ?? '?'}”`).join(' and ') || nothing;
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

  // A chosen label becomes a remedy with its own preview.
  #choose(asked, label, textOfMany = '') {
    const now = this.#finding.texts.find(({id}) => asked.ids.includes(id))?.intents ?? null;
    const pick = ids => {
      const words = `Label ${textOfMany ? 'the test text' : 'it'} ${this.#labelled(ids)}`;
      this.#pick({words, repair: {...asked, intents: ids}, asks: '', textOfMany});
    };
    const other = otherLabel(this.#tools.intents, {label, now, pick});
    fill(this.#other, other.element);
    other.open();
    this.#other.scrollIntoView({block: 'nearest'}); // with the whole list of labels, not the field alone
  }

  #pick(remedy) {
    this.#picked = [...this.#picked, remedy].slice(-MOST_PICKED);
    const keys = keysOf([...this.#remedies, remedy], this.#finding);
    const one = this.#remedy(remedy, this.#remedies.length, keys.at(-1));
    this.#remedies.push(one);
    fill(this.#other);
    this.#drawChoices();
    one.element.focus();
    this.#open(one);
    this.#ask([one]);
  }
}
