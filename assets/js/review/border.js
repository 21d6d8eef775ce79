// The walk along the border of two intents: from the clearest of the one to the clearest of the other.
import {query, setQuery} from '../shared/address.js';
import {field, fill, h, said, select} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {points} from '../shared/words.js';

const REACH = 1; // difference of two scores that fills the lane

export class BorderTab {
  #tools;
  #asked = 0; // number of the newest request; older answers are about another pair
  #pair = [query().get('first') ?? '', query().get('second') ?? ''];
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
      this.#choice,
      this.#walk,
    );
  }

  async renew() {
    const asked = (this.#asked += 1);
    const open = this.#tools.intents.open.filter(intent => intent.utterances > 0);
    const known = new Set(open.map(intent => intent.id));
    this.#pair = this.#pair.map((id, place) => (known.has(id) ? id : (open[place]?.id ?? '')));
    fill(this.#choice, this.#side(0, 'From', open), this.#side(1, 'to', open));
    if (open.length < 2 || this.#pair[0] === this.#pair[1]) {
      fill(this.#walk, h('div', {class: 'empty'}, 'Choose two intents.'));
      return;
    }
    const [first, second] = this.#pair;
    setQuery({first, second});
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
      h('span', {class: 'amount small soft'}, `${side?.name ?? ''} ${points(Math.abs(lead))}`),
      this.#buttons(text),
    );
  }

  #buttons(text) {
    const {intents, act} = this.#tools;
    const give = id => {
      const name = intents.byId.get(id)?.name ?? '?';
      const repair = {kind: 'relabel', ids: [text.id], intents: [id]};
      const take = guarded(() => act(repair, `Labelled “${text.text.slice(0, 50)}” ${name}.`));
      return h('button', {class: 'small', 'data-key': `${id} ${text.id}`, onclick: take}, `→ ${name}`);
    };
    const others = this.#pair.filter(id => !text.intents?.includes(id));
    return h('div', {class: 'row tight'}, others.map(give));
  }
}
