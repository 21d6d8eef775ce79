// Receipts and reports: open one, or print it.
import {h} from './elements.js';
import {guarded} from './messages.js';
import {binary} from './rest.js';

export const open = path => window.open(path, '_blank', 'noopener');

const TYPES = {html: 'text/html', pdf: 'application/pdf'};

// The file is fetched first, so an error is shown here and not saved as a file. Resolves to its bytes.
export async function saveFile(path, name) {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  const content = new Blob([await binary(path)], {type});
  const link = h('a', {href: URL.createObjectURL(content), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  return content.size;
}

// A button that says when it is busy and then ignores presses. Unlike a disabled button it keeps the focus. `action` is
// called with the press.
export function busyButton(words, action, attributes = {}) {
  const work = guarded(action);
  const press = async event => {
    const button = event.currentTarget;
    if (button.hasAttribute('aria-disabled')) return;
    button.setAttribute('aria-disabled', 'true');
    await work(event);
    button.removeAttribute('aria-disabled');
  };
  return h('button', {...attributes, onclick: press}, words);
}

// The files to pass on come first: they open anywhere. `save` takes the kind of file.
export const downloadsOf = save => [
  busyButton('Download HTML', () => save('html'), {'data-key': 'html'}),
  busyButton('Download PDF', () => save('pdf'), {'data-key': 'pdf'}),
];
