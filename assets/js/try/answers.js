// The model's answers: one text with its votes, several texts as a table.
import {fill, h, table} from '../shared/elements.js';
import {closest, hasIntent, likelihoods, verdict} from '../shared/short_answer.js';
import {goesByFamiliarity, votesOf} from '../shared/votes.js';
import {number, plural, sure} from '../shared/words.js';

const MANY = 'Click a text to correct it or to see why. Sure: how many of 100 such answers are right.';
const LIMIT = ' A text with fewer points than the limit is refused.';

// A label that a person gave is no more or less sure.
const isSure = ({decision}, {multi}) => decision.rule === 'votes' && !multi;

// Without a model there are no examples.
const nameWords = ({neighbours}) =>
  `by its name alone, ${neighbours.length ? 'no examples yet' : 'before any training'}`;

// `besides` returns the control beside an example that votes; `acts` stand under the answer. The votes stand in
// `place`, in which acts that are there already stay.
export function answerView(answer, intents, place, {besides, acts}) {
  const {prediction} = answer;
  fill(place, votesOf(answer, intents, besides, acts));
  return [
    h(
      'div',
      {class: 'row answer'},
      verdict(prediction, intents),
      isSure(prediction, intents) && h('b', {class: 'tabular'}, sure(prediction.ranked[0].probability)),
      prediction.decision.rule === 'exact' && h('span', {class: 'badge good'}, 'same as an example'),
      prediction.by_name && h('span', {class: 'badge warn', 'data-role': 'by-name'}, nameWords(prediction)),
      h('span', {class: 'soft small push'}, versionOf(prediction)),
    ),
    place,
  ];
}

// "my project@3" is version 3; before any training the name says what answers.
const versionOf = ({model_version: name}) => name?.replace(/^.*@(\d+)$/, 'version $1');

// `given` is the number of typed lines; if there are too many, only the first ones are answered. `open` takes a text
// and shows its answer alone, with its acts.
export function answersView(answers, given, intents, open) {
  const all = plural(answers.length, 'text');
  const title =
    given > answers.length ? `The first ${number(answers.length)} of ${plural(given, 'text')}` : all;
  const rows = answers.map(({prediction}) => [
    opener(prediction.text, open),
    h('td', {class: 'answered'}, verdict(prediction, intents), closest(prediction)),
    h('td', {class: 'number'}, hasIntent(prediction) ? likelihoods(prediction, intents) : ''),
    h('td', {class: 'soft'}, prediction.by_name ? nameWords(prediction) : (strongest(prediction)?.text ?? '')),
  ]);
  const likely = h('th', {class: 'number'}, 'Sure');
  const isByPoints = !answers.some(({prediction}) => goesByFamiliarity(prediction));
  return [
    h('h2', {}, title),
    h('p', {class: 'soft small'}, MANY, isByPoints && LIMIT),
    table(['Text', 'Answer', likely, 'Strongest vote'], rows, {class: 'stacked'}),
  ];
}

const opener = (text, open) =>
  h('button', {class: 'plain opens', dir: 'auto', 'data-key': `open ${text}`, onclick: () => open(text)}, text);

const strongest = ({neighbours}) => [...neighbours].sort((a, b) => b.vote - a.vote)[0];
