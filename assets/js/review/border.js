// The border of two intents: the texts between them, those nearest to it first.
import {query, setQuery} from '../shared/address.js';
import {labelAs} from '../shared/act_words.js';
import {field, fill, h, said, select} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {number, plural, points} from '../shared/words.js';
import {Foretold} from './foretold.js';
import {mayHarm} from './harm.js';

const LEAD =
  'Texts between two intents, the least clear first. Leave a right label as it is. A third label is given on Data.';
const ANY = 'any'; // the choice of a pair that is not in the list
const CLOSEST = 5; // pairs that are offered
const REACH = 1; // difference of two scores that fills the lane
const WAITING = 'Looking for the texts between the two …';
const CLEAR = 0.4; // texts with a larger difference are folded
const MIDDLE = 0.05; // smaller differences lie in the middle
const MOST = 60; // texts that the server sends: the nearest to the border

export class BorderTab {
  #tools;
  #asked = 0; // number of the newest request; older answers are about another pair
  #pair = [query().get('first') ?? '', query().get('second') ?? ''];
  #mixed = []; // findings about the pairs that are mixed up most
  #isFree = false; // whether any two intents are chosen, and not a pair of the list
  #foretold; // what each relabel in sight would change
  #choice = h('div', {class: 'row end'});
  #walk = h('div', {'data-role': 'walk'});

  constructor(tools) {
    this.#tools = tools;
    this.#foretold = new Foretold(tools.base);
    this.element = h(
      'section',
      {class: 'sheet', 'aria-label': 'Border of two intents'},
      h(
        'p',
        {class: 'soft'},
        LEAD,
      ),
      this.#choice,
      this.#walk,
    );
  }

  // Without a pair in the address the walk begins with the one that is mixed up most.
  async #offer() {
    const {findings} = await call(`${this.#tools.base}/review?kind=confusion&limit=${CLOSEST}`);
    this.#mixed = findings;
    if (findings.length && !this.#pair.every(Boolean)) this.#pair = [...findings[0].intents];
  }

