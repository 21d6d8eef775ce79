import {plural} from './words.js';

// The names of acts as a designer says them; what is not listed is called so already. `nothing` is the project's word
// for a text without an intent.
const WORDS = {
  unlabel: 'take a label away',
  flag: 'flag as unclear',
  unflag: 'take a flag away',
  move: 'move between training and test texts',
  text: 'change a text',
  add: 'add an example',
  rename: 'rename an intent',
  describe: 'change a description',
  merge: 'merge intents',
  split: 'split an intent',
  augment: 'add generated texts',
  'mark slots': 'mark values',
  'accept slots': 'mark proposed values',
  'rename slot': 'rename values',
  keep: 'keep a finding as it is',
  propose: 'propose changes',
  erase: 'erase for good',
  traffic: 'new texts from production',
  'export log': 'take out what people said',
  'import log': 'import a log from production',
  'undo log': 'take a log from production back',
  undo: 'take back',
  redo: 'do again',
  'save fence': 'save the limit for out of scope',
  'reset fence': 'reset the limit for out of scope',
  'promote by itself': 'automatic use of new versions',
  'export version': 'hand over version',
  'discard version': 'decide not to use version',
  receipt: 'make a receipt',
};

// What a button does that gives one text a label: instead of another one, or as its first.
export const labelAs = (labels, name) => `${labels?.length ? 'Relabel' : 'Label'} as ${name}`;

const JOINED = {import: ' of', sync: ' with'};

// What the next Undo takes back: "import of pool.csv (300 texts)", "label “hello” as greeting"; `about` is empty where
// it is several things.
export function undoWords({can_undo: verb, undoes: {about, n}}, nothing) {
  const named = about && `${JOINED[verb] ?? ''} ${about}`;
  return `${actWords(verb, nothing)}${named}${n > 1 ? ` (${plural(n, 'text')})` : ''}`;
}

export const actWords = (verb, nothing) => (verb === 'out-of-scope' ? nothing : (WORDS[verb] ?? verb));
