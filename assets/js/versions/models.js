// The line of versions, newest first: which is live, how accurate, what changed, and what can be done with each.
import {accuracyOf, isUntested, verdictWords, whenTrained} from '../shared/accuracy.js';
import {keepWords, looksOf} from '../shared/comparison.js';
import {h, since, table} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {firstAct} from '../shared/first_act.js';
import {bringTests} from '../shared/test_texts.js';
import {chainWords, number, percent, plural, rightShare} from '../shared/words.js';

// The mark differs in shape, not in colour alone.
const STATES = {
  champion: {mark: '●', words: 'Live', kind: 'good'},
  'former champion': {mark: '○', words: 'Was live', kind: ''},
  candidate: {mark: '◇', words: 'Waits for you', kind: 'accent'},
  discarded: {mark: '×', words: 'Not used', kind: ''},
  encoder: {mark: '▹', words: 'A start for others', kind: ''},
};
const DAMAGED = {mark: '!', words: 'Damaged', kind: 'bad'};
const BROKEN = 'A file of this version is missing or was changed, so it cannot answer. A backup may have it whole.';

const MOMENTS = 'Figures “when trained” are without the labels given since; those of “today” count them.';

// `actions`: `promote`, `discard`, `compare`, `lineage`, `report`, `handOver` and `remove` take a version's number;
// `rollBack` takes the live version's number; `importBundle` takes a file.
// `advised` is the waiting version's number, whether to use it, and how both answer today, once that is known.
// `compared` is the number of the version whose comparison with the live one is open: that says it, and decides.
// `status` is the project's, with the accuracy of what answers now. `counts` of its texts are needed where there is
// no version.
export function modelsView(context, found, actions) {
  const {models, counts} = found;
  const none = h(
    'div',
    {class: 'empty'},
    h('p', {}, 'First import texts, then label a few, then train: each training makes a version.'),
    counts && firstAct(context.project, counts),
  );
  const champion = models.find(model => model.champion);
  const stands = champion && verdictWords(context.status);
  const lines = models.toReversed().map(model => lineOf(model, context, found, actions));
  return [
    h('h2', {}, headingOf(champion, context.status.candidate)),
    stands && h('p', {'data-role': 'stands'}, `Version ${champion.number}: `, stands, ' ', testsOf(context)),
    models.filter(model => model.kind === 'intents').length > 1 && h('p', {class: 'soft small'}, MOMENTS),
    models.length ? h('ol', {class: 'line', 'data-role': 'models'}, lines) : none,
    h(
      'p',
      {class: 'row tight soft small after'},
      'Somebody handed you a version?',
      h('button', {class: 'small', 'data-key': 'import', onclick: actions.importBundle}, 'Import its file'),
    ),
  ];
}

const testsOf = ({project, status}) =>
  !status.now && isUntested(status) && bringTests(project, status.unlabelled);

function headingOf(champion, waiting) {
  const live = champion ? `Version ${champion.number} is live` : 'No version is live';
  return `${live}${waiting ? `, version ${waiting} waits for you` : ''}`;
}

function lineOf(model, context, {models, states, previous, advised, compared, damaged}, actions) {
  const isDamaged = damaged.includes(model.number);
  const state = isDamaged ? DAMAGED : (STATES[states[model.number]] ?? STATES.candidate);
  const champion = models.find(one => one.champion);
  // Advice is about a version that waits, against the one that was live: a decision ends it.
  const isAdvised = advised?.number === model.number && advised.against === champion?.number;
  const isOpen = compared === model.number;
  const advice = isAdvised && !model.champion && !isOpen ? advised.advice : null;
  return h(
    'li',
    {'data-version': model.number, class: model.champion ? 'live' : null},
    h(
      'div',
      {class: 'row'},
      h('h3', {}, `Version ${model.number}`),
      h(
        'span',
        {class: `badge ${state.kind}`, 'data-role': 'state'},
        h('span', {'aria-hidden': 'true'}, `${state.mark} `),
        state.words,
      ),
      h('span', {class: 'soft small'}, since(model.created_at)),
    ),
    isDamaged && h('p', {'data-role': 'damaged'}, BROKEN),
    h('div', {class: 'tabular'}, figures(model, context.status, isAdvised ? advised.now : null)),
    h('p', {'data-role': 'changes'}, changesOf(model)),
    // Its figure of the training is no match for that of today above the live one: both are counted alike here.
    advice && h('p', {'data-role': 'advice'}, h('b', {}, advice.words)),
    advice && h('p', {class: 'soft', 'data-role': 'compared'}, advised.verdict),
    h('div', {class: 'row tight'}, buttonsOf(model, {champion, previous, advice, isOpen, damaged}, actions)),
    h('p', {class: 'soft small', 'data-role': 'made-by'}, madeBy(model)),
    chainOf(model),
  );
}

// What the version learned since the one before it that learned from the same project.
function changesOf({kind, changes, changes_since: before, examples, metrics}) {
  if (kind === 'encoder') return 'A start for other trainings. It answers nothing by itself.';
  const unlabelled = metrics.pool?.n ? ` and ${plural(metrics.pool.n, 'unlabelled text')}` : '';
  const learned = examples ? `Learned from ${number(examples)} examples${unlabelled}` : 'Imported';
  if (before === null) return `${learned}.`;
  if (!changes.length) return `${learned}. Nothing changed in the data since version ${before}.`;
  return `${learned}. Changes in the data since version ${before}: ${changes.join(', ')}.`;
}

