// Messages that disappear by themselves, and questions before an action.
import {h} from './elements.js';
import {icon} from './icons.js';

const SHOWN = {bad: 12000}; // milliseconds; errors take longer to read
const SHOWN_ELSE = 5000;
const SHOWN_TO_UNDO = 15000;
const SIGN = {bad: 'circle-x', good: 'circle-check'};

// `undo` takes back what the message tells of, and is given its words; its button stands in the message. So do those of
// `choices`: words and what they do.
export function toast(message, hint = '', kind = '', undo = null, choices = []) {
  const doing = act =>
    guarded(() => {
      node.remove();
      return act(message);
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
      undo && h('button', {class: 'small', 'data-role': 'undo', onclick: doing(undo)}, icon('undo-2'), 'Undo'),
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
  messages().append(node);
  removeAfter(undo || chosen.length ? SHOWN_TO_UNDO : (SHOWN[kind] ?? SHOWN_ELSE), node);
}

// A message stays while the pointer or the focus is on it: its button would be gone under a press.
function removeAfter(milliseconds, node) {
  setTimeout(() => {
    if (node.matches(':hover, :focus-within')) removeAfter(SHOWN_ELSE, node);
    else node.remove();
  }, milliseconds);
}

// Where messages stand. Whatever is outside an open dialog lies behind it, cannot be pressed, and is hidden from screen
// readers: while there is one, messages stand in it, in that which was opened last.
function messages() {
  const studio = document.querySelector('.studio');
  const found =
    studio.querySelector('.toasts') ?? h('div', {class: 'toasts', role: 'status', 'aria-live': 'polite'});
  const place = [...studio.querySelectorAll('dialog[open]')].at(-1) ?? studio;
  if (found.parentNode !== place) place.append(found);
  return found;
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
  return openDialog(dialog).then(() =>
    dialog.returnValue === 'yes' ? Object.fromEntries(new FormData(form)) : null,
  );
}

// Asks, and does `act` with the values. If that fails, it asks again with what was typed: a name that is taken costs no
// description. Returns whether it was done.
export async function askToDo(title, content, confirm, act) {
  for (;;) {
    const given = await ask(title, content, confirm);
    if (!given) return false;
    try {
      await act(given);
      return true;
    } catch (error) {
      complain(error);
    }
  }
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
  return {closed: openDialog(dialog), close: () => dialog.close()};
}

// Shows a dialog over the page, with the messages that are there. Resolves when it is closed, and out of the page.
export function openDialog(dialog) {
  document.querySelector('.studio').append(dialog);
  dialog.showModal();
  messages();
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      messages(); // they outlive it
      dialog.remove();
      resolve();
    });
  });
}

export const dialogIsOpen = () => document.querySelector('dialog[open]') !== null;
