// One group: its name, its typical texts, and what can be done with it.
import {breaking, fill, h} from '../shared/elements.js';
import {IntentFinder} from '../shared/finder.js';
import {chip} from '../shared/intents.js';
import {complain, guarded, toast} from '../shared/messages.js';
import {SecondClick} from '../shared/second_click.js';
import {number, plural} from '../shared/words.js';
import {EVERY, LATER, MERGE, SPLIT, TAKE} from './keys.js';
import {isPutAside, waitingWords} from './list.js';
import {answeredApart, answeredLine, isRefused, likeliest, offered, refusedWords} from './proposed.js';

const FEW = 4; // a smaller group is not split
const LOOSE = 0.5; // mean cosine of texts and middle
const MIXED = 0.45; // below it, what lies together is no group
const UNTICK = 'Untick what does not belong.';
const LOOK = 'These texts have little in common. Untick what does not belong, then press again.';
const LOOK_OUTSIDE = 'These texts are of several kinds. Untick what you do want answered, then press again.';
const NONE_PROPOSED = 'For a new one: N, type its name, Enter, and then I. Or press the number of an intent, or /.';
const LONG = 160; // signs; a longer text may fill more lines than are shown

// A long text is cut behind some lines; all of it stands under the pointer, and where Tab stops.
const wording = text =>
  h('span', {class: 'wording', dir: 'auto', title: text.length > LONG ? text : null}, text);

export class GroupView {
  #intents;
  #acts;
  #group = null;
  #share = 'core'; // or `all`: which texts are taken
  #typed = null; // its name as it was typed, until the server has it
  #saving = null; // the name that is being saved
  #without = new Set(); // ids of shown texts that do not belong to it
  #warned = ''; // what an act on it says that waits for a look at all its texts
  #every = null; // its texts, once they were asked for; the closest to its middle first
  #finder;
  #second = new SecondClick(); // the next group comes where one that was taken stood
  #deeds = h('div', {class: 'deeds'}); // stays in the page, so that what is typed in its field does
  element = h('section', {class: 'sheet group', 'aria-label': 'Group', 'data-role': 'group'});

