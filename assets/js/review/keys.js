// The keys of remedies: one act has one key in every finding. No key deletes: a text goes by a press of its button.
import {h} from '../shared/elements.js';
import {keysButton, showKeys} from '../shared/key_list.js';
import {toast} from '../shared/messages.js';

const FIRST_INTO_SECOND = 'M';
const SECOND_INTO_FIRST = 'B';
const OF_KIND = {move: 'V', split: 'O', rename: 'R', describe: 'E'};

const KEYS = [
  ['1, 2 …', 'give the label whose button shows this number'],
  ['A', 'find another label'],
  ['N', 'change nothing; the finding is not listed again'],
  ['L', 'label similar unlabelled texts on the page Label'],
  [FIRST_INTO_SECOND, 'merge the first intent into the second'],
  [SECOND_INTO_FIRST, 'merge the second intent into the first'],
  [OF_KIND.move, 'make it a test text'],
  [OF_KIND.split, 'split the intent'],
  [OF_KIND.rename, 'rename the intent'],
  [OF_KIND.describe, 'describe the intent'],
  ['P', 'pin the text: a version that breaks a pin does not go live by itself'],
  ['J or ↓, K or ↑', 'next finding, and the one before'],
  ['U or Ctrl Z', 'undo'],
  ['Ctrl K', 'go to a page, an intent or another project'],
  ['?', 'these keys'],
];
const WITHOUT =
  'Deleting has no key. Neither has a change of which nobody knows yet what it does to answers. ' +
  'A button that makes more answers wrong than right shows none, and asks first.';

export const openKeys = () => showKeys(KEYS, WITHOUT);

export const keysLine = () =>
  h(
    'p',
    {class: 'soft small hints for-keys'},
    h('span', {}, 'The letter or number at the end of a button is its key. What harms or deletes has none.'),
    h('span', {}, 'Next, previous ', h('kbd', {}, 'J'), ' ', h('kbd', {}, 'K')),
    h('span', {}, 'Pin the text ', h('kbd', {}, 'P')),
    keysButton(openKeys),
  );

// What a number does that no remedy of the finding has: it says so, for a key that does nothing seems broken.
export const unknownNumber = key =>
  /^\d$/.test(key) && (() => toast(`No button of this finding has the key ${key}.`, 'The key ? lists all keys.'));

// The keys of a finding's remedies, in their order; where there is no finding, there are none.
export function keysOf(remedies, finding) {
  const isConflict = finding?.kind === 'conflict';
  let labels = 0;
  return remedies.map(one => {
    if (!one.repair) return one.label_ids?.length ? 'L' : 'N';
    if (one.asks === 'intent') return 'A';
    switch (one.repair.kind) {
      case 'relabel':
        labels += 1;
        return isConflict ? keyOfLabel(one.repair, finding) : String(labels);
      case 'delete':
        return '';
      case 'merge':
        return one.repair.value === finding.intents[1] ? FIRST_INTO_SECOND : SECOND_INTO_FIRST;
      default:
        return OF_KIND[one.repair.kind];
    }
  });
}

// Of two texts with different labels, 1 gives both the label of the first, 2 that of the second, wherever these stand.
const keyOfLabel = ({ids}, {texts: [first]}) => (ids.includes(first.id) ? '2' : '1');

