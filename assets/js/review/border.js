// The walk along the border of two intents: from the clearest of the one to the clearest of the other.
import {query, setQuery} from '../shared/address.js';
import {field, fill, h, said, select} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {points} from '../shared/words.js';

const CLOSEST = 5; // pairs that are offered
const REACH = 1; // difference of two scores that fills the lane
const WAITING = 'Looking for the texts between the two …';
const MIDDLE = 0.05; // smaller differences lie in the middle

export class BorderTab {
  #tools;
  #asked = 0; // number of the newest request; older answers are about another pair
  #pair = [query().get('first') ?? '', query().get('second') ?? ''];
  #closest = h('div', {class: 'row tight around', role: 'group', 'aria-label': 'Most mixed up'});
  #choice = h('div', {class: 'row end'});
  #walk = h('div', {'data-role': 'walk'});

  constructor(tools) {
    this.#tools = tools;
    this.element = h(
      'section',
      {class: 'sheet', 'aria-label': 'Border of two intents'},
      h(
        'p',
        {class: 'soft'},
        'Texts between two intents, from the clearest of one to the clearest of the other. ',
        'A label near the middle helps most.',
      ),
      this.#closest,
      this.#choice,
      this.#walk,
    );
  }

  // Without a pair in the address the walk begins with the one that is mixed up most.
  async #offer() {
    const {findings} = await call(`${this.#tools.base}/review?kind=confusion&limit=${CLOSEST}`);
    if (findings.length && !this.#pair.every(Boolean)) this.#pair = [...findings[0].intents];
    const caption = h('span', {class: 'soft small'}, 'Most mixed up');
    fill(this.#closest, findings.length > 0 && caption, ...findings.map(one => this.#pairOf(one)));
  }

  #pairOf({title, measure, intents}) {
    const open = guarded(async () => {
      this.#pair = [...intents];
      await this.renew();
    });
    const about = {class: 'small', 'data-key': `pair ${intents.join(' ')}`, onclick: open};
    return h('button', about, `${title.replace(/[“”]/g, '')} (${measure})`);
  }

  async renew() {
    const asked = (this.#asked += 1);
    await this.#offer();
    if (asked !== this.#asked) return;
    const open = this.#tools.intents.openSorted.filter(intent => intent.utterances > 0);
    const known = new Set(open.map(intent => intent.id));
    this.#pair = this.#pair.map((id, place) => (known.has(id) ? id : (open[place]?.id ?? '')));
    fill(this.#choice, this.#side(0, 'From', open), this.#side(1, 'to', open));
    if (open.length < 2 || this.#pair[0] === this.#pair[1]) {
      fill(this.#walk, h('div', {class: 'empty'}, 'Choose two intents.'));
      return;
    }
    const [first, second] = this.#pair;
    setQuery({first, second});
    if (!this.#walk.firstChild) fill(this.#walk, h('div', {class: 'empty', role: 'status'}, WAITING));
    const found = await call(`${this.#tools.base}/review/border?${new URLSearchParams({first, second})}`);
    if (asked === this.#asked) fill(this.#walk, this.#steps(found.steps));
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
    return h(
      'ul',
      {class: 'walk'},
      steps.map(step => this.#step(step)),
    );
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
    const words = Math.abs(lead) < MIDDLE ? 'in the middle' : `nearer ${side?.name ?? ''}`;
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
      h('span', {class: 'amount small soft', title: `by ${points(Math.abs(lead))} points`}, words),
      this.#buttons(text),
    );
  }

  #buttons(text) {
    const {intents, act} = this.#tools;
    const give = id => {
      const name = intents.byId.get(id)?.name ?? '?';
      const repair = {kind: 'relabel', ids: [text.id], intents: [id]};
      const take = guarded(() => act(repair, `Labelled “${text.text.slice(0, 50)}” ${name}.`));
      const about = {
        class: 'small',
        title: `Label it ${name}`,
        'data-key': `${id} ${text.id}`,
        onclick: take,
      };
      return h('button', about, `→ ${name}`);
    };
    const others = this.#pair.filter(id => !text.intents?.includes(id)).map(give);
    if (text.place !== 'test') return h('div', {class: 'row tight'}, others);
    // The label of a test text is changed only by somebody who says that it is wrong.
    return h(
      'details',
      {'data-key': `wrong ${text.id}`},
      h('summary', {class: 'small soft', 'data-key': `wrong summary ${text.id}`}, 'The label is wrong'),
      h('div', {class: 'row tight below'}, others),
    );
  }
}
