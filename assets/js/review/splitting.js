// The groups that were found in an intent: which of them become intents of their own, under which name, without whom.
import {field, fill, h, select} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {failed} from '../shared/skeleton.js';
import {plural} from '../shared/words.js';

const TYPICAL = 5; // texts of a group that are shown before it is opened

export class Splitting {
  element = h('div', {'data-role': 'groups'});
  #base;
  #changed;
  #groups = []; // each with `name` and `chosen`: the ids of the texts that move
  #of = ''; // the intent whose groups are shown
  #asked = 0; // number of the newest request; older answers are dropped

  // Calls `changed` when another split is chosen.
  constructor(base, changed) {
    this.#base = base;
    this.#changed = changed;
  }

  clear() {
    this.#asked += 1;
    this.#of = '';
    this.#groups = [];
    fill(this.element);
  }

  // What goes to new intents, by name.
  get parts() {
    const chosen = this.#groups.filter(group => group.chosen.size > 0);
    return chosen.map(group => ({name: group.name.trim(), ids: [...group.chosen]}));
  }

  // What is still to be chosen, in words; empty if the split can be made.
  get lacks() {
    const {parts} = this;
    if (!parts.length) return this.#groups.length ? 'Tick the groups that become intents of their own.' : '';
    if (parts.some(part => !part.name)) return 'Name each group that you split off.';
    const stays = this.#groups.some(group => group.chosen.size < group.texts.length);
    return stays ? '' : 'Leave one group without a tick: it keeps the name.';
  }

  get possible() {
    return this.#groups.length > 0;
  }

  // Without a number of groups, as many as part the texts best.
  async load(intent, k = '') {
    if (intent === this.#of && !k) return;
    this.clear();
    const asked = (this.#asked += 1);
    fill(this.element, h('p', {class: 'soft'}, 'Looking for groups …'));
    const wanted = new URLSearchParams({intent, ...(k ? {k} : {})});
    const found = await call(`${this.#base}/review/groups?${wanted}`).catch(error => {
      if (asked === this.#asked) fill(this.element, failed(error, () => this.#again(intent, k)));
      throw error;
    });
    if (asked !== this.#asked) return;
    this.#of = intent;
    this.#groups = found.groups.map(group => ({...group, chosen: new Set()}));
    this.#draw(found);
  }

  // On a phone the groups lay under the act, which stays in sight.
  comeIntoSight() {
    const first = this.element.querySelector('.groups > li');
    if (first?.getBoundingClientRect().top > window.innerHeight / 2) this.element.scrollIntoView({block: 'start'});
  }

  #draw({most}) {
    const few = 'This intent has too few different examples to be split. Label some more first.';
    fill(
      this.element,
      this.#groups.length ? this.#lead(most) : h('p', {class: 'soft'}, few),
      h(
        'ul',
        {class: 'groups'},
        this.#groups.map((group, place) => this.#card(group, place)),
      ),
    );
  }

  async #again(intent, k) {
    await this.load(intent, k);
    this.#changed();
  }

  #lead(most) {
    const numbers = Array.from({length: most - 1}, (_, at) => [String(at + 2), String(at + 2)]);
    const again = guarded(event => this.#again(this.#of, event.target.value));
    return h(
      'div',
      {class: 'row'},
      field('Groups', select({onchange: again, 'data-key': 'groups'}, numbers, String(this.#groups.length))),
      h('span', {class: 'soft'}, 'By how similar the texts are. What you do not tick keeps its label.'),
    );
  }

  #card(group, place) {
    const inTest = group.n_test > 0 ? `, ${plural(group.n_test, 'test text')}` : '';
    const name = h('input', {
      type: 'text',
      maxlength: 200,
      value: group.name,
      'aria-label': `Name of group ${place + 1}`,
      oninput: event => this.#set(group, {name: event.target.value}),
    });
    const own = h('input', {type: 'checkbox'});
    const boxes = []; // those of the texts; the group's own box follows them
    const changed = () => {
      const {size} = group.chosen;
      own.checked = size === group.texts.length;
      own.indeterminate = size > 0 && !own.checked;
      this.#changed();
    };
    own.addEventListener('change', () => {
      group.chosen = new Set(own.checked ? group.texts.map(text => text.id) : []);
      for (const box of boxes) box.checked = own.checked;
      changed();
    });
    const rest = group.texts.slice(TYPICAL);
    const lines = texts =>
      h(
        'ul',
        {class: 'last'},
        texts.map(text => line(text, group, boxes, changed)),
      );
    return h(
      'li',
      {'data-key': `group ${place}`},
      h(
        'div',
        {class: 'row'},
        h(
          'label',
          {class: 'check'},
          own,
          `Split group ${place + 1} off as`,
        ),
        name,
      ),
      h('p', {class: 'soft small'}, plural(group.texts.length, 'text'), inTest),
      lines(group.texts.slice(0, TYPICAL)),
      rest.length > 0 &&
        h('details', {}, h('summary', {}, `${plural(rest.length, 'text')} more`), lines(rest)),
    );
  }

  #set(group, values) {
    Object.assign(group, values);
    this.#changed();
  }
}

// A text of a group; its box is ticked if the text goes with the group.
function line({id, text, split}, group, boxes, changed) {
  const choose = event => {
    if (event.target.checked) group.chosen.add(id);
    else group.chosen.delete(id);
    changed();
  };
  const box = h('input', {type: 'checkbox', onchange: choose});
  boxes.push(box);
  const test = split === 'test' && h('span', {class: 'badge push'}, 'test text');
  return h('li', {}, h('label', {class: 'check grow'}, box, h('bdi', {}, text)), test);
}
