// Accept all that the model is sure of: first a spot check by keys, then what it says of the rest, then the labels.
import {fill, h} from '../shared/elements.js';
import {chip} from '../shared/intents.js';
import {complain, guarded, present, toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {leftWords} from '../shared/reach.js';
import {call, post} from '../shared/rest.js';
import {failed} from '../shared/skeleton.js';
import {undoing} from '../shared/undoing.js';
import {number, percent, plural, unturned} from '../shared/words.js';

const FEWEST = 5; // sure texts that are worth a check
const LISTED = 200; // rows of the list of sure texts
const MOST_WRONG = 0.05; // share of wrong labels from which on they are better not accepted
const SOON_MS = 1000; // after which the server is asked again while it counts
const ONE_INTENT = 'Labelling all that the model is sure of is for projects with one intent a text.';
const SEVERAL_INTENTS = 'Here a text may have several: label one by one, or choose texts on Data and label them.';
const COUNTING = 'Counting what the model is sure of …';

export class SureTexts {
  element = h('div', {class: 'sheet row', hidden: true, 'data-role': 'sure'});
  #base;
  #intents;
  #hears;
  #fetching = false;
  #asked = 0; // number of the newest count; older answers are out of date
  #soon = 0;
  #all = 0; // unlabelled texts that were compared, less those labelled since
  #among = h('span'); // the same in words; drawn alone as texts are labelled
  #newest = {n: 0}; // what the server counted
  #told = -1; // sure texts that are told, at most all
  limit = 1; // the lowest probability of which the model is sure, as far as it is known
  #lead = h('div', {class: 'grow'});
  #check = h('span');

  // Calls `accepted` with the ids of listed texts, and with the key of the act, its number of texts and what takes it
  // back; `undone` when that was done, `undo` with the key, and `doubted` with ids judged wrong.
  constructor(base, intents, hears) {
    this.#base = base;
    this.#intents = intents;
    this.#hears = hears;
  }

  // Counts what the model is sure of; waits on the server until the model is loaded.
  async load() {
    const asked = (this.#asked += 1);
    const sure = await call(`${this.#base}/sure?most=0`).catch(() => ({n: 0})); // the page works without
    if (asked === this.#asked) this.#draw(sure);
  }

  // Many texts have a label more or less, or another version answers: what was counted is no longer so.
  async again() {
    this.#sayCounting();
    await this.load();
  }

  #sayCounting() {
    if (!this.element.hidden) fill(this.element, h('div', {class: 'grow', role: 'status'}, COUNTING));
  }

  // Texts that wait for a label: more, or fewer. The server's count follows.
  count(more) {
    this.#all = Math.max(0, this.#all + more);
    this.#among.textContent = plural(this.#all, 'unlabelled text');
    this.#tell();
  }

  #draw(counted) {
    clearTimeout(this.#soon);
    if (counted.counting) {
      this.#sayCounting();
      this.#soon = setTimeout(() => this.element.isConnected && this.load(), SOON_MS);
      return;
    }
    this.#newest = counted;
    this.#told = -1;
    this.limit = counted.n ? counted.limit : 1;
    this.#all = 0;
    this.count(counted.looked_at ?? 0);
    if (this.element.hidden) return;
    const title = 'No label is saved before you accept';
    fill(
      this.element,
      this.#lead,
      h(
        'button',
        {class: 'push', 'data-key': 'sure', title, onclick: () => this.open()},
        this.#check,
        h('kbd', {}, 'A'),
      ),
    );
  }

  // Which of the texts labelled since were sure is not known here, and while the server is away no new count comes:
  // so no more are told than wait.
  #tell() {
    const {check, n: counted} = this.#newest;
    const n = Math.min(counted, this.#all);
    if (n === this.#told) return;
    this.#told = n;
    this.element.hidden = n < FEWEST;
    if (this.element.hidden) return;
    const drawn = number(Math.min(check.length, n));
    this.#check.textContent = `Check ${drawn} of them `;
    const sure = [`The model is sure of ${number(n)} of `, this.#among];
    const [before, after] = isTrusted(this.#newest)
      ? [[h('b', {}, 'Or label many at once.'), ' '], `. Check ${drawn} of them, then label all at once. `]
      : [[], ', but a check found too many of these answers wrong to accept them: label some more texts, then train. '];
    fill(this.#lead, before, sure, after, h('span', {class: 'soft'}, expectedWords(this.#newest, n)));
  }

  // A second key while the texts are fetched opens no second dialog.
  open = guarded(async () => {
    if (this.#fetching) return;
    if (this.#intents.multi) {
      toast(ONE_INTENT, SEVERAL_INTENTS);
      return;
    }
    this.#fetching = true;
    const sure = await this.#counted().finally(() => {
      this.#fetching = false;
    });
    this.#asked += 1;
    this.#draw(sure);
    if (sure.n < FEWEST) {
      toast('The model is not sure of enough texts yet.', 'Label more, then train; it gets sure of more.');
      return;
    }
    const check = new SpotCheck(sure, this.#intents, {
      judged: answers => post(`${this.#base}/sure/check`, answers),
      accept: act => post(`${this.#base}/sure/accept`, act),
      accepted: (act, done, verdict) => this.#accepted(act, done, verdict),
    });
    const {closed, close} = present('Accept what the model is sure of', check.element);
    check.start(close);
    await closed;
    await this.load(); // what the check found holds, whether its labels were accepted or not
  });

  // The texts themselves, as soon as they are counted.
  async #counted() {
    const sure = await call(`${this.#base}/sure`);
    if (!sure.counting) return sure;
    this.#sayCounting();
    await new Promise(resolve => setTimeout(resolve, SOON_MS));
    return this.#counted();
  }

  async #accepted({answers, right, wrong, key, judged_alone: isJudged}, {changed, left}, verdict) {
    const takeBack = undoing(this.#base, key, async () => {
      this.#hears.undone(changed);
      await this.again();
    });
    const said = `${plural(changed, 'text')} labelled as the model answers.`;
    const hint = [!isJudged && unseenWords(verdict), leftWords(left)].filter(Boolean).join(' ');
    toast(said, hint, 'good', () => this.#hears.undo(key));
    this.#hears.accepted(isJudged ? right : Object.keys(answers), {key, n: changed, takeBack});
    await this.again();
    if (wrong.length) this.#hears.doubted(wrong);
  }
}

// The dialog: one text after the other, then the verdict.
class SpotCheck {
  element = h('div', {
    class: 'spot-check',
    'data-role': 'spot-check',
    onkeydown: event => this.#onKey(event),
  });
  #sure;
  #intents;
  #hears;
  #texts;
  #judged = []; // whether each text so far is right
  #asked = 0; // number of the newest verdict; one on an answer that was taken back is dropped
  #close;
  #place = h('div', {class: 'soft small tabular', role: 'status'});
  #text = h('p', {class: 'utterance', dir: 'auto', 'aria-live': 'polite', 'data-role': 'checked-text'});
  #answer = h('div');
  #buttons;
  #right;

  constructor(sure, intents, hears) {
    this.#sure = sure;
    this.#intents = intents;
    this.#hears = hears;
    const byId = new Map(sure.texts.map(text => [text.id, text]));
    this.#texts = sure.check.map(id => byId.get(id));
    this.#right = h(
      'button',
      {class: 'primary', onclick: () => this.#say(true)},
      'Right ',
      h('kbd', {}, 'Y'),
    );
    this.#buttons = h(
      'div',
      {class: 'row'},
      this.#right,
      h('button', {onclick: () => this.#say(false)}, 'Wrong ', h('kbd', {}, 'N')),
      h('button', {class: 'plain', onclick: () => this.#back()}, 'Back ', h('kbd', {}, 'U')),
    );
  }

  start(close) {
    this.#close = close;
    const {texts, check} = this.#sure;
    const n = `${number(texts.length)} texts, about ${percent(expectedShare(this.#sure))} of them probably wrong.`;
    const why = `Judge ${number(check.length)} of them, drawn at random. No label is saved before you accept.`;
    const lead = h('p', {class: 'soft'}, `${n} ${why}`);
    fill(this.element, lead, this.#place, this.#text, this.#answer, this.#buttons, this.#list());
    this.#ask();
  }

  #ask() {
    const at = this.#judged.length;
    const {text, intent_id: id} = this.#texts[at];
    this.#place.textContent = `${at + 1} of ${this.#texts.length}`;
    this.#text.textContent = unturned(text);
    fill(this.#answer, 'Is this ', chip(this.#intents.byId.get(id), id), '?');
    this.#right.focus();
  }

  #say(isRight) {
    if (this.#judged.length === this.#texts.length) return;
    this.#judged.push(isRight);
    if (this.#judged.length < this.#texts.length) this.#ask();
    else this.#conclude().catch(complain);
  }

  #back() {
    this.#asked += 1;
    this.#judged.pop();
    this.#ask();
  }

  get #answers() {
    const judged = is => this.#texts.filter((_, at) => this.#judged[at] === is).map(({id}) => id);
    const {texts, seed, revision, expected, version} = this.#sure;
    const answers = Object.fromEntries(texts.map(({id, intent_id: intent}) => [id, intent]));
    return {answers, right: judged(true), wrong: judged(false), seed, revision, expected, version};
  }

  async #conclude() {
    const asked = (this.#asked += 1);
    const verdict = await this.#hears.judged(this.#answers).catch(error => {
      if (asked === this.#asked) this.#judged.pop(); // the last text can be judged again
      throw error;
    });
    if (asked !== this.#asked) return;
    const told = h('p', {class: 'utterance', tabindex: -1, 'data-role': 'verdict'}, verdictWords(verdict));
    const wrong = this.#judged.filter(isRight => !isRight).length; // in this check; the verdict counts all checks
    const rest = wrong ? stayWords(wrong) : '';
    const isSound = verdict.expected <= MOST_WRONG * verdict.rest;
    fill(
      this.element,
      told,
      rest && h('p', {}, rest),
      !isSound && h('p', {class: 'note warn'}, 'Too many to accept: label some more texts, train, then check again.'),
      h('p', {class: 'soft'}, boundWords(verdict)),
      this.#deeds({all: this.#sure.texts.length - wrong, judged: this.#judged.length - wrong}, {verdict, isSound}),
      this.#list(),
    );
    told.focus(); // on the button, one key more of a quick hand accepted what nobody had read
  }

  #reopen() {
    this.#judged.pop();
    this.start(this.#close);
  }

  // What can be done after the verdict: to accept `all` labels, or the `judged` ones alone. The dialog stays open until
  // they are saved: if the server refuses, what was judged is still there, and the same act can be sent again.
  #deeds({all, judged}, {verdict, isSound}) {
    const act = {...this.#answers, key: newKey()};
    const button = (key, kind, words, onclick) => h('button', {'data-key': key, class: kind, onclick}, words);
    const whole = guarded(() => accept(all));
    const take = button('accept', isSound ? 'primary' : '', `Accept ${plural(all, 'label')}`, whole);
    const only = guarded(() => accept(judged, {judged_alone: true}));
    const few = judged > 0 && judged < all && button('judged', '', `Only the ${number(judged)} you found right`, only);
    const back = button('back', '', 'Back to the check', () => this.#reopen());
    const deeds = h('div', {class: 'row', 'aria-live': 'polite'}, take, few, back);
    const accept = async (n, which = {}) => {
      fill(deeds, h('p', {class: 'soft', 'data-role': 'saving'}, `Saving ${plural(n, 'label')} …`));
      const done = await this.#hears.accept({...act, ...which}).catch(error => {
        if (!deeds.isConnected) throw error; // the dialog was closed meanwhile: a message says it
        fill(deeds, failed(error, () => accept(n, which)), back);
        deeds.querySelector('[data-key=again]').focus();
      });
      if (!done) return;
      this.#close();
      await this.#hears.accepted({...act, ...which}, done, verdict);
    };
    return deeds;
  }

  #list() {
    const {texts} = this.#sure;
    const line = ({text, intent_id: id}) =>
      h('li', {}, chip(this.#intents.byId.get(id), id), h('span', {dir: 'auto'}, text));
    const of = texts.length > LISTED ? `The surest ${LISTED} of the` : 'All';
    return h(
      'details',
      {},
      h('summary', {}, `${of} ${number(texts.length)} texts`),
      h('ol', {class: 'last sure-list'}, texts.slice(0, LISTED).map(line)),
    );
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.#buttons.isConnected) return;
    if (event.repeat) {
      event.preventDefault(); // texts that nobody has read would be judged right
      return;
    }
    const act = {y: () => this.#say(true), n: () => this.#say(false), u: () => this.#back()}[
      event.key.toLowerCase()
    ];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}

const errorWords = errors =>
  errors < 1 ? 'less than one error' : `about ${plural(Math.round(errors), 'error')}`;

const wrongWords = (errors, n) =>
  errors < 1
    ? 'less than one wrong label'
    : `about ${number(Math.round(errors))} of these ${plural(n, 'label')} to be wrong`;

// Share of wrong answers among those that the model is sure of: as a check found it, else as the model expects it.
const expectedShare = ({n, expected, found}) => (found ? found.expected / Math.max(1, n) : expected);
const isTrusted = sure => !sure.found || expectedShare(sure) <= MOST_WRONG;

function expectedWords(sure, n) {
  const errors = wrongWords(expectedShare(sure) * n, n);
  if (!sure.found) return `Before the check, expect ${errors}; more if many fit no intent.`;
  const {checked, wrong} = sure.found;
  return `${wrong ? number(wrong) : 'None'} of ${number(checked)} checked answers wrong: expect ${errors}.`;
}

const unseenWords = ({rest, expected}) =>
  rest ? `By the check, expect ${errorWords(expected)} among the ${number(rest)} that nobody judged.` : '';

function verdictWords({checked, wrong, rest, expected}) {
  const judged = wrong
    ? `${number(wrong)} of ${number(checked)} wrong.`
    : `None of ${number(checked)} wrong.`;
  if (!rest) return `${judged} No others are left.`;
  return `${judged} After this check, expect ${errorWords(expected)} among the other ${number(rest)}.`;
}

// One bound beside the expectation, which holds in 95 of 100 such checks: a second one made three figures of the same
// errors.
const boundWords = ({rest, at_most: atMost}) =>
  rest ? `Very likely at most ${percent(atMost, 0)} of the others are wrong.` : '';

function stayWords(n) {
  const [who, stay, come] = n === 1 ? ['text', 'stays', 'comes'] : [`${number(n)} texts`, 'stay', 'come'];
  return `The ${who} that you judged wrong ${stay} unlabelled and ${come} first on the card.`;
}
