// The sample project: it is made, taught by a quick training, and opened once its first version answers.
import {address} from '../shared/address.js';
import {call, post} from '../shared/rest.js';
import {percent} from '../shared/words.js';

export const SAMPLE_NAME = 'sample';
const PAUSE = 500; // milliseconds between two looks at the training
const LONGEST = 60000; // milliseconds in the queue after which the project is opened without a version

// Resolves to the address of what to show then: its texts, or where a failed training says why. `say` is called with
// what is being done.
export async function makeSample(say) {
  const taken = new Set(await call('/project-names'));
  let name = SAMPLE_NAME;
  for (let n = 2; taken.has(name); n += 1) name = `${SAMPLE_NAME} ${n}`;
  say('Making the sample project …');
  await post('/projects', {name, sample: true});
  const path = `/projects/${encodeURIComponent(name)}`;
  const {job} = await post(`${path}/train`, {recipe: 'instant'});
  const queuedUntil = Date.now() + LONGEST;
  const isSeen = one => isOver(one) || (one.state === 'queued' && Date.now() > queuedUntil);
  const {state} = await lookUntil(isSeen, `/jobs/${job}`, found => say(trainingWords(found)));
  if (ENDED_BADLY.includes(state)) return address('train', name);
  if (state === 'succeeded') await lookUntil(isSettled, `${path}/status`, () => say('It answers in a moment …'));
  return address('label', name);
}

const ENDED_BADLY = ['failed', 'cancelled'];
const isOver = ({state}) => state === 'succeeded' || ENDED_BADLY.includes(state);
const isSettled = ({model}) => model !== 'loading';

// Looks again and again until an answer fits; resolves to it. Those before it are told.
async function lookUntil(fits, path, told) {
  const found = await call(path);
  if (fits(found)) return found;
  told(found);
  await new Promise(rested => setTimeout(rested, PAUSE));
  return lookUntil(fits, path, told);
}

const trainingWords = ({stage, progress}) => `Training its first version: ${stage}, ${percent(progress, 0)}`;
