// Pins as pages show them: what one is, how it is set and taken back, whether it is kept or contradicted by a label.
import {h} from './elements.js';
import {once, toast} from './messages.js';
import {call, post} from './rest.js';
import {sameText} from './words.js';

const NAMED = 60; // characters of a text in a message

export const whatPinsAre =
  'A pin is a promise: this text must get the answer you chose. ' +
  'A version that breaks a pin does not go live by itself.';

// After a refusal the page shows the pins as they are now.
export const renewing = renew => async error => {
  await renew().catch(() => {}); // the message tells of the first error
  throw error;
};

const pinOf = (pins, text) => pins.find(one => sameText(one.text, text));

// Sets a pin. Returns what takes it back, unless somebody has changed the pin since: to the text's earlier pin, or to
// none, also where an intent of the earlier one is gone.
export async function setPin(path, text, intents) {
  const earlier = pinOf(await call(path), text);
  await post(path, {text, intents});
  const before = earlier && !earlier.stale ? {intents: earlier.intents} : {}; // a post without intents removes the pin
  return () => post(path, {text, ...before, seen: intents});
}

// Pins a text to intents by id; `undo(back)` returns what the Undo of its message does with what takes the pin back.
export async function pin(path, text, intents, words, undo = back => back) {
  const back = await setPin(path, text, intents);
  const about = `“${text.slice(0, NAMED)}”. Each new version is checked against it.`;
  toast(`Pinned: must get ${words}.`, about, 'good', undo(back));
}

// Tells of a label that contradicts a text's pin; `ids` returns the intents of the label, `words` name them. Calls
// `changed` when the pin follows the label.
export function tellBrokenPin(path, pins, {text, ids, words}, changed = async () => {}) {
  const found = pinOf(pins, text);
  if (!found || found.stale || new Set(found.intents).symmetricDifference(new Set(ids())).size === 0) return;
  const change = async () => {
    await post(path, {text, intents: ids(), seen: found.intents}).catch(renewing(changed));
    toast(`The pin is changed: must get ${words}.`, `“${text.slice(0, NAMED)}”.`, 'good');
    await changed();
  };
  const said = `You labelled it ${words}, but its pin says ${found.expected}.`;
  toast(said, `“${text.slice(0, NAMED)}”. A version that answers as you labelled it breaks the pin.`, '', null, [
    ['Change the pin', change],
    ['Keep the pin', () => {}],
  ]);
}

// The same for a text that is not among the pins known to the page.
export async function tellIfPinned(path, label) {
  tellBrokenPin(path, await call(path), label);
}

// `kept` is null while no model has answered, or where an intent of the pin is gone (`stale`).
export function keptBadge({kept, stale}) {
  if (stale) return h('span', {class: 'badge'}, 'intent is gone');
  if (kept === null) return h('span', {class: 'badge'}, 'no answer yet');
  return h('span', {class: `badge ${kept ? 'good' : 'bad'}`}, kept ? 'kept' : 'broken');
}

// `path` is that of the project's pins; `changed` is called when the pin is gone, and when Undo has brought it back. A
// pin of an intent that is gone cannot be set again.
export function removeButton(path, {text, intents, stale}, changed) {
  const put = async body => {
    await post(path, {text, ...body}).catch(renewing(changed));
    await changed();
  };
  const remove = once(async () => {
    await put({seen: intents});
    const back = stale ? null : () => put({intents, seen: null});
    toast('The pin is removed.', `“${text.slice(0, NAMED)}”.`, '', back);
  });
  const words = 'Remove pin';
  const about = {class: 'plain small push', 'aria-label': `${words} of “${text}”`, 'data-key': text};
  return h('button', {...about, onclick: remove}, words);
}
