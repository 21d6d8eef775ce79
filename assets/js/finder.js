// Type to find any of many intents, or create one in place.
import {chip, fill, h} from './studio.js';

let serial = 0;

export function intentFinder({intents, pick, create = null, label}) {
  const id = `finder-${(serial += 1)}`;
  const list = h('ul', {id, role: 'listbox', 'aria-label': label, hidden: true});
  const input = h('input', {
    type: 'search',
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': id,
    'aria-autocomplete': 'list',
    'aria-label': label,
    placeholder: create ? 'Find or create an intent  /' : label,
    autocomplete: 'off',
    maxlength: 200,
    style: {width: '100%'},
  });
  const element = h('div', {class: 'found'}, input, list);
  let shown = [],
    at = 0;

  function look() {
    const words = input.value.trim().toLowerCase();
    const plain = text => text.toLowerCase().replace(/[_-]/g, ' ');
    const parts = words.replace(/[_-]/g, ' ').split(/\s+/).filter(Boolean);
    shown = intents()
      .filter(intent =>
        parts.every(part => plain(intent.name).includes(part) || String(intent.number) === part),
      )
      .sort((a, b) => plain(b.name).startsWith(parts[0] ?? '') - plain(a.name).startsWith(parts[0] ?? ''))
      .slice(0, 60)
      .map(intent => ({intent}));
    if (create && words && !intents().some(intent => intent.name.toLowerCase() === words))
      shown.push({create: input.value.trim()});
    at = 0;
    draw();
  }
  function draw() {
    list.hidden = !shown.length || document.activeElement !== input;
    input.setAttribute('aria-expanded', String(!list.hidden));
    input.setAttribute('aria-activedescendant', list.hidden ? '' : `${id}-${at}`);
    fill(
      list,
      ...shown.map((one, place) =>
        h(
          'li',
          {
            id: `${id}-${place}`,
            role: 'option',
            'aria-selected': String(place === at),
            onmousedown: event => {
              event.preventDefault();
              take(one);
            },
          },
          one.intent
            ? [h('kbd', {}, one.intent.number), chip(one.intent)]
            : [h('span', {class: 'badge accent'}, 'new'), `Create “${one.create}”`],
        ),
      ),
    );
    list.children[at]?.scrollIntoView({block: 'nearest'});
  }
  function take(one) {
    if (!one) return;
    close();
    if (one.intent) pick(one.intent);
    else create(one.create);
  }
  function close() {
    input.value = '';
    shown = [];
    draw();
    input.blur();
  }

  input.addEventListener('input', look);
  input.addEventListener('focus', look);
  input.addEventListener('blur', draw);
  input.addEventListener('keydown', event => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      at = (at + (event.key === 'ArrowDown' ? 1 : -1) + shown.length) % Math.max(1, shown.length);
      draw();
    }
    if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      take(shown[at]);
    }
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
  });
  return {
    element,
    open: () => {
      input.focus();
      input.select();
    },
  };
}
