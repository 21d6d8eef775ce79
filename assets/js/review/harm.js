// Whether a change makes more answers wrong than right, and the question that is asked before it.
import {h} from '../shared/elements.js';
import {ask} from '../shared/messages.js';
import {number, plural} from '../shared/words.js';

// By its preview, or else by what the list of findings knows; null where it does no harm.
export function harmOf({blast, effect}) {
  if (!blast) return effect && effect.breaks > effect.mends ? effect : null;
  const [mends, breaks] = [blast.fixed + blast.pins_fixed.length, blast.broken + blast.pins_broken.length];
  return breaks > mends ? {mends, breaks} : null;
}

// Asks only before a change that harms; `words` name the change.
export async function mayHarm(change, words) {
  const harm = harmOf(change);
  if (!harm) return true;
  const told = `It makes ${plural(harm.breaks, 'right answer')} wrong, and mends ${number(harm.mends)}.`;
  return Boolean(await ask(`${words}?`, h('p', {}, told), 'Do it anyway', 'danger'));
}
