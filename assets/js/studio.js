// The frame around every page: navigation, the project's state, and the page's heading.
import {accuracyBasis, accuracyInShort, verdictOf} from './shared/accuracy.js';
import {address, inStudio, keptAs, query, setQuery} from './shared/address.js';
import {listenForCommands} from './shared/command_bar.js';
import {damageBanner} from './shared/damage.js';
import {fill, h, keepTimesTrue, progressBar} from './shared/elements.js';
import {icon} from './shared/icons.js';
import {complain} from './shared/messages.js';
import {LOOKING, nextLine} from './shared/next.js';
import {call} from './shared/rest.js';
import {failed, skeleton} from './shared/skeleton.js';
import {Switcher} from './shared/switcher.js';
import {Unsaved} from './shared/unsaved.js';
import {number, percent, plural} from './shared/words.js';

// Path, name and icon; those of `FIRST` stay in sight on a phone.
const PAGES = [
  ['', 'Home', 'house'],
  ['label', 'Label', 'tag'],
  ['discover', 'Discover', 'shapes'],
  ['data', 'Data', 'table-2'],
  ['slots', 'Slots', 'highlighter'],
  ['data#conversations', 'Conversations', 'messages-square'],
  ['review', 'Review', 'list-checks'],
  ['map', 'Map', 'chart-scatter'],
  ['train', 'Train', 'graduation-cap'],
  ['try', 'Try', 'message-circle'],
  ['versions', 'Versions', 'layers'],
  ['history', 'History', 'history'],
];
const FIRST = ['', 'label', 'data', 'try'];
const DECIDING = ['train', 'versions']; // they tell themselves that a version waits for a decision
const ICON = new URL('../icon.svg', import.meta.url).pathname;
const PAUSE = 4000; // milliseconds between two requests for the project's status
const SHORT_PAUSE = 1000; // while a job runs, and between two refreshes requested by a page

// The project's status as a page reads it, with notice of its changes.
class Context {
  status = null;
  trouble = null; // why the status could not be read the last time
  unsaved = null; // decisions of Label that wait; Label itself sends its own
  #listeners = [];
  #parts;
  #state;
  #decides; // whether the header tells that a version waits for a decision
  #soon = 0;
  #asked = 0;
  #answered = 0; // number of the newest answered request; older answers are out of date

  constructor(project, parts) {
    this.project = project;
    this.base = project ? `/projects/${encodeURIComponent(project)}` : '';
    this.main = parts.main;
    this.heading = parts.heading;
    this.#parts = parts;
    this.#state = parts.state;
    this.#decides = ![...LOOKING, ...DECIDING].includes(parts.page);
  }

  // Names the page anew, for a part of it that has an entry of its own in the rail.
  entitle(words) {
    this.#parts.title.textContent = words;
    document.title = titled(words, this.project);
  }

