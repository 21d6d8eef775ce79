// What an empty page ends with: the link to what fills it.
import {address} from './address.js';
import {h} from './elements.js';

const MANY = 100; // texts without any label of which it is quicker to label groups than one at a time
const ACTS = {
  data: 'Import texts',
  discover: 'See what they are about',
  label: 'Label a few texts',
  train: 'Train',
};

// `counts` are those of the project's utterances: a model needs texts, then labels, then a training. A page that has
// an act of its own shows this one quietly beside it.
export function firstAct(project, {total, labelled, unlabelled}, looks = 'button primary') {
  const first = unlabelled < MANY ? 'label' : 'discover';
  const page = !total ? 'data' : labelled ? 'train' : first;
  return h('a', {class: looks, href: address(page, project), 'data-role': 'first-act'}, ACTS[page]);
}

// The whole empty page: what is missing, in a title and a sentence, and what to do.
export const emptyPage = (title, words, act) =>
  h('div', {class: 'sheet empty'}, h('h2', {}, title), h('p', {}, words), act);