// In plain words; the method's own name is in the tooltip.
function madeBy({work, title, recipe, imported, dataset_version: data}) {
  const method = title || recipe;
  return [
    h('span', {title: method ? `Method: ${method}` : null}, work || method || 'Imported'),
    imported && ' · imported, with data of its own',
    !imported && data && ` · learned from ${data.replace(/^.*, /, '').replace(/^data version /, 'data snapshot ')}`,
  ];
}

// `today`: what a waiting version answers right today, where it is known.
function figures(made, {now, checking, model, verdict}, today) {
  const {kind, champion, metrics, number: mine, measured_on: measured} = made;
  if (kind === 'encoder') return null;
  const trained = {...metrics, measured_on: measured};
  const live = {...trained, now, checking, model, verdict};
  const then = h('span', {class: 'soft'}, whenTrained(trained));
  const waiting = today ? [accuracyOf({...trained, now: today}), h('span', {class: 'soft'}, '; '), then] : then;
  const share = champion ? accuracyOf(live) : waiting;
  return [
    h('div', {'data-role': champion ? 'accuracy' : null}, 'Right answers: ', share),
    untestedOf(made),
    keptOutOf(metrics, champion ? now : null),
    moreOf(metrics, mine),
  ];
}

// A version that is not live has no verdict, which would say it.
const untestedOf = ({champion, untested}) =>
  !champion && untested && h('div', {class: 'soft small', 'data-role': 'untested'}, untested);

// Test texts that belong to no intent count in no accuracy, unless a text may have several.
const keptOutOf = (then, now) => {
  const {kept_out: share, outside_n: n} = now ?? then;
  const when = now ? 'now' : 'when it was trained';
  const many = `${number(Math.round(share * n))} of ${plural(n, 'test text')} that fit no intent`;
  const words = `Refused ${when}, as they should be: ${many}.`;
  return typeof share === 'number' && h('div', {class: 'soft small', 'data-role': 'kept-out'}, words);
};

// Folded: accuracy on texts that share a word with another intent's name and none with their own; only where these
// words mislead, for elsewhere such texts are no harder than others.
const moreOf = ({borderline_accuracy: share, borderline_n: n, ...all}, mine) =>
  share !== undefined &&
  share < rightShare(all) &&
  h(
    'details',
    {class: 'soft small', 'data-key': `figures ${mine}`},
    h('summary', {'data-key': `figures summary ${mine}`}, 'More figures'),
    h(
      'div',
      {'data-role': 'borderline'},
      `Misleading wording, when trained: ${number(Math.round(share * n))} of ${plural(n, 'test text')} right; all `,
      `test texts: ${percent(rightShare(all))}. Misleading: a word of a wrong intent’s name, none of the right one’s.`,
    ),
  );

// The chain of trainings of a version that does not start from the bundled encoder.
const chainOf = ({chain, kind, project}) =>
  (chain.length > 2 || kind === 'encoder') &&
  h('div', {class: 'soft small', 'data-role': 'chain'}, chainWords(chain, project));

function buttonsOf(model, {champion, previous, advice, isOpen, damaged}, actions) {
  const {number: mine, kind, champion: isLive} = model;
  const answers = kind === 'intents';
  const isWhole = number => !damaged.includes(number);
  const isUsable = answers && !isLive && !isOpen && isWhole(mine);
  const returns = isLive && previous && isWhole(previous);
  const button = (words, action, look = null) =>
    busyButton(words, () => action(mine), {class: look, 'data-key': `${words} ${mine}`});
  const back = () => actions.rollBack(mine);
  return [
    isUsable && button(`Use version ${mine}`, actions.promote, looksOf(advice).use),
    advice && button(keepWords(mine, champion.number), actions.discard, looksOf(advice).keep),
    returns && busyButton(`Roll back to version ${previous}`, back, {'data-key': 'roll back'}),
    answers && button('Report', actions.report),
    answers && champion && !isLive && button('Compare', one => actions.compare(one, champion.number)),
    button('Hand over', actions.handOver),
    h(
      'details',
      {class: 'more', 'data-key': `more ${mine}`},
      h('summary', {'data-key': `more summary ${mine}`}, 'More'),
      button('Where it comes from', actions.lineage),
      !isLive && button('Delete …', actions.remove, 'danger'),
    ),
  ];
}

// Where a version comes from: in a sentence, and folded all that its lineage holds.
export function lineageView(model, found) {
  const known = Object.entries(found).filter(([, value]) => !isEmpty(value));
  return [
    h('h2', {}, `Where version ${model.number} comes from`),
    h('p', {}, madeBy(model), ', ', since(model.created_at)),
    h('p', {'data-role': 'chain'}, chainWords(model.chain, model.project)),
    h(
      'details',
      {},
      h('summary', {}, 'For researchers'),
      table(
        ['', ''],
        known.map(([name, value]) => [CALLED[name] ?? name.replaceAll('_', ' '), said(value)]),
      ),
    ),
  ];
}

// A version is what learned from the data; these are a snapshot.
const CALLED = {dataset_version: 'data snapshot', dataset_sha256: 'data snapshot, SHA-256'};

const isEmpty = value => value === null || value === '' || (Array.isArray(value) && !value.length);

// Lists and settings in words.
function plainOf(value) {
  if (Array.isArray(value)) return value.map(plainOf).join(', ');
  if (value === null || typeof value !== 'object') return String(value ?? 'none');
  const named = Object.entries(value).filter(([, one]) => !isEmpty(one));
  return named.map(([name, one]) => `${name.replaceAll('_', ' ')} ${plainOf(one)}`).join(', ');
}

function said(value) {
  const words = plainOf(value);
  return h('span', {class: words.length > 50 ? 'mono small' : ''}, words);
}
