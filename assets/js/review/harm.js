// Whether a change makes more answers wrong than right, and the question that is asked before it.
import {h} from '../shared/elements.js';
import {ask} from '../shared/messages.js';
import {plural} from '../shared/words.js';

const LABELS = new Set(['relabel', 'add']); // kinds of repairs that give a label

// By its preview, or else by what the list of findings knows; null where it does no harm.
export function harmOf({blast, effect}) {
  if (!blast) return effect && effect.breaks > effect.mends ? effect : null;
  const [mends, breaks] = [blast.fixed + blast.pins_fixed.length, blast.broken + blast.pins_broken.length];
  return breaks > mends ? {mends, breaks} : null;
}

// Whether nothing tells what a change does to answers: neither its preview nor the list of findings.
export const isUnknown = ({blast, effect}) => (blast ? blast.told === 'later' : !effect);

// Asks only before a change that harms; `words` name the change. A right label is worth its price: that is a fact to
// know, and no warning.
export async function mayHarm(change, words) {
  const harm = harmOf(change);
  if (!harm) return true;
  const {mends, breaks} = harm;
  const good = mends ? `; ${plural(mends, 'wrong one becomes', 'wrong ones become')} right` : ', and none is mended';
  const told = `${plural(breaks, 'right answer becomes', 'right answers become')} wrong${good}.`;
  const title = `${words}?`;
  if (!LABELS.has(change.repair.kind)) return Boolean(await ask(title, h('p', {}, told), 'Do it anyway', 'danger'));
  const why = 'If you see that the label is right, give it: other examples can make up for that.';
  return Boolean(await ask(title, h('p', {}, `${told} ${why}`), 'Give this label'));
}
