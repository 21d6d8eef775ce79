// The start page: open a project, create one, or start from the sample.
import {accuracyOf} from './shared/accuracy.js';
import {address} from './shared/address.js';
import {field, fill, h, progressBar} from './shared/elements.js';
import {guarded} from './shared/messages.js';
import {call, post} from './shared/rest.js';
import {number, plural} from './shared/words.js';
import {frame} from './studio.js';

const PAUSE = 2000; // milliseconds
const LEAD = 'Label a few utterances, train in the background, and see which examples decide.';

export const mount = view => frame(view, 'home', 'Projects', LEAD, page);

async function page({main}) {
  const list = h('div', {class: 'tiles'});
  main.append(list, newProject());
  const projects = await call('/projects');
  list.append(...projects.map(tile));
  if (!projects.length) list.replaceWith(welcome());
  keepChecking(list, projects);
}

// The accuracy of today is computed in the background; until it is there, that of the training stands there.
function keepChecking(list, projects) {
  if (!projects.some(project => project.checking)) return;
  setTimeout(async () => {
    const newer = await call('/projects').catch(() => projects); // asks again later
    fill(list, newer.map(tile));
    keepChecking(list, newer);
  }, PAUSE);
}

function tile(project) {
  const {labelled, utterances, intents, task} = project;
  const share = utterances ? labelled / utterances : 0;
  const progress = {style: {margin: '10px 0'}, title: `${number(labelled)} labelled`};
  return h(
    'a',
    {
      class: 'sheet',
      'data-key': project.name,
      href: address(labelled ? 'label' : 'data', project.name),
      style: {'text-decoration': 'none', color: 'inherit', margin: '0'},
    },
    h('h2', {}, project.name),
    h(
      'div',
      {class: 'row soft small'},
      plural(intents, 'intent'),
      ' · ',
      plural(utterances, 'utterance'),
      task === 'multi-label' && ' · several intents each',
    ),
    progressBar(share, progress),
    h('div', {'data-role': 'accuracy'}, figuresOf(project)),
  );
}

function figuresOf(project) {
  const {champion, accuracy} = project;
  if (accuracy === null) return h('span', {class: 'soft'}, 'not trained yet');
  const version = champion.replace(/^.*@/, 'version ');
  return [h('div', {}, accuracyOf(project)), h('div', {class: 'soft small'}, `accuracy of ${version}`)];
}

const welcome = () =>
  h(
    'div',
    {class: 'sheet empty'},
    h('h2', {}, 'Nothing here yet'),
    h(
      'p',
      {},
      'Create a project below and drop a CSV into it, or look around in the sample: ',
      'a support desk of a broadband provider.',
    ),
  );

function newProject() {
  const name = h('input', {
    type: 'text',
    name: 'name',
    required: true,
    maxlength: 100,
    autocomplete: 'off',
    placeholder: 'support',
  });
  const multi = h('input', {type: 'checkbox', name: 'multi'});
  const submit = event => {
    event.preventDefault();
    create({name: name.value.trim(), task: multi.checked ? 'multi-label' : 'single-label'});
  };
  return h(
    'form',
    {class: 'sheet', style: {'margin-top': '16px'}, onsubmit: submit},
    h('h2', {}, 'New project'),
    h(
      'div',
      {class: 'row end'},
      field('Name', name),
      h('label', {class: 'check'}, multi, 'an utterance may have several intents'),
      h('button', {class: 'primary'}, 'Create project'),
      h('button', {type: 'button', class: 'push', onclick: createSample}, 'Create the sample project'),
    ),
  );
}

const create = guarded(async body => {
  const made = await post('/projects', body);
  location.href = address(body.sample ? 'label' : 'data', made.name);
});

const createSample = guarded(async () => {
  const taken = new Set((await call('/projects')).map(project => project.name));
  let name = 'sample';
  for (let n = 2; taken.has(name); n += 1) name = `sample ${n}`;
  await create({name, sample: true});
});
