// The shape of a list that is loading: words, and lines that stand for its rows. It is seen only after 200 ms, so that
// quick answers do not flicker. What stands there if the list does not come.
import {h} from './elements.js';
import {guarded} from './messages.js';

const LINES = 5;

export const skeleton = words =>
  h(
    'div',
    {class: 'skeleton', role: 'status', 'data-role': 'skeleton'},
    h('p', {class: 'soft small'}, words),
    Array.from({length: LINES}, () => h('i', {'aria-hidden': 'true'})),
  );

// In place of what was asked for in vain: why it did not come, and the way to ask once more.
export const failed = ({message, hint}, again) =>
  h(
    'div',
    {class: 'empty', 'data-role': 'failed'},
    h('p', {}, message, hint && h('span', {class: 'soft small'}, ` ${hint}`)),
    h('button', {type: 'button', 'data-key': 'again', onclick: guarded(again)}, 'Try again'),
  );
