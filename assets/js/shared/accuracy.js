// The accuracy of what answers now; beside it, named so, that of the training, and what made the difference.
import {h} from './elements.js';
import {absent, figuresOf, number, percent, plural} from './words.js';

const COUNTS = 'counting …';

// `figures` holds the measures of the training, and in `now` those of today or null.
export function accuracyOf(figures) {
  const {now, checking} = figures;
  if (!now && isUntested(figures))
    return [h('b', {}, 'not tested yet'), h('span', {class: 'soft'}, `. ${ofItself(figures)}`)];
  if (isCounting(figures)) return [h('b', {}, COUNTS), h('span', {class: 'soft'}, ` ${whenTrained(figures)}`)];
  if (!now) return h('span', {}, whenTrained(figures));
  const newer = checking ? ` ${COUNTING}` : '';
  const since = isOther(figures) && h('span', {class: 'soft'}, `. ${sinceWords(figures)}${newer}`);
  return [h('b', {}, inWords(now)), ` today, ${rightOf(now)}`, since];
}

// The same as a figure of today, what it is of, and words below it.
export function accuracyParts(figures) {
  const {now, checking} = figures;
  if (!now && isUntested(figures)) return {figure: 'Not tested yet:', base: 'no test texts', words: ofItself(figures)};
  if (isCounting(figures)) return {figure: COUNTS, base: '', words: `${whenTrained(figures)}.`};
  if (!now) return {figure: figuresOf(figures), base: `${answersOf(figures)}${trainedOn(figures)}`, words: ''};
  const since = isOther(figures) && sinceWords(figures);
  const base = `of ${plural(now.n, 'test text')} answered ${exactlyOf(now)}right today`;
  return {figure: percent(now.share), base, words: [since, checking && COUNTING].filter(Boolean).join(' ')};
}

// The same in the room that the header has, where a badge of its own counts the changes since training.
export function accuracyInShort(figures) {
  const {now} = figures;
  if (isCounting(figures)) return h('span', {class: 'soft'}, COUNTS);
  if (!now && isUntested(figures)) return null; // the verdict beside it says so
  const words = h('span', {class: 'soft'}, ' right', h('span', {class: 'wordy'}, ' answers')); // a phone has less room
  const right = answersOf(now ?? figures) && words;
  if (!now) return [h('b', {}, figuresOf(figures)), right, h('span', {class: 'soft wordy'}, ' when trained')];
  const [cause] = now.causes.filter(one => !/ changes? since training/.test(one));
  const short = cause?.replace(/ \(.*\)$/, ''); // how many more are right stands under the pointer
  const causes =
    cause && isOther(figures) && h('span', {class: 'soft wordy', 'data-role': 'causes'}, ` now: ${short}`);
  if (figures.checking) return h('span', {class: 'soft', 'data-role': 'counting'}, inWords(now), ' …'); // of before
  return [h('b', {}, inWords(now)), right, causes];
}

// Whether the model is good enough, by the rule of its report; `verdict` is null without a model.
// What it goes by is being counted just after another version is used. With `href` it leads to where its words stand.
export const verdictOf = ({verdict, ...figures}, href = null) =>
  verdict &&
  !isCounting({verdict, ...figures}) &&
  h(
    href ? 'a' : 'span',
    {
      'data-role': 'readiness',
      class: `readiness ${LOOKS[verdict.look]}`,
      title: `${basisOf(verdict)} ${verdict.rule}`,
      href,
    },
    verdict.title,
  );

// The same with what it means, what is in the way, and what was not tested.
export const verdictWords = figures => {
  const badge = verdictOf(figures);
  if (!badge) return null;
  return [badge, '. ', basisWords(figures)];
};

// Where nothing tests it, the figure beside this says what it stands on.
export const basisWords = ({verdict}) =>
  h('span', {class: 'soft'}, verdict.level === 'unknown' ? verdict.meaning : basisOf(verdict));

// What these words go by: while it is the same, they need not be drawn again.
export const accuracyState = status => JSON.stringify([status?.now, status?.checking, status?.model, status?.verdict]);

// No test text backs the figure: it was counted on labels that were held out of the training, which may come from
// groups of similar texts.
export const isUntested = ({verdict}) => verdict?.level === 'unknown';

// The figure of the training is not that of what answers now: until this is known, no figure is the headline.
export const isCounting = figures =>
  !figures.now && !isUntested(figures) && Boolean(figures.checking || figures.model === 'loading');

const LOOKS = {ready: 'good', trial: 'warn', 'not-ready': 'bad', unknown: ''};
// Amber on a model that is ready: what was not tested is the reason.
const AMBER = 'For this alone it is amber, not green: the rest is ready to use.';
const basisOf = ({meaning, reasons, gap, level, look}) =>
  [meaning, ...reasons, gap, level === 'ready' && look !== level && AMBER].filter(Boolean).join(' ');

// What an answer is, and what stands behind the figure, for a tooltip.
const ANSWER = 'Answer: the intent that the model gives a text.';
export const accuracyBasis = figures => `${ANSWER} ${countedWords(figures)}`;

function countedWords(figures) {
  const {now, checking} = figures;
  if (!now) return `${whenTrained(figures)}.`;
  const counted = `Answered right today: ${number(now.right)} of ${plural(now.n, 'test text')}.`;
  const today = checking ? `${counted} ${COUNTING}` : counted;
  return isOther(figures) ? `${today} ${sinceWords(figures)}` : today;
}

// Figures of two moments differ while labels come: the older one says so.
const COUNTING = 'Newer labels are being counted. The figures here are without them.';

// `measured_on` is the server's: on which texts, and when. The method that it names in brackets is for researchers, who
// find it in the charts of Versions. Reports call these texts the same (`app/services/reports/pages.py`).
export const plainBasis = measured =>
  measured
    .replace(/ when trained \([^)]*\)/, ' when trained')
    .replace('held-out labels when trained', 'its own examples, checked when trained')
    .replace('labels that it has learned', 'its own examples, which it has learned');
const trainedOn = ({measured_on: measured}) => plainBasis(measured ?? '') || 'when trained';
export const whenTrained = figures => `${figuresOf(figures)} ${trainedOn(figures)}`;
// A figure of the labels themselves stands beside what it is worth, and never as the headline.
const ofItself = figures => `${whenTrained(figures)}; these are often easier than what users write.`;
const sinceWords = figures => `${whenTrained(figures)}; since then: ${figures.now.causes.join(', ')}.`;
const rightOf = ({right, n, micro_f1: f1}) =>
  `${number(right)} of ${plural(n, 'test text')}${absent(f1) ? ' answered right' : ''}`;
// Of several intents a text, the figure itself says that it counts exact answers.
const answersOf = ({micro_f1: f1}) => (absent(f1) ? 'right answers ' : '');
const exactlyOf = ({micro_f1: f1}) => (absent(f1) ? '' : 'exactly ');
const inWords = ({share, micro_f1: f1}) => figuresOf({accuracy: share, micro_f1: f1});
const isOther = ({now, ...figures}) => now.causes.length > 0 && inWords(now) !== figuresOf(figures);
