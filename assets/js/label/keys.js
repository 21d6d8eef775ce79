// The keyboard of the card: one key for each action, and digits for the intents' numbers.
import {h} from '../shared/elements.js';
import {dialogIsOpen, toast} from '../shared/messages.js';

const keysOf = ({multi, nothing}) => [
  ['Enter', multi ? 'take all marked intents' : 'take the first suggestion'],
  ['1 2 … 17', multi ? 'mark an intent, or take the mark away' : 'intent by its number'],
  ['/', 'find or create an intent'],
  ['U', 'undo'],
  ['O', nothing],
  ['S', 'skip'],
  ['F', 'flag for a second look'],
  ['M', 'more like this'],
  ['T', 'into the tray'],
  ['W', 'why this suggestion'],
  ['V', 'mark values: names, dates, places'],
  ['P', 'pin as a test'],
  ['G', 'guidelines'],
  ['?', 'these keys'],
];
const SILENCE = 300; // milliseconds without a digit after which the number is complete

export class Keys {
  #actions;
  #digits;
  #sheet;

  // `actions` by key, in lower case.
  constructor(actions, {digits, intents}) {
    this.#sheet = keysSheet(intents);
    this.#actions = {...actions, '?': () => this.#open()};
    this.#digits = digits;
  }

  get sheet() {
    return this.#sheet;
  }

  listen() {
    document.addEventListener('keydown', event => this.#onKey(event));
  }

  #open() {
    this.#sheet.open = true;
    this.#sheet.scrollIntoView({block: 'nearest'});
  }

  #onKey(event) {
    const at = event.target;
    if (event.isComposing || dialogIsOpen() || !this.#sheet.isConnected) return;
    if (at.matches?.('input,textarea,select,[contenteditable]')) return;
    const action = this.#meant(event, at);
    if (!action) return;
    event.preventDefault();
    action();
  }

  #meant({key, ctrlKey, metaKey, altKey}, at) {
    if ((ctrlKey || metaKey) && key.toLowerCase() === 'z') return this.#actions.u;
    if (ctrlKey || metaKey || altKey) return null;
    if (key === 'Enter' && at.matches?.('button,a,summary')) return null; // Enter presses the focused control
    if (/^[0-9]$/.test(key)) return () => this.#digits.type(key);
    if (key === 'Escape') return () => this.#digits.forget();
    return this.#actions[key.toLowerCase()];
  }
}

// Collects digits until only one intent matches, or until no digit follows for a moment.
export class Digits {
  #typed = '';
  #timer = 0;
  #intents;
  #give;
  #show;

  constructor(intents, {give, show}) {
    this.#intents = intents;
    this.#give = give;
    this.#show = show;
  }

  type(digit) {
    this.#set(this.#typed + digit);
    const longer = this.#intents.open.some(({number}) => {
      const name = String(number);
      return name.startsWith(this.#typed) && name !== this.#typed;
    });
    if (longer) this.#timer = setTimeout(() => this.settle(), SILENCE);
    else this.settle();
  }

  // Returns true if the typed number is an intent's, or if nothing was typed.
  settle() {
    const typed = this.#typed;
    if (!typed) return true;
    this.forget();
    const intent = this.#intents.open.find(one => String(one.number) === typed);
    if (intent) this.#give(intent);
    else toast(`There is no intent number ${typed}.`, 'Press / to find one by name.');
    return Boolean(intent);
  }

  forget() {
    this.#set('');
  }

  #set(typed) {
    clearTimeout(this.#timer);
    this.#typed = typed;
    this.#show(typed);
  }
}

const keysSheet = intents =>
  h(
    'details',
    {class: 'sheet', id: 'keys', open: matchMedia('(min-width: 900px)').matches},
    h('summary', {style: {cursor: 'pointer', 'font-weight': 650}}, 'Keys'),
    h(
      'dl',
      {
        class: 'small',
        style: {display: 'grid', 'grid-template-columns': 'auto 1fr', gap: '5px 12px', margin: '10px 0 0'},
      },
      keysOf(intents).map(([key, meaning]) => [
        h('dt', {}, h('kbd', {}, key)),
        h('dd', {style: {margin: 0}}, meaning),
      ]),
    ),
  );