  // Shows another project in the header, or none; for the page of all projects.
  enter(project) {
    this.project = project;
    enter(project, this.#parts);
  }

  // Calls the listener with the current status, then with each new status and the one before it.
  onStatus(listener) {
    this.#listeners.push(listener);
    if (this.status) listener(this.status, null);
  }

  async refresh() {
    if (!this.project) return;
    const question = ++this.#asked;
    const asked = performance.now();
    try {
      const status = await call(`${this.base}/status`);
      if (this.#isNews(question)) this.#tell({...status, asked});
    } catch (error) {
      this.trouble = error;
      if (this.#isNews(question)) fill(this.#state, h('span', {class: 'bad'}, error.message));
      if (error.status === 404) throw error;
    }
  }

  #isNews(question) {
    if (question < this.#answered) return false;
    this.#answered = question;
    return true;
  }

  #tell(status) {
    const before = this.status; // `asked` is when the page asked for it
    this.status = status;
    fill(this.#state, stateOf(status, {decides: this.#decides}));
    if (isUnsettled(status)) this.refreshSoon(); // an act's figures follow in a second, not at the next round
    for (const listener of this.#listeners) listener(status, before);
  }

  // Labelling asks for a refresh after each decision; one a second leaves the processor to the next card.
  refreshSoon() {
    this.#soon ||= setTimeout(() => {
      this.#soon = 0;
      this.refresh().catch(() => {}); // the header shows the error
    }, SHORT_PAUSE);
  }

  keepFresh() {
    const tick = async () => {
      if (!document.hidden) await this.refresh().catch(() => {}); // the header shows the error
      setTimeout(tick, PAUSE);
    };
    setTimeout(tick, SHORT_PAUSE);
  }
}

const isUnsettled = ({job, checking, model}) => !document.hidden && (job || checking || model === 'loading');

// Draws header and heading, keeps the status up to date, and starts the page.
export async function frame(view, page, title, lead, build) {
  const home = page === 'home';
  keepTimesTrue();
  const parts = drawFrame(view, page, title, lead, listenForCommands(PAGES));
  try {
    const project = await chooseProject();
    document.title = titled(title, project);
    if (project) enter(project, parts);
    if (!project && !home) {
      parts.main.append(noProject());
      return;
    }
    const context = new Context(project, parts);
    if (project && page !== 'label') sendUnsaved(context, parts);
    if (LOOKING.includes(page)) parts.heading.before(nextLine(context, page));
    if (!home) {
      fill(context.main, skeleton('Waiting for the studio'));
      await context.refresh();
      context.keepFresh();
      if (context.status) fill(context.main);
      else await firstStatus(context);
    }
    await start(build, context);
  } catch (error) {
    fill(parts.main, notThere(error));
    if (error.status === 404) localStorage.removeItem(keptAs('project'));
  }
}

function sendUnsaved(context, {banner}) {
  context.unsaved = new Unsaved(context);
  banner.after(context.unsaved.element);
  context.unsaved.start();
}

const titled = (title, project) => `${title} · ${project ?? 'Intent Studio'}`;

// Each page is drawn from the project's status: until the server has told it, that is asked for again.
async function firstStatus(context) {
  const again = () => context.refresh();
  fill(context.main, h('div', {class: 'sheet'}, failed(context.trouble, again)));
  await new Promise(known => context.onStatus(known));
  fill(context.main);
}

// If a page fails while starting, it shows the error, keeps what is already drawn, and can be loaded again.
async function start(build, context) {
  try {
    await build(context);
  } catch (error) {
    complain(error);
    console.error(error);
    const isTold = context.main.querySelector('[data-role=failed]');
    if (!isTold) context.main.append(h('div', {class: 'sheet'}, failed(error, () => location.reload())));
  }
}

function drawFrame(view, page, title, lead, commands) {
  const main = h('div', {class: 'content'});
  const state = h('div', {class: 'state', role: 'status', 'aria-live': 'off'});
  const nav = h('nav', {
    'aria-label': 'Pages',
    onkeydown: event => event.key === 'Escape' && showAll(nav, false),
  });
  const heading = h('header', {}, lead && h('p', {class: 'lead'}, lead));
  const switcher = new Switcher(page === 'home' ? 'label' : page);
  const brand = h('a', {class: 'brand', href: inStudio('/')}, h('img', {src: ICON, alt: ''}), 'Intent Studio');
  const skip = h('a', {class: 'skip', href: '#page'}, 'Skip to the page');
  const name = h('h1', {}, title);
  const top = h('div', {class: 'top'}, name, state);
  const banner = damageBanner(() => query().get('project'));
  fill(
    view,
    skip,
    h('div', {class: 'rail'}, brand, switcher.element, finderButton(commands), nav),
    h('div', {class: 'beside-rail'}, banner, top, h('div', {class: 'page', id: 'page', tabindex: -1}, heading, main)),
  );
  return {page, main, state, nav, switcher, heading, banner, title: name};
}

const finderButton = commands =>
  h(
    'button',
    {
      class: 'find',
      title: 'Find a page, an intent, a project or an action',
      onclick: () => commands.toggle(),
    },
    icon('search'),
    h('span', {}, 'Find'),
    h('kbd', {}, 'Ctrl K'),
  );

// The project in the address, or the last one opened, or any.
async function chooseProject() {
  const wanted = query().get('project');
  if (wanted) return wanted;
  const known = await call('/project-names');
  const last = localStorage.getItem(keptAs('project'));
  return known.includes(last) ? last : (known[0] ?? null);
}

// Shows a project in the header, or none.
function enter(project, {page, nav, switcher}) {
  switcher.show(project);
  const named = query().get('project');
  if (named ? named !== project : page !== 'home') setQuery({project});
  if (project) localStorage.setItem(keptAs('project'), project);
  else localStorage.removeItem(keptAs('project'));
  const draw = () => fill(nav, linksOf(page === 'home' ? '' : page, project), project && moreButton(nav));
  draw();
  window.onhashchange = draw; // a part of a page has an entry of its own
}

function linksOf(page, project) {
  const shown = project ? PAGES : PAGES.slice(0, 1);
  const part = `${page}${location.hash}`;
  const here = PAGES.some(([path]) => path === part) ? part : page;
  return shown.map(([path, name, picture]) => {
    const href = path ? address(path, project) : inStudio('/');
    const current = path === here ? 'page' : null;
    return h(
      'a',
      {href, class: FIRST.includes(path) && 'first', 'aria-current': current},
      icon(picture),
      name,
    );
  });
}

// On a phone: shows the pages that do not stand in the bar.
function moreButton(nav) {
  const more = {
    class: 'more',
    'aria-expanded': 'false',
    onclick: () => showAll(nav, !nav.classList.contains('all')),
  };
  return h('button', more, icon('ellipsis'), 'More');
}

function showAll(nav, shown) {
  nav.classList.toggle('all', shown);
  nav.querySelector('.more')?.setAttribute('aria-expanded', String(shown));
}

const noProject = () =>
  h(
    'div',
    {class: 'sheet empty'},
    h('h2', {}, 'There is no project yet'),
    h('p', {}, 'Create one, or start with the sample.'),
    h('a', {class: 'button', href: inStudio('/')}, 'Go to Home'),
  );

const notThere = error =>
  h('div', {class: 'note bad'}, `${error.message} ${error.hint ?? ''} `, h('a', {href: inStudio('/')}, 'All projects'));

// `decides`: whether what waits for a decision is told here.
function stateOf(status, {decides}) {
  const candidate = decides && status.candidate;
  const train = address('train', status.project);
  return [
    status.job && jobState(status.job, train),
    status.hot > 0 &&
      h(
        'a',
        {class: 'badge warn', href: train, 'data-key': 'hot', title: hotWords(status)},
        sinceTraining(status),
      ),
    candidate &&
      h('a', {class: 'button small', href: train, 'data-key': 'candidate'}, `Decide on v${candidate}`),
    championState(status),
    status.trouble && trouble(status),
  ];
}

// Labels vote at once if the head allows it; the encoder learns them in the next training.
const hotWords = ({hot, waiting, task}) =>
  [CHANGES, waitingWords(hot, waiting), task === 'single-label' && UNCOUNTED].filter(Boolean).join(' ');
const CHANGES = 'Labels that were given, changed or taken away, and labelled texts that were edited or deleted.';
const waitingWords = (hot, waiting) =>
  waiting === 0
    ? 'Answers use them already; the next training learns from them, too.'
    : `${number(hot - waiting)} of them are used already; the others wait for the next training.`;
const UNCOUNTED = 'A text out of scope teaches no intent: it counts only where it was an example before.';
const sinceTraining = ({hot, champion}) => [
  plural(hot, 'change'),
  h('span', {class: 'wordy'}, ` since version ${champion}`),
];

const trouble = status =>
  h(
    'a',
    {
      class: 'badge bad',
      href: address('versions', status.project),
      'data-role': 'trouble',
      title: status.trouble,
    },
    'does not answer',
  );

// The words for a wide screen alone, and those for a phone, too.
const RUNNING = {train: ['', 'training'], layout: ['making the ', 'map'], discover: ['finding ', 'groups']};

function jobState(job, href) {
  const [more, name] = RUNNING[job.kind];
  const running = [more && h('span', {class: 'wordy'}, more), `${name} `];
  const share = h('b', {class: 'tabular'}, percent(job.progress, 0));
  return [
    h(
      'a',
      {href, 'data-role': 'running-job', 'data-key': 'job', title: job.stage},
      job.state === 'queued' ? 'waiting ' : running,
      share,
    ),
    progressBar(job.progress, {'aria-hidden': 'true'}),
  ];
}

function championState(status) {
  const {champion, candidate} = status;
  if (champion === null) return h('span', {}, candidate === null ? 'no model yet' : 'no version is live');
  const href = address('versions', status.project); // a phone shows no title; that page has the words
  const about = {href, 'data-role': 'champion', title: accuracyBasis(status)};
  return [h('a', about, `v${champion} `, accuracyInShort(status)), verdictOf(status, href)];
}
