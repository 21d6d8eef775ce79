// The list of a page's keys, over the page.
import {h} from './elements.js';
import {present} from './messages.js';

// `keys` are pairs of a key and what it does; a sentence `about` them stands below. Escape closes the list.
export function showKeys(keys, about = '') {
  const lines = keys.map(([key, meaning]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, meaning)]);
  const list = h('dl', {class: 'keys', id: 'keys'}, lines);
  present('Keys of this page', h('div', {}, list, about && h('p', {class: 'soft small after'}, about)));
}

export const keysButton = opens =>
  h(
    'button',
    {class: 'plain small for-keys', 'data-role': 'keys', onclick: opens},
    'Keys ',
    h('kbd', {}, '?'),
  );
