// An answer in a line: its intents, how likely they are, and what came closest where none fits.
import {h} from './elements.js';
import {likelihood, missedLine} from './words.js';

export const verdict = ({decision}, intents) => intents.named(decision.intents);
export const hasIntent = ({decision}) => decision.intents.length > 0;

export const closest = ({decision}) =>
  decision.leading &&
  ['out-of-scope', 'no-intent'].includes(decision.rule) &&
  h('div', {class: 'soft small'}, `closest: ${decision.leading}, ${missedLine(decision)}`);

// In a multi-label project, of every intent in the answer.
export function likelihoods(prediction, {multi}) {
  const {ranked, decision} = prediction;
  if (!multi) return likelihood(ranked[0].probability);
  const shares = decision.intents.map(name => ranked.find(one => one.intent === name)?.probability);
  return shares.map(likelihood).join(', ');
}
