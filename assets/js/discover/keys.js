// The keys of the groups. A key that the card of the page Label has, too, does the same there: a hand that knows one
// page does nothing else on the other.
import {h} from '../shared/elements.js';
import {keysButton, showKeys} from '../shared/key_list.js';

export const TAKE = 'I';
export const EVERY = 'E';
export const SPLIT = 'D';
export const MERGE = 'C';
export const LATER = 'L';

const keysOf = nothing => [
  ['Enter', 'do what is blue; its button shows ↵. Where nothing is blue, choose'],
  [TAKE, 'make them a new intent with the name of the group; if one has this name, put them there'],
  ['1 and 2', 'put them into the intent that has this number, which is there already'],
  ['/', 'find or create any other intent'],
  ['0 or O', nothing],
  ['U or Ctrl Z', 'undo'],
  ['N', 'change the name'],
  [EVERY, 'take every text of the group, or its surest alone'],
  [SPLIT, 'split: divide the group into narrower ones'],
  [MERGE, 'merge: combine it with another group'],
  [LATER, 'later: put the group aside'],
  ['J or ↓, K or ↑', 'next group, and the one before'],
  ['Ctrl K', 'go to a page, an intent or another project'],
  ['?', 'these keys'],
];

export const openKeys = nothing => showKeys(keysOf(nothing));

export const keysLine = nothing =>
  h(
    'p',
    {class: 'row tight soft small hints for-keys'},
    h('span', {}, 'Next, previous ', h('kbd', {}, 'J'), ' ', h('kbd', {}, 'K')),
    keysButton(() => openKeys(nothing)),
  );
