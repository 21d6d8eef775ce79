// The list of a page's keys, over the page.
import {h} from './elements.js';
import {present} from './messages.js';

// `keys` are pairs of a key and what it does. Escape closes the list.
export function showKeys(keys) {
  const lines = keys.map(([key, meaning]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, meaning)]);
  present('Keys of this page', h('dl', {class: 'keys', id: 'keys'}, lines));
}

export const keysButton = opens =>
  h(
    'button',
    {class: 'plain small for-keys', 'data-role': 'keys', onclick: opens},
    'Keys ',
    h('kbd', {}, '?'),
  );
