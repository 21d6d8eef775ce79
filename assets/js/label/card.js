// The card: one utterance with its suggestions and actions.
// Its elements stay in place and only their content changes, so typing is never interrupted.
import {address} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {isDoubtful, likelihood, outside, plural} from '../shared/words.js';
import {Fold} from './fold.js';
import {NUMBERED} from './keys.js';
import {Utterance} from './utterance.js';

const NO_MODEL = 'There is no model yet: these are the first of your intents, not suggestions. Find any other below.';
const QUICK = 'Train Quick first'; // one click away, and every card suggests
const TRAINING = 'The first training runs';
const TAUGHT = 2; // intents with examples that a training needs
const NO_INTENT = 'There is no intent yet. Type the name of your first one below.';
const IS_TEST = 'It checks the model, which never learns from it';
const LOADING = 'The model is loading; suggestions will follow. You can label already.';

export class Card {
  #about = h('div', {class: 'row small soft about'});
  #text = new Utterance();
  #options;
  #take;
  #work;
  #rest = h('div');
  #named = []; // draw the names of buttons that follow the text
  #shown = []; // ids of the intents on the card, from top to bottom
  #intents;
  #multi;
  #give;
  #enoughOf;
  #project;

  // `give` is called with an intent. `buttons`, `others`, which stand back, and `folded` are lists of a name, a key, an
  // action, what it does, and the same in few words where it is one of the ways to give no label now; a name may follow
  // the text on the card. `guidelines` opens them on a narrow screen. `decided` is
  // the line of the last decision. `enoughOf` returns why the intent of an id has enough labels, if it has.
  constructor(parts) {
    const {finder, accept, buttons, others, folded, decided, guidelines} = parts;
    const {project, intents, multi, give, enoughOf} = parts;
    this.#project = project;
    this.#intents = intents;
    this.#multi = multi;
    this.#give = give;
    this.#enoughOf = enoughOf;
    const label = multi ? 'Intents; choose one or more' : 'Suggested intents';
    this.#options = h('div', {class: 'options', role: 'group', 'aria-label': label});
    this.#take = h('button', {class: 'primary', hidden: !multi, onclick: accept});
    const back = button => this.#keyButton(button, 'plain small');
    const fold = new Fold(folded.map(back));
    this.#work = h(
      'div',
      {hidden: true},
      this.#text.element,
      this.#about, // of this text; above it stands what was decided about the last one
      this.#options,
      h('div', {class: 'around'}, finder.element),
      h('div', {class: 'row'}, this.#take, buttons.map(button => this.#keyButton(button))),
      h('div', {class: 'row tight others'}, guidelines, others.map(back), fold.opener),
      fold.element,
    );
    this.element = h(
      'section',
      {class: 'sheet card', 'aria-label': 'Text to label'},
      decided,
      this.#work,
      this.#rest,
    );
  }

  // After the finder has scrolled the page on a phone, the text is what comes next.
  showText() {
    this.#text.element.scrollIntoView({block: 'nearest'});
  }

  // The intent that is shown with a number, counted from 1, or undefined; its id is empty for out of scope.
  numbered(number) {
    return number <= NUMBERED ? this.#intentOf(this.#shown[number - 1]) : undefined;
  }

  // An option is an intent, or with an empty id none of them.
  #intentOf(id) {
    return id === '' ? {id, name: this.#intents.nothing} : this.#intents.byId.get(id);
  }

