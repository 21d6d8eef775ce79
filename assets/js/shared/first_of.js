// The first of many, and a button that shows the others. Of `total` those in `all` are known.
import {fill, h} from './elements.js';
import {moreWords, number} from './words.js';

// `one` of them is called so, as in “50 of 300 texts shown”; `view` draws some of them, `shown` at first. `key` tells
// several lists of a page apart.
export function firstOf(all, {total, shown, key, one, view}) {
  const place = h('div');
  const draw = n => {
    const told = all.slice(0, n);
    const open = {class: 'small', 'data-key': `more ${key}`, onclick: () => draw(all.length)};
    const words = `${number(told.length)} of ${number(total)} ${one}s shown`;
    // Above the list, whose end is under a bar or below the screen.
    const head = h(
      'div',
      {class: 'row small after', 'data-role': `${key} shown`},
      total > told.length && h('span', {class: 'soft'}, words),
      all.length > n && h('button', open, moreWords(n, total, all.length - n)),
    );
    fill(place, head, view(told));
  };
  draw(shown);
  return place;
}