  // `acts`: take, rename, split, merge, later and texts, each with what the page needs to know.
  constructor(intents, acts) {
    this.#intents = intents;
    this.#acts = acts;
    this.#finder = new IntentFinder({
      intents: () => this.#intents.openSorted,
      pick: intent => this.#take({intent: intent.id}),
      create: name => this.#take({create: name}),
      label: 'Another intent',
      isForMany: true,
    });
  }

  // A group that stays open keeps what was left out of it, and the name that is being typed.
  show(group) {
    const isOther = group?.card.id !== this.#group?.card.id;
    if (isOther) {
      this.#without.clear();
      this.#share = 'core';
      this.#every = null;
      this.#warned = '';
      this.#typed = this.#saving = null;
    }
    if (group?.card.name === this.#typed?.trim()) this.#typed = this.#saving = null;
    const isOlder = (this.#every || this.#without.size) && group?.revision !== this.#group.revision;
    this.#group = group;
    if (!group) fill(this.element);
    else this.#draw();
    if (isOlder) this.#askForEvery(this.#every).catch(() => {}); // the texts of before stay in sight meanwhile
  }

  onKey(key) {
    const near = this.#group ? offered(this.#group, this.#without) : [];
    const doing = {
      ENTER: !document.activeElement?.matches('button,a,summary') && (() => this.#takeProposed()),
      [TAKE]: () => this.#take({create: this.#name}),
      1: near[0] && (() => this.#take({intent: near[0]})),
      2: near[1] && (() => this.#take({intent: near[1]})),
      '/': () => this.#finder.open(),
      0: () => this.#take({}),
      O: () => this.#take({}),
      [EVERY]: () => this.#choose(this.#share === 'core' ? 'all' : 'core'),
      N: () => this.#input.select(),
      [SPLIT]: () => this.#acts.split(this.#group),
      [MERGE]: () => this.#acts.merge(this.#group),
      [LATER]: this.#group?.card.size > 0 && (() => this.#acts.later(this.#group)),
    };
    return this.#group && doing[key.toUpperCase()];
  }

  // Enter does what is blue, as a click on it.
  #takeProposed() {
    const proposed = this.#deeds.querySelector('button.primary');
    if (proposed) proposed.click();
    else if (this.#isRefused) toast(this.#refusedWords(), `Press I for a new intent, or O: ${this.#intents.nothing}.`);
    else toast('No intent is proposed for this group.', NONE_PROPOSED);
  }

  get #input() {
    return this.element.querySelector('input[name=name]');
  }

  get #name() {
    return this.#input.value.trim() || this.#group.card.name;
  }

  // Texts of several meanings, which are better divided first.
  get #isLoose() {
    return this.#group.cohesion < LOOSE && this.#group.card.size >= FEW;
  }

  get #isRefused() {
    return isRefused(this.#group, this.#without);
  }

  #refusedWords() {
    return refusedWords(this.#group, this.#without, this.#intents.nothing);
  }

  // Ids of what would get the label if it were not unticked; typical texts are part of both shares.
  get #leftOut() {
    const rest = this.#share === 'all' ? [] : (this.#every ?? []).slice(this.#group.core);
    return [...this.#without].filter(id => !rest.some(one => one.id === id));
  }

  // How many texts the chosen share has.
  get #size() {
    return this.#share === 'all' ? this.#group.card.size : this.#group.core;
  }

  // Those of them that are in sight: typical ones, or once they were asked for, as many as the server lists.
  get #shown() {
    return this.#every?.slice(0, this.#size) ?? this.#group.typical;
  }

  // How many texts an act labels.
  get #count() {
    return this.#size - this.#leftOut.length;
  }

  // Texts with little in common are labelled only once all were in sight: one key labelled nine that nobody had seen.
  async #take(label) {
    const {card, revision, cohesion, typical} = this.#group;
    if (cohesion < MIXED && !this.#every && typical.length < this.#size) {
      // told in the page: a message would cover the buttons to press
      this.#warned = label.intent || label.create ? LOOK : LOOK_OUTSIDE;
      await this.#showEvery();
      return undefined;
    }
    const how = {share: this.#share, without: this.#leftOut, expected: this.#count, revision};
    return this.#acts.take(card, {...label, ...how});
  }

  #choose(share) {
    this.#share = share;
    this.#draw();
  }

  #draw() {
    const {border} = this.#group;
    const loose = this.#isLoose && !this.#warned && 'They have little in common: look closely, or split them. ';
    const about = [loose, answeredApart(this.#group, this.#intents), this.#labelledWords()];
    fill(
      this.element,
      this.#title(),
      h('p', {class: 'soft small tabular', 'data-role': 'counts'}, this.#counts()),
      about.some(Boolean) && h('p', {class: 'soft small'}, about),
      this.#warned && this.#every && h('p', {class: 'note warn', role: 'alert', 'data-role': 'loose'}, this.#warned),
      this.#shares(),
      h(
        'div',
        {class: 'body'},
        this.#texts(),
        border.length > 0 &&
          h(
            'details',
            {'data-key': 'border'},
            h('summary', {}, 'Texts that fit least: are they in doubt?'),
            h(
              'ul',
              {class: 'plain-list'},
              border.map(({text}) => h('li', {}, wording(text))),
            ),
          ),
      ),
      this.#deeds,
    );
    this.#drawRemedies(); // they name the intent as the field does, which is in the page now
  }

  // At most three counts, each with its noun, so that it is clear which one a button means.
  #counts() {
    const {core, card} = this.#group;
    const shown = this.#shown.length;
    return [
      waitingWords(card, this.#intents.nothing),
      core < card.size && `${number(core)} ${this.#isLoose ? 'closest' : 'surest'}`,
      shown < this.#size && `${number(shown)} shown`,
    ]
      .filter(Boolean)
      .join(' · ');
  }

  #labelledWords() {
    const {labelled, label} = this.#group.card;
    if (!labelled) return '';
    return [
      `${plural(labelled, 'further text of it has', 'further texts of it have')} a label already`,
      label ? `${labelled > 1 ? ', most ' : ': '}` : '.',
      label && this.#intents.labels([label]),
    ];
  }

  // The name is what the intent will be called; it can be written over.
  #title() {
    // The remedies have the typed name already. Drawn again as the field is left, they would swallow
    // the click by which it is left.
    const attributes = {
      type: 'text',
      name: 'name',
      class: 'group-name',
      value: this.#typed ?? this.#proposed(this.#group.card.name),
      maxlength: 200,
      'aria-label': 'Name of the group, and of the intent it becomes',
      'data-key': 'name',
      // A field that is drawn anew while somebody types tells of no change when it is left.
      onblur: event => event.target.isConnected && this.#rename(),
      oninput: event => {
        this.#typed = event.target.value;
        this.#drawRemedies();
      },
      onkeydown: event => ['Enter', 'Escape'].includes(event.key) && event.target.blur(),
    };
    return h(
      'div',
      {class: 'row'},
      h('input', attributes),
      h('kbd', {class: 'for-keys', title: 'Change the name'}, 'N'),
    );
  }

  async #rename() {
    const name = this.#name;
    if (this.#typed === null || [this.#group.card.name, this.#saving].includes(name)) return;
    this.#saving = name;
    try {
      await this.#acts.rename(this.#group.card, name);
    } catch (error) {
      this.#saving = null;
      complain(error);
    }
  }

  // Written as the project writes its names.
  #proposed(name) {
    const names = this.#intents.open.map(intent => intent.name);
    const joined = names.filter(one => one.includes('_')).length > names.length / 2;
    return joined ? name.replaceAll(' ', '_') : name;
  }

  #shares() {
    const {core, card} = this.#group;
    if (core >= card.size) return null;
    const choice = (share, words) =>
      h(
        'button',
        {
          'aria-pressed': String(this.#share === share),
          'data-key': `share ${share}`,
          onclick: () => this.#choose(share),
        },
        words,
      );
    return h(
      'div',
      {class: 'row'},
      h(
        'div',
        {class: 'tabs', role: 'group', 'aria-label': 'How many texts to take'},
        choice('core', `Only the ${this.#isLoose ? 'closest' : 'surest'}`),
        choice('all', 'All'),
      ),
      h('kbd', {class: 'for-keys', title: 'Change between both'}, EVERY),
      this.#share === 'core' &&
        h('span', {class: 'soft small'}, card.out_of_scope ? 'The others stay.' : 'The others wait on the Label page.'),
    );
  }

  // Texts that get the label, as far as they are shown: typical ones, or all of them.
  #texts() {
    const shown = this.#shown;
    const isCut = shown.length < this.#size;
    const more = {class: 'plain', 'data-key': 'every', onclick: guarded(() => this.#showEvery())};
    return [
      h(
        'div',
        {class: 'row'},
        h('h3', {}, isCut ? 'Some of its texts.' : 'Its texts.', h('span', {class: 'soft small'}, ` ${UNTICK}`)),
        isCut && !this.#every && h('button', more, 'Show all'),
      ),
      h(
        'ul',
        {class: 'plain-list typical', 'data-role': 'typical'},
        shown.map(one => this.#row(one)),
      ),
      isCut && this.#every && h('p', {class: 'soft small'}, 'More are not shown.'),
    ];
  }

  #row({id, text}) {
    const toggle = event => {
      if (event.target.checked) this.#without.delete(id);
      else this.#without.add(id);
      this.#drawRemedies();
    };
    const box = {
      type: 'checkbox',
      checked: !this.#without.has(id),
      'data-key': `text ${id}`,
      onchange: toggle,
    };
    return h('li', {}, h('label', {}, h('input', box), wording(text)));
  }

  async #showEvery() {
    if (!(await this.#askForEvery())) return;
    this.element.querySelector(`[data-key="text ${this.#every[0]?.id}"]`)?.focus();
  }

  // Whether this group is still the one that is shown. It may have been drawn anew before the answer came.
  async #askForEvery(isShown = true) {
    const {card, revision} = this.#group;
    const every = await this.#acts.texts(card);
    if (card.id !== this.#group?.card.id) return false;
    if (revision !== this.#group.revision) return this.#askForEvery(isShown);
    if (isShown) this.#every = every;
    // A text that somebody has labelled meanwhile can be ticked no more.
    if (every.length === this.#group.card.size)
      this.#without = this.#without.intersection(new Set(every.map(({id}) => id)));
    this.#draw();
    return true;
  }

  // The field for another intent is among them: whoever types there goes on.
  #drawRemedies() {
    const typing = this.#finder.element.contains(document.activeElement) && document.activeElement;
    fill(this.#deeds, this.#remedies());
    if (typing) typing.focus({preventScroll: true});
  }

  #remedies() {
    const {card} = this.#group;
    const intents = offered(this.#group, this.#without);
    const same = likeliest(this.#group, this.#without);
    const count = plural(this.#count, 'text');
    const known = this.#intents.byName.get(this.#name);
    const nothing = this.#count < 1;
    const act = (key, words, does, look = '', disabled = false, keys = key) => {
      const onclick = guarded(event => !this.#second.is(event) && does());
      return h(
        'button',
        {class: look, 'data-key': `act ${key}`, disabled, onclick},
        h('span', {}, words),
        h('kbd', {class: 'for-keys', 'aria-hidden': 'true'}, look === 'primary' ? `${keys} ↵` : keys),
      );
    };
    const looks = is => (is && !this.#isLoose ? 'primary' : ''); // what is likely right
    const isTyped = this.#name !== this.#proposed(card.name);
    const isSame = same && !known && !isTyped;
    // Two words of its texts may be the name of an intent that they do not fit.
    const isAsked = !isSame && !known && !isTyped && this.#isRefused;
    const isNamed = !isSame && !isAsked && (!known || isTyped || known.id === same);
    const near = intents.map((id, at) => {
      const intent = this.#intents.byId.get(id);
      const isIt = isSame && id === same;
      const named = [`Put ${count} into “`, breaking(intent?.name ?? id), '”'];
      const words = isIt ? named : [`Put ${count} into `, chip(intent, id)];
      const takes = () => this.#take({intent: id});
      return intent?.name !== this.#name && act(at + 1, words, takes, looks(isIt), nothing);
    });
    const name = breaking(this.#name);
    const first = known
      ? [`Put ${count} into “`, name, '”']
      : [`Make ${count} the new intent “`, name, '”'];
    const rest = h(
      'div',
      {class: 'row'},
      act('O', `They are ${this.#intents.nothing}`, () => this.#take({}), '', nothing),
      act(SPLIT, 'Split', () => this.#acts.split(this.#group), this.#isLoose ? 'primary' : '', card.size < FEW),
      act(MERGE, 'Merge', () => this.#acts.merge(this.#group)),
      act(LATER, isPutAside(card) ? 'Open again' : 'Later', () => this.#acts.later(this.#group), '', !card.size),
    );
    const place = known ? intents.indexOf(known.id) + 1 : 0; // its number does the same, so it stands there, too
    const keys = place ? `${TAKE} ${place}` : TAKE;
    const main = act(TAKE, first, () => this.#take({create: this.#name}), looks(isNamed), nothing, keys);
    const both = isSame ? [near, main] : [main, near];
    const asked = isAsked && !this.#isLoose && h('p', {'data-role': 'refused'}, this.#refusedWords());
    const told = asked || answeredLine(this.#group, this.#without);
    return [told, h('div', {class: 'row'}, both, this.#finder.element), rest];
  }
}