  // Shows a message instead of an utterance.
  rest(content) {
    this.#work.hidden = true;
    this.#rest.hidden = false;
    fill(this.#rest, content);
  }

  // `chosen` holds the intents chosen so far, in a multi-label project; from the probability `limit` on, the model is
  // sure of an answer.
  draw(item, {chosen, status, limit}) {
    const hasModel = status.champion !== null;
    this.#work.hidden = false;
    this.#rest.hidden = true;
    fill(this.#rest);
    this.tellAbout(item);
    this.#text.show(item);
    const {intents, create} = chosen.of(item);
    const ids = new Set(this.#multi ? intents : []);
    const forget = name => {
      chosen.forget(item, name);
      this.draw(item, {chosen, status, limit});
    };
    const fresh = create.map(name => newOption(name, () => forget(name)));
    const options = this.#optionsOf(item, ids, hasModel);
    this.#shown = options.map(option => option.intent_id);
    const lines = options.map((option, place) => this.#option(option, {chosen: ids, place, limit}));
    fill(this.#options, this.#note(item, status), lines, fresh);
    for (const name of this.#named) name(item);
    if (!this.#multi) return;
    const n = ids.size + create.length;
    const what = n ? `Label with ${plural(n, 'intent')} ` : `Label as ${this.#intents.nothing} `;
    this.#take.disabled = !chosen.areKnown(item);
    fill(this.#take, what, h('kbd', {}, 'Enter'));
  }

  // Draws the facts alone: no button moves under the pointer. Without a text there are none.
  tellAbout(item) {
    fill(this.#about, item && this.#facts(item));
  }

  // A button that was clicked leaves the focus, or Enter would press it on the next card.
  #keyButton([name, key, action, title, brief], look) {
    const onclick = event => {
      if (event.detail) event.currentTarget.blur();
      return action(event);
    };
    const words = h('span', {dir: 'auto'}, typeof name === 'string' ? name : '');
    if (typeof name !== 'string') this.#named.push(item => fill(words, name(item)));
    const named = [words, ' ', h('kbd', {'aria-hidden': 'true'}, key)];
    if (!brief) return h('button', {onclick, title, class: look}, named);
    const told = h('span', {class: 'brief', 'aria-hidden': 'true'}, brief); // the title says it to screen readers
    const lines = h('span', {class: 'two-lines'}, h('span', {}, named), told);
    return h('button', {onclick, title, class: look}, lines);
  }

  #facts(item) {
    return [
      item.labels !== null && h('span', {}, 'labelled ', this.#intents.labels(item.labels)),
      item.split === 'test' && h('span', {class: 'badge', title: IS_TEST}, 'test text'),
      item.flagged && h('span', {class: 'badge warn'}, item.flagged),
      item.out_of_scope && h('span', {}, 'The model says: ', outside(item.suggestions?.[0]?.intent, this.#intents)),
      this.#enough(item),
    ];
  }

  // A test text is labelled to measure, and the card's first option is out of scope where the model says so.
  #enough({suggestions, out_of_scope: isOutside, split}) {
    const [first] = suggestions ?? [];
    const reason = first?.marked && !isOutside && split !== 'test' && this.#enoughOf(first.intent_id);
    if (!reason) return null;
    const words = ['Enough labels of ', h('bdi', {}, first.intent), ': a label of another intent helps more.'];
    return h('span', {title: reason, 'data-role': 'enough-labels'}, words);
  }

  #note({suggestions}, {champion, job}) {
    if (suggestions !== null) return null;
    const hasModel = champion !== null;
    if (!hasModel && isTraining(job)) {
      const follow = h('a', {href: address('train', this.#project)}, TRAINING);
      const then = '; when it has ended, each card suggests an intent. These are no suggestions.';
      return h('p', {}, follow, then);
    }
    if (!hasModel && this.#intents.open.filter(one => one.utterances > one.tests).length >= TAUGHT) {
      const train = h('a', {href: address('train', this.#project, {way: 'quick'})}, QUICK);
      return h('p', {}, train, ', and each card suggests an intent. These are no suggestions.');
    }
    const words = hasModel ? LOADING : this.#intents.open.length ? NO_MODEL : NO_INTENT;
    return h('p', {class: 'soft'}, words);
  }

  // Without a model the card offers the first intents of the list, and says that they are no suggestions. While a
  // model loads it offers none. What the model says comes first, out of scope as well.
  #optionsOf(item, chosen, hasModel) {
    if (item.out_of_scope && !this.#multi) {
      const closest = (item.suggestions ?? []).map(option => ({...option, probability: null}));
      return [{...bare(this.#intentOf('')), probability: null}, ...closest].slice(0, NUMBERED);
    }
    const options = item.suggestions ?? (hasModel ? [] : this.#intents.open.slice(0, NUMBERED).map(bare));
    const ids = new Set(options.map(option => option.intent_id));
    const besides = [...chosen].filter(id => !ids.has(id));
    return [...options, ...besides.map(id => bare(this.#intents.byId.get(id) ?? {id, name: '?'}))].map(
      option => (item.out_of_scope ? {...option, probability: null} : option),
    );
  }

  #option({intent_id: id, intent: name, probability}, {chosen, place, limit}) {
    const intent = this.#intentOf(id);
    const isKnown = typeof probability === 'number';
    const number = place < NUMBERED ? String(place + 1) : '';
    const isTaken = probability !== undefined && place === 0 && !this.#multi; // by Enter
    const isUnsure = isKnown && isTaken && isDoubtful(probability, limit);
    const share = isKnown && (isUnsure ? `Not sure: ${likelihood(probability)}` : likelihood(probability));
    return h(
      'button',
      {
        class: 'option',
        style: {'--dot': intent?.color},
        disabled: !intent,
        'aria-pressed': this.#multi ? String(chosen.has(id)) : null,
        // In a single-label project no option keeps the focus on the next card, where Enter would press it. One that
        // was clicked keeps it nowhere: Enter saves what is marked.
        'data-key': this.#multi ? id : null,
        onclick: event => {
          if (event.detail) event.currentTarget.blur();
          return this.#give(intent);
        },
      },
      number ? h('kbd', {}, isTaken ? `${number} ↵` : number) : h('span'),
      h('span', {class: `chip bare inside ${id ? '' : 'oos'}`}, name),
      h('span', {class: 'share'}, share, isUnsure && h('span', {class: 'for-keys'}, ' · Enter takes it')),
      isKnown && h('i', {class: 'fill', style: {width: `${100 * probability}%`}}),
    );
  }
}

const isTraining = job => job?.kind === 'train';

// What to do about a model where there is none.
export const untilAModel = ({job}) =>
  isTraining(job) ? `${TRAINING}: ask again when it has ended.` : `${QUICK}.`;

// An option without the model's word on it.
const bare = ({id, name}) => ({intent_id: id, intent: name});

// An intent that is created together with the label; pressing it removes it.
const newOption = (name, forget) => {
  const onclick = event => {
    if (event.detail) event.currentTarget.blur(); // else Enter would press the option in its place
    forget();
  };
  return h(
    'button',
    {class: 'option', 'aria-pressed': 'true', 'data-key': `new ${name}`, onclick},
    h('span', {class: 'badge accent'}, 'new'),
    h('span', {}, name),
  );
};
