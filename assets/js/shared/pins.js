// Pins as Review and Try show them: what one is, whether it is kept, and the button that removes it.
import {h} from './elements.js';
import {guarded, toast} from './messages.js';
import {post} from './rest.js';

export const whatPinsAre =
  'A pin is a promise: this text must get the answer you chose. ' +
  'A version that breaks a pin does not go live by itself.';

// `kept` is null while no model has answered, or where an intent of the pin is gone (`stale`).
export function keptBadge({kept, stale}) {
  if (stale) return h('span', {class: 'badge'}, 'intent is gone');
  if (kept === null) return h('span', {class: 'badge'}, 'no answer yet');
  return h('span', {class: `badge ${kept ? 'good' : 'bad'}`}, kept ? 'kept' : 'broken');
}

// `path` is that of the project's pins; `changed` is called when the pin is gone, and when Undo has brought it back.
export function removeButton(path, {text, intents}, changed) {
  const restore = async () => {
    await post(path, {text, intents});
    await changed();
  };
  const remove = guarded(async () => {
    await post(path, {text}); // a post without intents removes the pin
    toast('Pin removed.', `“${text}” may get any answer.`, 'good', restore);
    await changed();
  });
  const words = 'Remove pin';
  const about = {class: 'plain small push', 'aria-label': `${words} of “${text}”`, 'data-key': text};
  return h('button', {...about, onclick: remove}, words);
}
