// Decisions of Label that are not saved yet: a training that begins now would not learn them.
import {h} from '../shared/elements.js';
import {ask} from '../shared/messages.js';

const PATIENCE = 5000; // milliseconds that a training waits for them by itself
const WITHOUT = 'A training that begins now does not learn from them. They are saved as soon as the studio takes them.';

export const besideStart = (unsaved, isWaiting) => {
  if (!unsaved.size) return '';
  return `${unsaved.words}. ${isWaiting ? 'The training begins when they are …' : 'A training waits for them.'}`;
};

// Waits for them, then asks whether to train without them.
export async function mayTrain(unsaved) {
  if (await unsaved.areSavedWithin(PATIENCE)) return true;
  const words = [h('p', {}, `${unsaved.words}.`), h('p', {}, WITHOUT)];
  return (await ask('Train without these decisions?', words, 'Train without them')) !== null;
}
