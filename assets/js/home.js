// The start page: what to do next in each project; create, rename, delete and restore projects.
import {cardOf, heldWords} from './home/card.js';
import {makeSample, SAMPLE_NAME} from './home/sample.js';
import {address} from './shared/address.js';
import {Again} from './shared/again.js';
import {field, fill, h} from './shared/elements.js';
import {busyButton} from './shared/evidence.js';
import {ask, guarded, once, toast} from './shared/messages.js';
import {call, post} from './shared/rest.js';
import {failed, skeleton} from './shared/skeleton.js';
import {plural} from './shared/words.js';
import {frame} from './studio.js';

const PAUSE = 2000; // milliseconds
const MANY = 4; // projects that push the form for a new one out of sight
const BY_NAME = new Intl.Collator('en', {numeric: true}); // desk 2 before desk 11
const byName = (one, other) => BY_NAME.compare(one.name, other.name);
// What has come furthest stands first: projects that answer, then those with labels, with texts, and with nothing.
const STAGES = [one => one.champion, one => one.labelled, one => one.utterances, () => true];
const LEAD =
  'Each project shows how many of its answers are right today, and what to do next. An answer is the intent that the ' +
  'model gives a text.';

const KEPT = 'Nothing of it is lost: “deleted projects” at the end of this page brings it back.';
const SAMPLE = 'Create the sample project';
const SEVERAL = 'A text may have several intents';
const FOR_GOOD = ', as in “cancel it and pay me back”. This cannot be changed later.';

const NAME = {
  type: 'text',
  name: 'name',
  required: true,
  maxlength: 100,
  autocomplete: 'off',
};

export const mount = view => frame(view, 'home', 'Home', LEAD, context => new HomePage(context).start());

