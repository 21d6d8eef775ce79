// The project's models, newest first, and what can be done with each.
import {accuracyOf} from '../shared/accuracy.js';
import {h, table} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {firstAct} from '../shared/first_act.js';
import {guarded} from '../shared/messages.js';
import {ago, capital, chainWords, figuresOf, percent} from '../shared/words.js';

const HEAD = ['Version', 'Recipe', 'Learned from', 'Accuracy', 'Made', ''];

// `actions`: `promote`, `compare`, `lineage`, `report` and `remove` take a version's number; `rollBack` takes the
// champion's number; `importBundle` takes a file.
// `status` is the project's, with the accuracy of what answers now. `counts` of its texts are needed where there is
// no version.
export function modelsView({base, project, status}, {models, states, counts}, actions) {
  const champion = models.find(model => model.champion);
  const rows = models
    .toReversed()
    .map(model => [
      [h('b', {}, `v${model.number}`), ' ', stateBadge(model, states[model.number])],
      [model.recipe || h('span', {class: 'soft'}, 'imported'), chainOf(model)],
      h('td', {class: 'soft'}, model.dataset_version),
      h('td', {class: 'tabular', title: model.metrics.judged_on ?? ''}, figures(model, status)),
      h('td', {class: 'soft'}, ago(model.created_at)),
      h('div', {class: 'row'}, buttonsOf(base, model, champion, actions)),
    ]);
  const rollBack = () => actions.rollBack(champion.number);
  const none = h(
    'div',
    {class: 'empty'},
    h('p', {}, 'Each training makes a version: you can compare it, go back to it, and hand it over.'),
    counts && firstAct(project, counts),
  );
  return [
    h(
      'div',
      {class: 'row'},
      h('h2', {}, 'Model versions'),
      h('span', {class: 'push'}),
      champion && models.length > 1 && busyButton('Roll back', rollBack, {'data-key': 'roll back'}),
      h('button', {'data-key': 'import', onclick: actions.importBundle}, 'Import a bundle'),
    ),
    models.length ? table(HEAD, rows, {'data-role': 'models'}) : none,
  ];
}

const stateBadge = (model, state) => h('span', {class: `badge ${model.champion ? 'good' : ''}`}, state);

function figures({kind, champion, metrics}, {now, checking}) {
  if (kind === 'encoder') return h('span', {class: 'soft'}, 'answers nothing');
  const share = champion ? accuracyOf({...metrics, now, checking}) : figuresOf(metrics);
  return [h('div', {'data-role': champion ? 'accuracy' : null}, share), hardOf(metrics)];
}

// Accuracy on texts that share a word with another intent's name and none with their own.
const hardOf = ({borderline_accuracy: share, borderline_n: n}) =>
  share !== undefined &&
  h('div', {class: 'soft small', 'data-role': 'borderline'}, `misleading words ${percent(share)} of ${n}`);

// The chain of trainings of a version that does not start from the bundled encoder.
const chainOf = ({chain, kind}) =>
  (chain.length > 2 || kind === 'encoder') &&
  h('div', {class: 'soft small', 'data-role': 'chain'}, chainWords(chain));

function buttonsOf(base, {number, kind, champion: isChampion}, champion, actions) {
  const answers = kind === 'intents';
  const button = (words, action, kind = null) =>
    h('button', {class: kind, 'data-key': `${words} ${number}`, onclick: guarded(action)}, words);
  const what = answers ? 'bundle' : 'encoder';
  const handOver = {
    class: 'button',
    href: `/api${base}/models/${number}/${what}`,
    'data-key': `${what} ${number}`,
    download: true,
  };
  return [
    answers && !isChampion && button('Promote', () => actions.promote(number)),
    answers && champion && !isChampion && button('Compare', () => actions.compare(number, champion.number)),
    button('Lineage', () => actions.lineage(number)),
    answers && button('Report', () => actions.report(number)),
    h('a', handOver, capital(what)),
    !isChampion && button('Delete', () => actions.remove(number), 'danger'),
  ];
}

// The lineage of a version; `chain` lists the trainings that led to it.
export function lineageView(number, chain, found) {
  const known = Object.entries(found).filter(([, value]) => !isEmpty(value));
  return [
    h('h2', {}, `Where version ${number} comes from`),
    h('p', {'data-role': 'chain'}, chainWords(chain)),
    table(
      ['', ''],
      known.map(([name, value]) => [name.replaceAll('_', ' '), said(value)]),
    ),
  ];
}

const isEmpty = value => value === null || value === '' || (Array.isArray(value) && !value.length);

function said(value) {
  if (typeof value === 'object') return h('code', {class: 'mono small'}, JSON.stringify(value, null, 1));
  const words = String(value);
  return h('span', {class: words.length > 50 ? 'mono small' : ''}, words);
}
