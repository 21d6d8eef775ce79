// The buttons of the card beside its suggestions: a name, a key, what it does, and what that is. Those that give no
// intent say it in few words where they stand, too: nobody could tell five of them apart.
import {whatPinsAre} from '../shared/pins.js';
import {capital} from '../shared/words.js';

// `actions` are by key, in lower case; `nothing` is the word for no intent.
export const decidingOf = (actions, nothing) => [
  [capital(nothing), '0', actions.o, 'It belongs to none of your intents', 'fits none of yours'],
  ['Skip', 'S', actions.s, 'Decides nothing; Data lists it under “skipped”', 'does not come again'],
];

const FLAG = 'Skips it too; Data lists it under “flagged”, for a second look';
const ASIDE = 'Collect texts of the same label, and give it once';
const SIMILAR = 'Brings the most similar unlabelled texts next';

// They stand back.
export const othersOf = actions => [
  ['Flag unclear', 'F', actions.f, FLAG, 'skipped, for a second look'],
  ['Why', 'W', actions.w, 'Shows the examples behind the first suggestion'],
];

// They are folded. `pinWords` names the pin of the text on the card.
export const foldedOf = (actions, pinWords) => [
  ['Set aside to label together', 'T', actions.t, ASIDE, 'waits for others like it'],
  ['Similar texts next', 'M', actions.m, SIMILAR, 'this one stays, they follow'],
  ['Mark values (names, dates)', 'V', actions.v, 'Says what they are; Slots puts other values there'],
  [pinWords, 'P', actions.p, `Pins what the model answers now. ${whatPinsAre}`],
];