class HomePage {
  #context;
  #list = h('div', {class: 'tiles'});
  #isMaking = false; // the sample project; what tells how far it is stays until it is left for
  #form = newProject(this.#sampleOffer({class: 'small'}));
  #toForm = h('button', {class: 'push', hidden: true, onclick: () => this.#showForm()}, 'New project');
  #deleted = h('div', {'data-role': 'deleted'});
  #asked = 0; // number of the newest request; older answers are dropped
  #again = new Again(PAUSE, () => !this.#isMaking && this.#load());
  #acts = {
    rename: guarded(name => this.#rename(name)),
    remove: guarded(project => this.#remove(project)),
  };

  constructor(context) {
    this.#context = context;
  }

  async start() {
    this.#context.heading.append(this.#toForm);
    fill(this.#list, skeleton('Looking at your projects'));
    this.#context.main.append(this.#list, this.#form, this.#deleted);
    // What it shows was true when it was left.
    const again = () => !document.hidden && !this.#isMaking && this.#load().catch(() => {});
    document.addEventListener('visibilitychange', again);
    window.addEventListener('pageshow', ({persisted}) => persisted && again());
    await this.#load();
  }

  async #load() {
    const asked = (this.#asked += 1);
    const coming = Promise.all([call('/projects'), call('/deleted-projects')]);
    const [projects, deleted] = await coming.catch(error => this.#fail(error, asked));
    if (asked !== this.#asked) return;
    const names = projects.map(project => project.name);
    if (!names.includes(this.#context.project)) this.#context.enter(names[0] ?? null);
    this.#list.classList.toggle('tiles', projects.length > 0);
    this.#list.classList.toggle('many', projects.length >= MANY);
    // With projects, the next step of one of them is the page's first act.
    this.#form.querySelector('[data-role=create]').classList.toggle('primary', !projects.length);
    this.#toForm.hidden = projects.length < MANY;
    this.#context.heading.querySelector('.lead').hidden = !projects.length;
    // Without projects it stands in the welcome.
    this.#form.querySelector('[data-role=sample]').hidden = !projects.length || names.includes(SAMPLE_NAME);
    // The project last opened has the page's first act, so it stands first.
    const isOpen = one => one.name === this.#context.project;
    const rank = one => (isOpen(one) ? 0 : 1 + STAGES.findIndex(fits => fits(one)));
    const inOrder = projects.toSorted((one, other) => rank(one) - rank(other) || byName(one, other));
    const isBrief = one => projects.length >= MANY && !isOpen(one);
    const card = one => cardOf(one, this.#acts, {first: isOpen(one), brief: isBrief(one)});
    fill(this.#list, inOrder.length ? inOrder.map(card) : welcome(this.#sampleOffer()));
    fill(this.#deleted, deleted.length > 0 && this.#deletedList(deleted));
    // The accuracy of today is computed in the background; until then that of the training stands there.
    this.#again.follow(projects.some(project => project.checking));
  }

  // Cards that are there stay.
  #fail(error, asked) {
    const isFirst = asked === this.#asked && !this.#list.querySelector('article');
    if (isFirst) fill(this.#list, h('div', {class: 'sheet'}, failed(error, () => this.#load())));
    throw error;
  }

  #showForm() {
    this.#form.scrollIntoView({block: 'center'});
    this.#form.querySelector('[name=name]').focus({preventScroll: true});
  }

  // A button, and beside it how far the sample project is.
  #sampleOffer(attributes) {
    const said = h('div', {class: 'soft small', role: 'status', 'data-role': 'making'});
    const say = words => (said.textContent = words);
    return [busyButton(SAMPLE, () => this.#createSample(say), {...attributes, type: 'button'}), said];
  }

  #createSample = once(async say => {
    this.#isMaking = true;
    try {
      await leave(await makeSample(say).finally(() => (this.#isMaking = false)));
    } catch (error) {
      this.#load().catch(() => {}); // the message tells of the first error
      throw error;
    } finally {
      say('');
    }
  });

  async #rename(name) {
    const input = h('input', {...NAME, value: name, 'aria-label': 'Name'});
    const given = await ask(`Rename ${name}`, input, 'Rename');
    const wanted = given?.name.trim();
    if (!wanted || wanted === name) return;
    await this.#changeName(name, wanted);
    toast(`Renamed to ${wanted}.`, '', 'good', () => this.#changeName(wanted, name));
  }

  async #changeName(name, wanted) {
    await call(addressOf(name), {method: 'PATCH', body: {name: wanted}});
    if (this.#context.project === name) this.#context.enter(wanted);
    await this.#load();
  }

  async #remove(project) {
    const {name} = project;
    const question = h('p', {'data-role': 'held'}, `${heldWords(project)} ${KEPT}`);
    if (!(await ask(`Delete ${name}?`, question, 'Delete project', 'danger'))) return;
    const {id} = await call(addressOf(name), {method: 'DELETE'});
    await this.#load();
    toast(`${name} is deleted.`, KEPT, '', () => this.#restore(id));
  }

  async #restore(id) {
    const {name} = await post(`/deleted-projects/${id}/restore`);
    await this.#load();
    toast(`${name} is back.`, '', 'good');
  }

  #deletedList(deleted) {
    const restore = ({id, name}) =>
      busyButton('Restore', () => this.#restore(id), {
        class: 'small',
        'data-key': `restore ${id}`,
        'aria-label': `Restore ${name}`,
      });
    return h(
      'details',
      {class: 'sheet', 'data-key': 'deleted'},
      h('summary', {}, plural(deleted.length, 'deleted project')),
      h(
        'ul',
        {class: 'plain-list'},
        deleted.map(one => h('li', {class: 'row'}, h('bdi', {}, one.name), restore(one))),
      ),
    );
  }
}

const addressOf = name => `/projects/${encodeURIComponent(name)}`;

const welcome = sample =>
  h(
    'div',
    {class: 'sheet empty'},
    h('h2', {}, 'Teach a model what people mean'),
    h(
      'p',
      {},
      'A project holds messages and their intents: what each of them wants, such as “lost card”. ',
      'Import messages, label a few of each intent, train, and see why every answer is given.',
    ),
    h('p', {}, 'Or look around first in the sample: the support desk of a broadband provider.'),
    sample,
  );

function newProject(sample) {
  const name = h('input', {...NAME, placeholder: 'Support desk'});
  const multi = h('input', {type: 'checkbox', name: 'multi'});
  const submit = event => {
    event.preventDefault();
    create({name: name.value.trim(), task: multi.checked ? 'multi-label' : 'single-label'});
  };
  return h(
    'form',
    {class: 'sheet', onsubmit: submit},
    h('h2', {}, 'New project'),
    h(
      'div',
      {class: 'row end'},
      field('Name', name),
      h('label', {class: 'check'}, multi, h('span', {}, SEVERAL, h('span', {class: 'soft small'}, FOR_GOOD))),
      h('button', {'data-role': 'create'}, 'Create project'),
    ),
    h(
      'div',
      {class: 'row tight below soft small', 'data-role': 'sample', hidden: true}, // until the projects are known
      'Or look around first:',
      sample,
    ),
  );
}

// A second press makes no second project.
const create = once(async body => leave(address('data', (await post('/projects', body)).name)));

// Nothing else is done while the page is being left; Back shows it as it was.
async function leave(path) {
  location.href = path;
  await new Promise(shown => window.addEventListener('pageshow', shown, {once: true}));
}