  // One control: the pairs that are mixed up most, and behind the last entry any two intents.
  #pairs() {
    const options = this.#mixed.map(({title, measure, intents}) => [
      intents.join(' '),
      `${title.replace(/[“”]/g, '')} (${measure})`,
    ]);
    const choose = guarded(async event => {
      this.#isFree = event.target.value === ANY;
      if (!this.#isFree) this.#pair = event.target.value.split(' ');
      await this.renew();
    });
    const value = this.#isFree ? ANY : this.#pair.join(' ');
    const list = [...options, [ANY, 'Any two intents …']];
    return field('Mixed up most', select({onchange: choose, 'data-key': 'pair'}, list, value));
  }

  async renew() {
    const asked = (this.#asked += 1);
    await this.#offer();
    if (asked !== this.#asked) return;
    const open = this.#tools.intents.openSorted.filter(intent => intent.utterances > 0);
    const known = new Set(open.map(intent => intent.id));
    this.#pair = this.#pair.map((id, place) => (known.has(id) ? id : (open[place]?.id ?? '')));
    if (!this.#mixed.some(({intents}) => intents.join(' ') === this.#pair.join(' '))) this.#isFree = true;
    const sides = this.#isFree && [this.#side(0, 'Between', open), this.#side(1, 'and', open)];
    fill(this.#choice, this.#mixed.length > 0 && this.#pairs(), sides);
    if (open.length < 2 || this.#pair[0] === this.#pair[1]) {
      fill(this.#walk, h('div', {class: 'empty'}, 'Choose two intents.'));
      return;
    }
    const [first, second] = this.#pair;
    setQuery({first, second});
    if (!this.#walk.firstChild) fill(this.#walk, h('div', {class: 'empty', role: 'status'}, WAITING));
    const found = await call(`${this.#tools.base}/review/border?${new URLSearchParams({first, second})}`);
    if (asked !== this.#asked) return;
    this.#foretold.clear();
    fill(this.#walk, this.#steps(found.steps));
  }

  #side(place, words, open) {
    const options = open.map(({id, name}) => [id, name]);
    const choose = guarded(async event => {
      this.#pair[place] = event.target.value;
      await this.renew();
    });
    return field(words, select({onchange: choose, 'data-key': words}, options, this.#pair[place]));
  }

  #steps(steps) {
    if (!steps.length) return h('div', {class: 'empty'}, 'No text lies between these two.');
    const sorted = [...steps].sort((a, b) => Math.abs(a.lead) - Math.abs(b.lead));
    const unclear = sorted.filter(step => Math.abs(step.lead) < CLEAR || this.#isMixedUp(step));
    const shown = unclear.length ? unclear : sorted;
    const clear = sorted.filter(step => !shown.includes(step));
    const list = some => h('ul', {class: 'walk'}, some.map(step => this.#step(step)));
    return [
      h('p', {class: 'after', 'data-role': 'between'}, this.#counted(steps)),
      list(shown),
      clear.length > 0 &&
        h(
          'details',
          {class: 'after', 'data-key': 'clear'},
          h('summary', {'data-key': 'clear summary'}, `${plural(clear.length, 'text')} that lie clearly on one side`),
          list(clear),
        ),
    ];
  }

  // Labelled as the first of the two, and answered as the second.
  #isMixedUp({text, lead}) {
    return Boolean(text.intents?.includes(this.#pair[0])) && lead < 0;
  }

  // How many texts are shown; the list of pairs also counts mixed-up texts that this one lacks.
  #counted(steps) {
    const n = steps.length;
    const isCut = n >= MOST;
    const between = isCut
      ? `The ${number(n)} texts nearest to the border.`
      : `${plural(n, 'text')} between the two.`;
    const mixed = this.#mixed.find(({intents}) => intents.every((id, place) => id === this.#pair[place]));
    if (!mixed) return between;
    const [first, second] = this.#pair.map(id => this.#tools.intents.byId.get(id)?.name ?? '?');
    const here = steps.filter(step => this.#isMixedUp(step)).length;
    const are = mixed.figure === 1 ? 'is' : 'are';
    const said = `${plural(mixed.figure, 'text')} labelled ${first} ${are} answered ${second}`;
    const farther = isCut ? 'clearer' : 'nearer to a third intent';
    const others = here < mixed.figure ? `${number(here)} of them here, the others are ${farther}` : 'all of them here';
    return `${between} ${said}: ${others}.`;
  }

  #step({text, lead}) {
    const {intents} = this.#tools;
    const [first, second] = this.#pair.map(id => intents.byId.get(id));
    const share = 50 * Math.min(1, Math.abs(lead) / REACH);
    const style =
      lead >= 0
        ? {right: '50%', width: `${share}%`, background: first?.color}
        : {left: '50%', width: `${share}%`, background: second?.color};
    const side = lead >= 0 ? first : second;
    const near = `nearer ${side?.name ?? ''} by ${points(Math.abs(lead))} points`;
    const words = Math.abs(lead) < MIDDLE ? 'in the middle' : near;
    return h(
      'li',
      {},
      h(
        'div',
        {},
        said(text.text),
        h('div', {class: 'row small soft'}, intents.labels(text.intents), text.note),
      ),
      h('div', {class: 'lane', 'aria-hidden': 'true'}, h('i', {style})),
      h('span', {class: 'amount small soft', dir: 'auto'}, words),
      this.#buttons(text),
    );
  }

  // Each label that the text could get, with the answers that change if it does.
  #buttons(text) {
    const offers = this.#pair.filter(id => !text.intents?.includes(id)).map(id => this.#relabel(text, id));
    if (text.place !== 'test') return h('div', {class: 'offers'}, offers);
    // The label of a test text is changed only by somebody who says that it is wrong.
    return h(
      'details',
      {'data-key': `wrong ${text.id}`},
      h('summary', {class: 'small soft', 'data-key': `wrong summary ${text.id}`}, 'Wrong label? …'),
      h('div', {class: 'offers below'}, offers),
    );
  }

  #relabel(text, id) {
    const {intents, act} = this.#tools;
    const name = intents.byId.get(id)?.name ?? '?';
    const change = {repair: {kind: 'relabel', ids: [text.id], intents: [id]}, blast: null};
    const take = guarded(async () => {
      await this.#foretold.known(change);
      if (!(await mayHarm(change, `Label it ${name}`))) return;
      await act(change.repair, `Labelled “${text.text.slice(0, 50)}” ${name}.`);
    });
    const about = {class: 'small', 'data-key': `${id} ${text.id}`, onclick: take};
    return h('div', {class: 'offer'}, h('button', about, labelAs(text.intents, name)), this.#foretold.lineOf(change));
  }
}
