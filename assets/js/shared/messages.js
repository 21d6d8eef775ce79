// Messages that disappear by themselves, and questions before an action.
import {h} from './elements.js';
import {icon} from './icons.js';

const SHOWN = {bad: 12000}; // milliseconds; errors take longer to read
const SHOWN_ELSE = 5000;
const SHOWN_TO_UNDO = 15000;
const SIGN = {bad: 'circle-x', good: 'circle-check'};

// `undo` takes back what the message tells of; its button stands in the message. So do those of `choices`: words and
// what they do.
export function toast(message, hint = '', kind = '', undo = null, choices = []) {
  const doing = act =>
    guarded(() => {
      node.remove();
      return act();
    });
  const chosen = choices.map(([words, act]) => h('button', {class: 'small', onclick: doing(act)}, words));
  const node = h(
    'div',
    {class: `toast ${kind}`},
    SIGN[kind] && icon(SIGN[kind]),
    h(
      'div',
      {class: 'grow'},
      h('div', {dir: 'auto'}, message),
      hint && h('div', {class: 'soft small', dir: 'auto'}, hint),
      chosen.length > 0 && h('div', {class: 'row tight choices'}, chosen),
    ),
    h(
      'div',
      {class: 'row tight push'},
      undo && h('button', {class: 'small', onclick: doing(undo)}, icon('undo-2'), 'Undo'),
      h(
        'button',
        {
          class: 'plain small',
          title: 'Close',
          'aria-label': 'Close this message',
          onclick: () => node.remove(),
        },
        icon('x'),
      ),
    ),
  );
  toasts().append(node);
  setTimeout(() => node.remove(), undo || chosen.length ? SHOWN_TO_UNDO : (SHOWN[kind] ?? SHOWN_ELSE));
}

function toasts() {
  const found = document.querySelector('.toasts');
  if (found) return found;
  const made = h('div', {class: 'toasts', role: 'status', 'aria-live': 'polite'});
  document.querySelector('.studio').append(made);
  return made;
}

export function complain(error) {
  if (error.name !== 'AbortError') toast(error.message, error.hint, 'bad');
}

// Runs an action; a failure is shown as a message and not thrown.
export const guarded =
  action =>
  async (...given) => {
    try {
      return await action(...given);
    } catch (error) {
      complain(error);
      return undefined;
    }
  };

// The same for an act that is begun once: while it is on its way, a second press does nothing.
export const once = action => {
  const act = guarded(action);
  let isUnderWay = false;
  return async (...given) => {
    if (isUnderWay) return undefined;
    isUnderWay = true;
    try {
      return await act(...given);
    } finally {
      isUnderWay = false;
    }
  };
};

// Resolves to the values of the form's fields, or to null if the user cancels.
export function ask(title, content, confirm, kind = 'primary') {
  const buttons = h(
    'div',
    {class: 'row ending'},
    h('button', {type: 'button', onclick: () => dialog.close('')}, 'Cancel'),
    h('button', {class: kind, value: 'yes'}, confirm),
  );
  const form = h('form', {method: 'dialog'}, h('h2', {}, title), content, buttons);
  const dialog = h('dialog', {'aria-label': title}, form);
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes' ? Object.fromEntries(new FormData(form)) : null);
    });
    document.querySelector('.studio').append(dialog);
    dialog.showModal();
  });
}

// Shows a dialog whose controls act at once. Resolves when it is closed.
export function present(title, content) {
  const close = h('button', {type: 'button', class: 'push', onclick: () => dialog.close()}, 'Close');
  const dialog = h(
    'dialog',
    {'aria-label': title},
    h('div', {class: 'row'}, h('h2', {}, title), close),
    content,
  );
  document.querySelector('.studio').append(dialog);
  dialog.showModal();
  const closed = new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve();
    });
  });
  return {closed, close: () => dialog.close()};
}

export const dialogIsOpen = () => document.querySelector('dialog[open]') !== null;
