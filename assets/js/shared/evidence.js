// Evidence that is kept: opened, printed, and sent to somebody who may look and change nothing.
import {h} from './elements.js';
import {guarded, toast} from './messages.js';
import {binary} from './rest.js';

export const open = path => window.open(path, '_blank', 'noopener');

// Fetched first, so that what cannot be printed is told here and not saved as a file.
export async function savePdf(path, name) {
  const content = new Blob([await binary(path)], {type: 'application/pdf'});
  const link = h('a', {href: URL.createObjectURL(content), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// A button that says that it is at work, and takes no second press meanwhile. It keeps the focus, which a disabled
// one would lose.
export function busyButton(words, action, attributes = {}) {
  const work = guarded(action);
  const press = async event => {
    const button = event.currentTarget;
    if (button.hasAttribute('aria-disabled')) return;
    button.setAttribute('aria-disabled', 'true');
    await work();
    button.removeAttribute('aria-disabled');
  };
  return h('button', {...attributes, onclick: press}, words);
}

// The link that others may have: it shows, and changes nothing.
export function linkLine({link}, what) {
  const address = new URL(link, location.origin).href;
  const box = h('input', {
    type: 'text',
    value: address,
    readonly: true,
    'aria-label': `Link to the ${what}`,
    'data-role': 'link',
    style: {width: '100%'},
    onfocus: event => event.target.select(),
  });
  const copy = guarded(async () => {
    box.select();
    await navigator.clipboard.writeText(address);
    toast('Copied.', 'Whoever opens it can read, and change nothing.', 'good');
  });
  return h(
    'div',
    {class: 'row tight', style: {'margin-top': '10px'}},
    h('span', {class: 'soft small'}, 'Read-only link'),
    h('div', {style: {flex: '1 1 220px'}}, box),
    h('button', {onclick: copy}, 'Copy'),
  );
}
