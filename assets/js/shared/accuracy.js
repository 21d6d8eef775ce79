// The accuracy of what answers now, and what made it differ from the accuracy when it was trained.
import {h} from './elements.js';
import {figuresOf, number} from './words.js';

// `figures` holds the measures of the training, and in `now` those of today or null.
export function accuracyOf(figures) {
  const {now, checking} = figures;
  const then = figuresOf(figures);
  if (!now)
    return [h('b', {}, then), h('span', {class: 'soft'}, ` when trained${checking ? ', checking now' : ''}`)];
  const today = inWords(now);
  if (!isOther(figures)) return h('b', {}, today);
  return [
    h('span', {class: 'soft'}, `${then} when trained, `),
    h('b', {}, `${today} now`),
    h('span', {class: 'soft'}, `: ${now.causes.join(', ')}`),
  ];
}

// The same as a figure of today and words below it; the words are empty where nothing differs from the training.
export function accuracyParts(figures) {
  const {now, checking} = figures;
  const then = figuresOf(figures);
  if (!now && isUntested(figures)) return {figure: then, words: checking && 'checking now'};
  if (!now) return {figure: then, words: checking ? 'when trained; checking now' : 'when trained'};
  const today = inWords(now);
  const since = isOther(figures) && `${then} when trained. Since then: ${now.causes.join(', ')}.`;
  return {figure: today, words: [since, checking && COUNTING].filter(Boolean).join(' ')};
}

// The same in the room that the header has, where a badge of its own counts the labels since training.
export function accuracyInShort(figures) {
  const {now} = figures;
  const when = isUntested(figures) ? ` ${ON_ITS_OWN}` : ' when trained';
  if (!now) return [h('b', {}, figuresOf(figures)), h('span', {class: 'soft wordy'}, when)];
  const [cause] = now.causes.filter(one => !one.endsWith('since training'));
  const causes =
    cause && isOther(figures) && h('span', {class: 'soft wordy', 'data-role': 'causes'}, ` now: ${cause}`);
  return [h('b', {}, inWords(now)), causes];
}

// Whether the model is good enough, by the rule of its report; `verdict` is null without a model.
export const verdictOf = ({verdict}) =>
  verdict &&
  h(
    'span',
    {'data-role': 'readiness', class: `readiness ${LOOKS[verdict.level]}`, title: verdictBasis(verdict)},
    verdict.title,
  );

// No test text backs the figure: it was counted on the examples that the model has learned.
export const isUntested = ({verdict}) => verdict?.level === 'unknown';
export const ON_ITS_OWN = 'on its own examples';

const LOOKS = {ready: 'good', trial: 'warn', 'not-ready': 'bad', unknown: ''};
const verdictBasis = ({meaning, reasons}) => [meaning, ...reasons].join(' ');

// What stands behind the figure, for a tooltip.
export function accuracyBasis(figures) {
  const {now, checking, judged_on: basis} = figures;
  const trained = `${figuresOf(figures)} when trained${basis ? `, ${basis}` : ''}`;
  if (!now) return trained;
  const counted = `Right now: ${number(now.right)} of ${number(now.n)} test texts.`;
  const today = checking ? `${counted} ${COUNTING}` : counted;
  return isOther(figures)
    ? `${today} ${trained}. What makes the difference: ${now.causes.join(', ')}.`
    : today;
}

// Figures of two moments differ while labels come: the older one says so.
const COUNTING = 'Newer labels are being counted.';

const inWords = ({share, micro_f1: f1}) => figuresOf({accuracy: share, micro_f1: f1});
const isOther = ({now, ...figures}) => now.causes.length > 0 && inWords(now) !== figuresOf(figures);
