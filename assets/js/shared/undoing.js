// What Undo in a message does: it takes back exactly the act of one key, then the page is drawn anew.
import {undoWords} from './act_words.js';
import {h} from './elements.js';
import {ask, toast} from './messages.js';
import {post} from './rest.js';

// `said` is what the message said of the act.
export const undoing = (base, key, then) => async said => {
  await post(`${base}/undo`, {key});
  toast(typeof said === 'string' ? `Taken back: ${said}` : 'Taken back.');
  await then();
};

const MANY = 20; // texts from which Undo asks first: it may take back what others went on from

// Whether the newest act of a project's status is on many texts.
export const isLarge = ({can_undo: verb, undoes: {n}}) => Boolean(verb) && n > MANY;

// Whether the newest act is to be taken back: of a large one this is asked. `nothing` is the word for no intent.
export async function mayUndo(status, nothing) {
  if (!isLarge(status)) return true;
  const words = `This undoes: ${undoWords(status, nothing)}. Redo on the page Data does it again.`;
  return Boolean(await ask('Undo the newest action?', h('p', {}, words), 'Undo', 'danger'));
}
