// The shape of a list that is loading: words, and lines that stand for its rows. It is seen only after 200 ms, so that
// quick answers do not flicker.
import {h} from './elements.js';

const LINES = 5;

export const skeleton = words =>
  h(
    'div',
    {class: 'skeleton', role: 'status', 'data-role': 'skeleton'},
    h('p', {class: 'soft small'}, words),
    Array.from({length: LINES}, () => h('i', {'aria-hidden': 'true'})),
  );
