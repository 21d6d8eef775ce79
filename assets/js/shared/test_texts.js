// Without test texts nobody knows how good a model is: the one button that brings some.
import {address} from './address.js';
import {h} from './elements.js';
import {number} from './words.js';

const WANTED = 100; // test texts that tell how good a model is
const FEWEST = 20; // unlabelled texts worth drawing from; with fewer, a file brings test texts

// `unlabelled` texts wait for a label.
export function bringTests(project, unlabelled) {
  const n = Math.min(WANTED, unlabelled);
  const [href, words] =
    n < FEWEST
      ? [address('data', project, {import: 'test'}), 'Import test texts']
      : [address('label', project, {tests: n}), `Label ${number(n)} at random as test texts`];
  return h('a', {class: 'button small', href, 'data-role': 'bring-tests', 'data-key': `tests ${project}`}, words);
}
