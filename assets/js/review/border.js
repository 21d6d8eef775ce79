// The border of two intents: the texts between them, those nearest to it first.
import {query, setQuery} from '../shared/address.js';
import {labelAs} from '../shared/act_words.js';
import {Again} from '../shared/again.js';
import {field, fill, h, offer, said} from '../shared/elements.js';
import {chip} from '../shared/intents.js';
import {guarded, once} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {SecondClick} from '../shared/second_click.js';
import {failed, skeleton} from '../shared/skeleton.js';
import {number, plural, points, unquoted} from '../shared/words.js';
import {Foretold} from './foretold.js';
import {mayHarm} from './harm.js';

const LEAD =
  'Texts between two intents, the least clear first. Choose what the customer means: the figures only tell what ' +
  'follows. ';
const OTHERS = 'For a third intent, search the text on Data.';
const OTHERS_OF_SETS =
  'A text keeps the intents that it has. To take one away, or for a third one, search the text on Data.';
const ANY = 'any'; // the choice of a pair that is not in the list
const CLOSEST = 5; // pairs that are offered
const WAITING = 'Looking for the texts between the two …';
const COUNTING = 'The unlabelled texts are being read again; more may follow.';
const SOON_MS = 1000; // after which the list is asked for again meanwhile
const CLEAR = 0.4; // texts with a larger difference are folded
const MIDDLE = 0.05; // smaller differences lie in the middle

export class BorderTab {
  #tools;
  #asked = 0; // number of the newest request; older answers are about another pair
  #pair = [query().get('first') ?? '', query().get('second') ?? ''];
  #mixed = []; // findings about the pairs that are mixed up most
  #walked = []; // the pair of the list that was shown last: it stays there when its texts are mended
  #isFree = false; // whether any two intents are chosen, and not a pair of the list
  #foretold; // what each relabel in sight would change
  #again = new Again(SOON_MS, () => this.element.isConnected && this.renew());
  #seen = null; // the revision at which the texts in sight were read
  #reach = 1; // difference of two scores that fills the lane
  #second = new SecondClick(); // the next text comes where one that was kept stood
  #pairs = h('select', {'data-key': 'pair', onchange: guarded(event => this.#choosePair(event.target.value))});
  #sides = [this.#sideOf(0, 'Between'), this.#sideOf(1, 'and')];
  #fields = {pairs: field('Mixed up most', this.#pairs), sides: this.#sides.map(({words, list}) => field(words, list))};
  #choice = h('div', {class: 'row end'});
  #walk = h('div', {'data-role': 'walk'});

  constructor(tools) {
    this.#tools = tools;
    this.#foretold = new Foretold(tools.base);
    this.element = h(
      'section',
      {class: 'sheet border-walk', 'aria-label': 'Border of two intents'},
      h(
        'p',
        {class: 'soft'},
        LEAD,
        tools.intents.multi ? OTHERS_OF_SETS : OTHERS,
      ),
      this.#choice,
      this.#walk,
    );
  }

