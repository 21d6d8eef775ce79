// All projects: open one, create one, or start from the sample.
import {address, call, frame, guarded, h, number, percent, plural} from './studio.js';

export function mount(view) {
  return frame(
    view,
    'home',
    'Projects',
    'Label a few utterances, train in the background, and see which examples decide.',
    async ({main}) => {
      const list = h('div', {class: 'tiles'});
      main.append(list, form());
      const projects = await call('/projects');
      list.append(...projects.map(tile));
      if (!projects.length) list.replaceWith(welcome());
    },
  );
}

function tile(project) {
  const share = project.utterances ? project.labelled / project.utterances : 0;
  return h(
    'a',
    {
      class: 'sheet',
      href: address(project.labelled ? 'label' : 'data', project.name),
      style: {'text-decoration': 'none', color: 'inherit', margin: '0'},
    },
    h('h2', {}, project.name),
    h(
      'div',
      {class: 'row soft small'},
      plural(project.intents, 'intent'),
      ' · ',
      plural(project.utterances, 'utterance'),
      project.task === 'multi-label' && ' · several intents each',
    ),
    h(
      'div',
      {class: 'bar', style: {margin: '10px 0'}, title: `${number(project.labelled)} labelled`},
      h('i', {style: {width: `${100 * share}%`}}),
    ),
    h(
      'div',
      {},
      project.accuracy === null
        ? h('span', {class: 'soft'}, 'not trained yet')
        : [
            h('b', {}, percent(project.accuracy)),
            h('span', {class: 'soft'}, ' accuracy, ' + project.champion.replace(/^.*@/, 'version ')),
          ],
    ),
  );
}

const welcome = () =>
  h(
    'div',
    {class: 'sheet empty'},
    h('h2', {}, 'Nothing here yet'),
    h(
      'p',
      {},
      'Create a project below and drop a CSV into it, or look around in the sample: a support desk of a broadband provider.',
    ),
  );

function form() {
  const name = h('input', {
    type: 'text',
    name: 'name',
    required: true,
    maxlength: 100,
    autocomplete: 'off',
    placeholder: 'support',
  });
  const multi = h('input', {type: 'checkbox', name: 'multi'});
  const create = guarded(async body => {
    const made = await call('/projects', {method: 'POST', body});
    location.href = address(body.sample ? 'label' : 'data', made.name);
  });
  const freeName = async () => {
    const taken = new Set((await call('/projects')).map(project => project.name));
    let free = 'sample';
    for (let n = 2; taken.has(free); n += 1) free = `sample ${n}`;
    return free;
  };
  return h(
    'form',
    {
      class: 'sheet',
      style: {'margin-top': '16px'},
      onsubmit: event => {
        event.preventDefault();
        create({name: name.value.trim(), task: multi.checked ? 'multi-label' : 'single-label'});
      },
    },
    h('h2', {}, 'New project'),
    h(
      'div',
      {class: 'row end'},
      h('label', {class: 'field'}, 'Name', name),
      h('label', {class: 'check'}, multi, 'an utterance may have several intents'),
      h('button', {class: 'primary'}, 'Create project'),
      h(
        'button',
        {
          type: 'button',
          class: 'push',
          onclick: guarded(async () => create({name: await freeName(), sample: true})),
        },
        'Create the sample project',
      ),
    ),
  );
}
