// What Undo in a message does: it takes back exactly the act of one key, then the page is drawn anew.
import {toast} from './messages.js';
import {post} from './rest.js';

export const undoing = (base, key, then) => async () => {
  await post(`${base}/undo`, {key});
  toast('Taken back.');
  await then();
};
