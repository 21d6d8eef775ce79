// A project on the start page: how often it is right today, what it holds, and what to do next.
import {accuracyParts, basisWords, isCounting, isUntested, verdictWords} from '../shared/accuracy.js';
import {address} from '../shared/address.js';
import {h, progressBar} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {nextOf} from '../shared/next.js';
import {bringTests} from '../shared/test_texts.js';
import {number, numberOf, plural} from '../shared/words.js';

const STEPS = [
  ['imported', 'Import texts'],
  ['labelled', 'Label a few per intent'],
  ['trained', 'Train'],
];

// `actions`: `rename` takes the name, `remove` the project. `first`: whether it is the one last opened. A `brief` card
// leaves out the first steps, of which its next one is told below.
export function cardOf(project, actions, {first, brief}) {
  const {name, labelled, intents, empty_intents: empty, utterances, task, steps} = project;
  const share = utterances ? labelled / utterances : 0;
  const counts = `${number(labelled)} of ${plural(utterances, 'text')} labelled`;
  const open = address(utterances ? 'label' : 'data', name);
  const taught = intents - empty; // as a training counts them
  const about = [
    taught > 0 && plural(taught, 'intent'),
    empty > 0 && (taught ? `${number(empty)} more without a label` : `${plural(empty, 'intent')} without a label`),
    task === 'multi-label' && 'a text may have several',
  ].filter(Boolean);
  return h(
    'article',
    {class: `sheet project ${brief ? 'brief' : ''}`, 'aria-label': name},
    h(
      'div',
      {class: 'row head'},
      h('h2', {class: 'grow', dir: 'auto'}, h('a', {href: open, title: `Open ${name}`, 'data-key': name}, name)),
      h(
        'div',
        {class: 'row tight push'},
        act('Rename', 'pencil', name, () => actions.rename(name)),
        act('Delete', 'trash-2', name, () => actions.remove(project)),
      ),
    ),
    (steps.trained || !brief) &&
      h('div', {'data-role': 'accuracy'}, steps.trained ? figuresOf(project) : stepsOf(steps)),
    h(
      'div',
      {class: 'held soft small', hidden: brief && !utterances},
      utterances > 0 && progressBar(share, {'aria-hidden': 'true'}),
      h(
        'div',
        {class: 'row tabular'},
        utterances > 0 && h('span', {'data-role': 'share'}, counts),
        h('span', {class: 'push'}, about.join(', ')),
      ),
    ),
    nextOf(name, project.next, first ? 'primary' : ''),
  );
}

const act = (words, picture, name, onclick) =>
  h(
    'button',
    {class: 'plain small', 'aria-label': `${words} ${name}`, 'data-key': `${words} ${name}`, onclick},
    icon(picture),
    words,
  );

// What goes with a project that is deleted.
export function heldWords({utterances, labelled, intents, champion}) {
  if (!utterances) return 'It holds no texts.';
  const texts = `${plural(utterances, 'text')} (${number(labelled)} labelled)`;
  const others = [intents > 0 && plural(intents, 'intent'), champion && 'the model that answers'];
  const parts = [texts, ...others.filter(Boolean)];
  const last = parts.pop();
  return `It holds ${parts.length ? `${parts.join(', ')} and ${last}` : last}.`;
}

function figuresOf(project) {
  const {champion, accuracy} = project;
  const version = `version ${numberOf(champion)}`;
  if (accuracy === null) return h('span', {class: 'soft'}, `${version} answers`);
  const {figure, base, words} = accuracyParts(project);
  const untested = !project.now && isUntested(project);
  const stands = untested ? basisWords(project) : verdictWords(project);
  const leads = project.next.kind === 'test-set'; // the button below does the same
  const of = isCounting(project) ? ` how often ${version} is right` : ` ${base}, ${version}`;
  return [
    h(
      'div',
      {class: 'figure tabular'},
      figure,
      h('span', {class: 'soft small'}, of),
    ),
    stands && h('div', {class: 'small'}, stands),
    words && h('div', {class: 'soft small'}, words),
    untested && !leads && h('div', {}, bringTests(project.name, project.utterances - project.labelled)),
  ];
}

// What a new project needs before it answers; the first that is not done is the one to do now.
function stepsOf(steps) {
  const now = STEPS.find(([key]) => !steps[key])?.[0];
  return h(
    'ol',
    {class: 'steps', 'aria-label': 'First steps'},
    STEPS.map(([key, words]) =>
      h(
        'li',
        {class: steps[key] ? 'done' : '', 'aria-current': key === now ? 'step' : null},
        words,
        steps[key] && h('span', {class: 'hidden-text'}, ' (done)'),
      ),
    ),
  );
}
