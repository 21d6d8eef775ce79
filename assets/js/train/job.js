// A training that runs or has ended, and those before it.
import {accuracyOf, isUntested, plainBasis, whenTrained} from '../shared/accuracy.js';
import {h, progressBar, since, table} from '../shared/elements.js';
import {bringTests} from '../shared/test_texts.js';
import {duration, figuresOf, numberOf, percent} from '../shared/words.js';

const NOT_IN_IT = 'Labels given since are not counted in it.';
// Of figures that no test text backs; the first that fits is said.
const BASES = ['on its own examples, which it has learned', 'on its own examples'];
const NEARLY = 0.9;
const SOON_S = 3;
const SHOWN = 8; // earlier trainings
const KIND = {succeeded: 'good', failed: 'bad', cancelled: 'warn'};
const stateWords = state => ({succeeded: 'done', queued: 'waiting'})[state] ?? state;

export const isOver = job => job.state in KIND;

// A training that is over is as old as its version, which Versions counts from its end.
const whenOf = ({created_at: created, finished_at: finished}) => since(finished ?? created);

// `curves` is the element of its charts, `name` what the page calls this way to train. `actions`: `cancel` and `resume`
// the job, and `use` the encoder that it made. `today` is the project's status if its version is live, else null.
export function jobView(job, curves, {name, today}, actions) {
  const over = isOver(job);
  return [
    h(
      'div',
      {class: 'row'},
      h('h2', {}, over ? 'Last training' : 'Training'),
      h('span', {class: `badge ${KIND[job.state] ?? 'accent'}`, 'data-role': 'job-state'}, stateWords(job.state)),
      h('span', {class: 'soft small', title: job.title && `Method: ${job.title}`}, whenOf(job), ` · ${name}`),
      !over && cancelButton(job, actions.cancel),
      job.resumable && h('button', {class: 'push', 'data-key': 'resume', onclick: actions.resume}, 'Resume'),
    ),
    !over && progressOf(job),
    h('div', {class: 'row soft'}, wordsOf(job, today), !over && leftOf(job)),
    !over && job.late && h('p', {class: 'soft', role: 'status', 'data-role': 'late'}, job.late),
    job.pool_words && h('p', {class: 'soft', 'data-role': 'pool-words'}, job.pool_words),
    job.warning && h('p', {class: 'note warn', role: 'status', 'data-role': 'warning'}, job.warning),
    job.hint && h('p', {class: 'soft'}, job.hint),
    job.result.kind === 'encoder' && nextStep(job, actions.use),
    curves,
    job.log && logOf(job),
  ];
}

// No time is told before steps were measured; a short training ends before that.
function leftOf({eta_seconds: seconds, state, progress, slowed}) {
  if (state !== 'running') return null;
  const soon = seconds === null ? progress >= NEARLY : seconds < SOON_S;
  const words = seconds === null ? 'the time left is not known yet' : duration(seconds);
  const told = slowed ? `${words}, while other programs run` : words;
  return h('span', {class: 'push'}, soon ? 'nearly done' : told);
}

const nextStep = ({result}, use) =>
  h(
    'div',
    {class: 'note good row', 'data-role': 'next-step'},
    h(
      'span',
      {style: {flex: '1', 'min-width': '220px'}},
      `Version ${numberOf(result.model)} is a start for other trainings. It answers nothing by itself.`,
    ),
    h('button', {'data-key': 'use', onclick: use}, `Start from version ${numberOf(result.model)}`),
  );

const cancelButton = (job, cancel) =>
  h(
    'button',
    {class: 'danger push', 'data-key': 'cancel', disabled: job.cancel_requested, onclick: cancel},
    job.cancel_requested ? 'Cancelling …' : 'Cancel',
  );

function progressOf(job) {
  const attributes = {
    class: 'bar thick',
    role: 'progressbar',
    'aria-label': 'Progress of the training',
    'aria-valuenow': Math.round(100 * job.progress),
    'aria-valuemin': 0,
    'aria-valuemax': 100,
    style: {flex: '1'},
  };
  const share = h('b', {class: 'tabular'}, percent(job.progress, 0));
  return h('div', {class: 'row below'}, progressBar(job.progress, attributes), share);
}

// A figure of the training is told with that of today, which may differ.
function wordsOf({state, stage, message, result, measured_on: measured, untested}, today) {
  if (state === 'succeeded' && result.metrics) {
    const trained = {...result.metrics, measured_on: measured};
    const figure = today
      ? ['Right answers: ', accuracyOf(withToday(trained, today))]
      : `Right answers: ${whenTrained(trained)}. ${NOT_IN_IT}`;
    const left = today?.now ? today.now.untested : untested;
    return h('span', {'data-role': 'figure'}, figure, left && [h('br'), left], today && testsOf(today));
  }
  return {
    queued: 'waiting for its turn',
    running: stage,
    succeeded: null, // the badge says it
    failed: `failed: ${message}`,
    cancelled: 'cancelled',
  }[state];
}

const testsOf = status =>
  !status.now && isUntested(status) && [h('br'), bringTests(status.project, status.unlabelled)];

const withToday = (trained, {now, checking, model, verdict}) => ({...trained, now, checking, model, verdict});

const logOf = job =>
  h(
    'details',
    {'data-key': `log of ${job.id}`},
    h('summary', {class: 'soft', 'data-key': 'log'}, 'Log'),
    h('pre', {class: 'log', tabindex: 0, role: 'region', 'aria-label': 'Log'}, job.log),
  );

function resultWords({kind, metrics}, measured) {
  if (kind === 'encoder') return 'a start';
  if (!metrics) return '–';
  const base = BASES.find(words => plainBasis(measured).startsWith(words));
  return base ? `${figuresOf(metrics)} ${base}` : figuresOf(metrics);
}

// `nameOf` returns what the page calls a recipe.
export function earlierTable(jobs, nameOf) {
  const rows = jobs
    .filter(isOver)
    .slice(0, SHOWN)
    .map(({title, recipe, state, result, message, measured_on: measured, ...job}) => [
      whenOf(job),
      h('td', {title: title && `Method: ${title}`}, nameOf(recipe) ?? title),
      stateWords(state),
      result.model ? `version ${numberOf(result.model)}` : h('span', {class: 'soft'}, message),
      h('td', {class: 'number'}, resultWords(result, measured)),
    ]);
  if (!rows.length) return null;
  const accuracy = h('th', {class: 'number'}, 'Right answers when trained');
  return table(['When', 'How', 'Ended', 'Version', accuracy], rows);
}
