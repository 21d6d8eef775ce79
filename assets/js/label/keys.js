// The keyboard of the card: one key for each action, and the numbers of the options on the card.
import {keysButton, showKeys} from '../shared/key_list.js';
import {dialogIsOpen} from '../shared/messages.js';

export const NUMBERED = 5; // options of the card that have a number key

const keysOf = ({multi, nothing, open}) => [
  ['Enter', multi ? 'take all marked intents' : 'take number 1, the first suggestion, sure or not'],
  ...numbersOf(multi, Math.min(NUMBERED, open.length)),
  ['/', open.length ? 'find or create any other intent' : 'create an intent'],
  ['0 or O', nothing],
  ['U or Ctrl Z', 'undo'],
  ['S', 'skip: decide nothing; Data lists the text under “skipped”'],
  ['F', 'flag unclear: skip it, and find it on Data under “flagged” for a second look'],
  ['M', 'more like this: bring the most similar texts next'],
  ['T', 'label together: set texts aside, and give them all one label'],
  ['W', 'why this suggestion'],
  ['V', 'mark values: names, dates, places'],
  ['P', 'pin what the model answers now: a version that breaks a pin does not go live by itself'],
  ['G', 'what each intent means: its description and newest examples'],
  ...(multi ? [] : [['A', 'label all at once that the model is sure of; you check a few first']]),
  ['Ctrl K', 'go to a page, an intent or another project'],
  ['?', 'these keys'],
];

function numbersOf(multi, most) {
  if (!most) return [];
  const keys = most > 1 ? `1 to ${most}` : '1';
  const toggles = 'mark the intent with this number, or take the mark away';
  return [[keys, multi ? toggles : 'what has this number on the card']];
}

export class Keys {
  button = keysButton(() => this.open());
  #actions;
  #numbered;
  #intents;

  // `actions` by key, in lower case; `numbered` is called with a number from 1 to 9.
  constructor(actions, numbered, intents) {
    this.#actions = {...actions, '?': () => this.open()};
    this.#numbered = numbered;
    this.#intents = intents;
  }

  listen() {
    document.addEventListener('keydown', event => this.#onKey(event));
  }

  // Lists the keys of this project over the page; Escape closes the list.
  open() {
    showKeys(keysOf(this.#intents));
  }

  #onKey(event) {
    const at = event.target;
    if (event.isComposing || dialogIsOpen() || !this.button.isConnected) return;
    if (at.matches?.('input,textarea,select,[contenteditable]')) return;
    const action = this.#meant(event, at);
    const isPressed = event.key === 'Enter' && at.matches?.('button'); // by the browser, again and again
    if (!action && !(event.repeat && isPressed)) return;
    event.preventDefault();
    if (!event.repeat) action(); // a key that is held down would decide on cards that nobody has read
  }

  #meant({key, ctrlKey, metaKey, altKey}, at) {
    if ((ctrlKey || metaKey) && key.toLowerCase() === 'z') return this.#actions.u;
    if (ctrlKey || metaKey || altKey) return null;
    if (key === 'Enter' && at.matches?.('button,a,summary')) return null; // Enter presses the focused control
    if (/^[1-9]$/.test(key)) return () => this.#numbered(Number(key));
    return this.#actions[key.toLowerCase()];
  }
}