  // Without a pair in the address the walk begins with the one that is mixed up most; where none is, with the one that
  // has most unclear texts between its two.
  async #offer(asked) {
    const {findings} = await call(`${this.#tools.base}/review?kind=confusion&limit=${CLOSEST}`);
    if (asked !== this.#asked) return;
    this.#mixed = findings;
    if (this.#pair.every(Boolean)) return;
    const busiest = async () => {
      const {first, second} = await call(`${this.#tools.base}/review/border`);
      return [first, second];
    };
    const pair = findings.length ? [...findings[0].intents] : await busiest().catch(() => this.#pair);
    if (asked === this.#asked) this.#pair = pair;
  }

  // The finding about the chosen pair, in whichever order the address names the two.
  get #listed() {
    return this.#mixed.find(({intents}) => intents.every(id => this.#pair.includes(id)));
  }

  // One control: the pairs that are mixed up most, and behind the last entry any two intents.
  #offerPairs() {
    const options = this.#mixed.map(({title, measure, intents}) => [
      intents.join(' '),
      `${unquoted(title)} (${measure})`,
    ]);
    if (!this.#isFree && !this.#listed) options.push([this.#pair.join(' '), `${this.#names()} (no longer mixed up)`]);
    const value = this.#isFree ? ANY : (this.#listed?.intents ?? this.#pair).join(' ');
    offer(this.#pairs, [...options, [ANY, 'Any two intents …']], value);
  }

  async #choosePair(value) {
    this.#isFree = value === ANY;
    if (!this.#isFree) this.#pair = value.split(' ');
    await this.renew();
  }

  #names() {
    const names = new Map(this.#tools.intents.openSorted.map(({id, name}) => [id, name]));
    return this.#pair.map(id => names.get(id)).join(' and ');
  }

  async renew() {
    const asked = (this.#asked += 1);
    if (!this.#walk.firstChild) fill(this.#walk, skeleton(WAITING));
    await this.#load(asked).catch(error => {
      if (this.#walk.querySelector('[data-role=skeleton]')) fill(this.#walk, failed(error, () => this.#anew()));
      throw error;
    });
  }

  async #anew() {
    fill(this.#walk);
    await this.renew();
  }

  async #load(asked) {
    await this.#offer(asked);
    if (asked !== this.#asked) return;
    const open = this.#tools.intents.openSorted.filter(intent => intent.utterances > 0);
    const known = new Set(open.map(intent => intent.id));
    this.#pair = this.#pair.map((id, place) => (known.has(id) ? id : (open[place]?.id ?? '')));
    if (this.#listed) this.#walked = this.#pair;
    else if (this.#pair.join() !== this.#walked.join()) this.#isFree = true;
    this.#offerPairs();
    for (const [place, {list}] of this.#sides.entries())
      offer(
        list,
        open.map(({id, name}) => [id, name]),
        this.#pair[place],
      );
    const hasPairs = this.#mixed.length > 0 || this.#walked.length > 0;
    fill(this.#choice, hasPairs && this.#fields.pairs, this.#isFree && this.#fields.sides);
    if (open.length < 2 || this.#pair[0] === this.#pair[1]) {
      this.#again.follow(false);
      fill(this.#walk, h('div', {class: 'empty'}, 'Choose two intents.'));
      return;
    }
    const [first, second] = this.#pair;
    setQuery({first, second});
    const found = await call(`${this.#tools.base}/review/border?${new URLSearchParams({first, second})}`);
    if (asked !== this.#asked) return;
    this.#again.follow(found.counting);
    this.#foretold.clear();
    this.#seen = found.revision;
    fill(this.#walk, this.#steps(found));
  }

  #sideOf(place, words) {
    const choose = guarded(async event => {
      this.#pair[place] = event.target.value;
      await this.renew();
    });
    return {words, list: h('select', {'data-key': words, onchange: choose})};
  }

  #steps({steps, mixed, left_out: leftOut, counting}) {
    const sorted = [...steps].sort((a, b) => Math.abs(a.lead) - Math.abs(b.lead));
    const kept = sorted.filter(step => step.kept);
    const open = sorted.filter(step => !step.kept);
    if (!steps.length) return h('div', {class: 'empty'}, counting ? WAITING : 'No text lies between these two.');
    const unclear = open.filter(step => Math.abs(step.lead) < CLEAR || step.answer);
    const shown = unclear.length ? unclear : open;
    const clear = open.filter(step => !shown.includes(step));
    this.#reach = Math.max(MIDDLE, ...(shown.length ? shown : kept).map(({lead}) => Math.abs(lead)));
    const are = clear.length === 1 ? 'that lies' : 'that lie';
    return [
      h('p', {class: 'after', 'data-role': 'between'}, countedWords(steps, mixed, leftOut), counting && ` ${COUNTING}`),
      this.#signs(),
      this.#list(shown),
      this.#folded('clear', `${plural(clear.length, 'text')} ${are} clearly on one side`, clear),
      this.#folded('kept', `${plural(kept.length, 'text')} that you kept`, kept),
    ];
  }

  // What the bars mean; the list of pairs may cut the names off.
  #signs() {
    const [first, second] = this.#pair.map(id => chip(this.#tools.intents.byId.get(id), '?'));
    const sign = words => h('span', {'aria-hidden': 'true'}, words);
    const full = `A full bar has ${points(this.#reach)} points or more, a clear answer about 100.`;
    const bars = `Each bar points to the nearer intent: the longer, the clearer. ${full}`;
    return [
      h('p', {class: 'row small soft', 'data-role': 'sides'}, sign('←'), first, sign('|'), second, sign('→')),
      h('p', {class: 'small soft', 'data-role': 'bars'}, bars),
    ];
  }

  #list(steps) {
    return h('ul', {class: 'walk'}, steps.map(step => this.#step(step)));
  }

  #folded(key, words, steps) {
    const summary = h('summary', {'data-key': `${key} summary`}, words);
    return steps.length > 0 && h('details', {class: 'after', 'data-key': key}, summary, this.#list(steps));
  }

  #step({text, lead, answer, kept, finding}) {
    const {intents} = this.#tools;
    const [first, second] = this.#pair.map(id => intents.byId.get(id));
    const share = 50 * Math.min(1, Math.abs(lead) / this.#reach);
    const style =
      lead >= 0
        ? {right: '50%', width: `${share}%`, background: first?.color}
        : {left: '50%', width: `${share}%`, background: second?.color};
    const side = lead >= 0 ? first : second;
    const near = `nearer ${side?.name ?? ''} by ${points(Math.abs(lead))} points`;
    const words = Math.abs(lead) < MIDDLE ? 'in the middle' : near;
    const mixed = answer && h('span', {class: 'badge warn'}, `answered ${intents.byId.get(answer)?.name ?? '?'}`);
    return h(
      'li',
      {},
      h(
        'div',
        {},
        said(text.text),
        h('div', {class: 'row small soft'}, intents.labels(text.intents), text.note, mixed),
        this.#stranger(text.intents),
      ),
      h('div', {class: 'lane', 'aria-hidden': 'true'}, h('i', {style})),
      h('span', {class: 'amount small soft', dir: 'auto'}, words),
      this.#buttons(text, kept ? '' : finding),
    );
  }

  // Why a text that is labelled with neither of the two stands between them.
  #stranger(labels) {
    if (!labels || labels.some(id => this.#pair.includes(id))) return null;
    const {byId, nothing} = this.#tools.intents;
    const name = labels.map(id => byId.get(id)?.name ?? '?').join(' and ') || nothing;
    const words = `Labelled ${name}, but most like the two intents above.`;
    return h('div', {class: 'small soft', dir: 'auto', 'data-role': 'third'}, words);
  }

  // Each label that the text could get, with the answers that change if it does, and that it stays.
  #buttons(text, finding) {
    const lacking = this.#pair.filter(id => !text.intents?.includes(id));
    const both = this.#tools.intents.multi && lacking.length > 1 && this.#relabel(text, lacking);
    const offers = [...lacking.map(id => this.#relabel(text, [id])), both];
    const keep = finding && this.#keep(text, finding);
    if (text.place !== 'test') return h('div', {class: 'offers'}, keep, offers);
    // The label of a test text is changed only by somebody who says that it is wrong.
    const wrong = h(
      'details',
      {'data-key': `wrong ${text.id}`},
      h('summary', {class: 'small soft', 'data-key': `wrong summary ${text.id}`}, 'Wrong label? …'),
      h('div', {class: 'offers below'}, offers),
    );
    return h('div', {class: 'offers'}, keep, wrong);
  }

  // Its label is right: the text goes to those that were kept.
  #keep(text, finding) {
    const {intents, act} = this.#tools;
    const name = text.intents.map(id => intents.byId.get(id)?.name ?? '?').join(' and ') || intents.nothing;
    const words = `Kept “${text.text.slice(0, 50)}” as ${name}.`;
    const take = once(event => !this.#second.is(event) && act(null, words, {finding}));
    const about = {class: 'small', 'data-key': `keep ${text.id}`, title: 'Its label is right', onclick: take};
    return h('div', {class: 'offer'}, h('button', about, `Keep ${name}`));
  }

  // Gives a text one of the two, or where it may have several intents both.
  #relabel(text, ids) {
    const {intents, act} = this.#tools;
    const name = ids.map(id => intents.byId.get(id)?.name ?? '?').join(' and ');
    const isMore = intents.multi && text.intents !== null; // a text with a label keeps its other intents
    const label = isMore ? [...text.intents, ...ids] : ids;
    const change = {repair: {kind: 'relabel', ids: [text.id], intents: label}, blast: null};
    const which = ids.length > 1 ? 'both' : name;
    const button = isMore ? `Add ${which}` : labelAs(text.intents, which);
    const take = once(async event => {
      if (this.#second.is(event)) return;
      const seen = this.#seen; // the list may be drawn anew while this waits
      await this.#foretold.known(change);
      if (!(await mayHarm(change, isMore ? button : `Label it ${name}`))) return;
      const {repair, blast} = change;
      const named = `“${text.text.slice(0, 50)}”`;
      const words = isMore ? `Added ${name} to ${named}.` : `Labelled ${named} ${name}.`;
      await act(repair, words, {seen, blast, isTest: text.place === 'test'});
    });
    const about = {class: 'small', 'data-key': `${ids.join(' ')} ${text.id}`, onclick: take};
    return h('div', {class: 'offer'}, h('button', about, button), this.#foretold.lineOf(change));
  }
}

// How many texts are listed, and how many of them are mixed up: as many as the list of pairs counts.
function countedWords({length: n}, mixed, leftOut) {
  const between = leftOut
    ? `The ${plural(n, 'text')} nearest to the border, of ${number(n + leftOut)}.`
    : `${plural(n, 'text')} between the two.`;
  return mixed ? `${between} Mixed up: ${mixed}.` : between;
}
