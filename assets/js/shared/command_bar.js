// The command bar: Ctrl K finds pages, acts, intents and projects by any of their words.
import {actWords} from './act_words.js';
import {address, inStudio, keptAs, query} from './address.js';
import {h} from './elements.js';
import {Finder, fitting} from './finder.js';
import {chip} from './intents.js';
import {guarded, openDialog, toast} from './messages.js';
import {call, post} from './rest.js';
import {mayUndo} from './undoing.js';

const NOTHING = 'out of scope'; // here for every project: the bar knows none of their settings
const own = []; // acts that the page at hand offers

// A page offers acts of its own: pairs of words and a function.
export function offerActs(...acts) {
  own.push(...acts.map(([name, act]) => ({kind: 'action', name, act})));
}

// `pages` are lists of a path, empty for the start page, and a name.
export function listenForCommands(pages) {
  const bar = new CommandBar(pages);
  document.addEventListener('keydown', event => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 'k') return;
    event.preventDefault();
    bar.toggle();
  });
  return bar;
}

class CommandBar {
  #pages;
  #dialog = null;
  #before = null; // had the focus before the bar
  #fetched = []; // intents and projects, from the first time that the bar is opened
  #isFetched = Promise.resolve(false); // of the last time that it was opened
  #finder;

  constructor(pages) {
    this.#pages = pages;
  }

  toggle() {
    if (this.#dialog) this.#close();
    else if (!document.querySelector('dialog[open]')) this.#open();
  }

  // Pages and acts are there at once; intents and projects follow.
  #open() {
    this.#finder = new Finder({
      choices: typed =>
        fitting(this.#choices, typed, ({name, kind, also}) => `${name} ${kind} ${also ?? ''}`),
      draws: choice => [
        choice.intent ? chip(choice.intent) : h('span', {}, choice.name),
        h('span', {class: 'kind'}, choice.kind),
      ],
      takes: choice => {
        this.#close();
        go(choice);
      },
      left: () => this.#close(),
      label: 'Go to a page, an intent or a project, or do something',
      placeholder: 'Page, intent, project or action',
    });
    this.#before = document.activeElement;
    const about = {class: 'command-bar', 'aria-label': 'Command bar', oncancel: () => this.#close()};
    const dialog = h('dialog', about, this.#finder.element);
    dialog.addEventListener('click', event => event.target === dialog && this.#close());
    this.#dialog = dialog;
    openDialog(dialog);
    this.#finder.open();
    // Asked again after a failure, also where the bar was closed and opened before the answer.
    this.#isFetched = this.#isFetched.then(isWhole => isWhole || this.#fetch());
  }

  #close() {
    const dialog = this.#dialog;
    if (!dialog) return;
    this.#dialog = null;
    dialog.close();
    this.#before?.focus?.();
  }

  get #project() {
    return query().get('project') ?? localStorage.getItem(keptAs('project'));
  }

  get #choices() {
    const project = this.#project;
    const shown = this.#pages.filter(([path]) => project || !path);
    const pages = shown.map(([path, name]) => ({
      kind: 'page',
      name,
      href: path ? address(path, project) : inStudio('/'),
    }));
    return [...pages, ...own, ...(project ? actsOf(project) : []), ...this.#fetched];
  }

  // Whether every answer came. Without an answer of the server, pages and acts remain.
  async #fetch() {
    const project = this.#project;
    const base = `/projects/${encodeURIComponent(project)}`;
    let isWhole = true;
    const without = nothing => () => {
      isWhole = false;
      return nothing;
    };
    const [names, {intents}] = await Promise.all([
      call('/project-names').catch(without([])),
      project ? call(`${base}/overview`).catch(without({intents: []})) : {intents: []},
    ]);
    const open = intents.filter(intent => !intent.archived);
    this.#fetched = [
      ...open.map(intent => ({
        kind: 'intent',
        name: intent.name,
        intent,
        href: address('data', project, {intent: intent.id}),
      })),
      ...names
        .filter(name => name !== project)
        .map(name => ({kind: 'project', name, href: address('label', name)})),
    ];
    if (this.#dialog) this.#finder.look();
    return isWhole;
  }
}

// Acts of every page; `also` has other words by which one is found.
const actsOf = project => [
  {kind: 'action', name: 'Label what helps most', href: address('label', project, {order: 'helps'})},
  {
    kind: 'action',
    name: 'Label what the model is sure of (you check some first)',
    also: 'accept all at once',
    href: address('label', project, {sure: 1}),
  },
  {kind: 'action', name: 'Import texts', href: address('data', project, {import: 1})},
  {kind: 'action', name: 'Show unlabelled texts', href: address('data', project, {state: 'unlabelled'})},
  {kind: 'action', name: 'Show where the model disagrees', href: address('data', project, {differs: true})},
  {
    kind: 'action',
    name: 'Refuse fewer or more texts (out of scope)',
    also: 'reject refusal threshold limit fence nothing fits',
    href: address('review', project, {tab: 'fence'}),
  },
  {
    kind: 'action',
    name: 'Pins: answers that must stay',
    also: 'pinned expectations tests',
    href: address('review', project, {tab: 'pins'}),
  },
  {
    kind: 'action',
    name: 'Report about a version',
    also: 'ready manager pdf share',
    href: address('versions', project),
  },
  {
    kind: 'action',
    name: 'Hand over a version as a file',
    also: 'handover download bundle deploy export model developers',
    href: address('versions', project),
  },
  {
    kind: 'action',
    name: 'Export as CSV',
    also: 'download texts labels',
    href: inStudio(`/api/projects/${encodeURIComponent(project)}/export?kind=csv`),
  },
  {kind: 'action', name: 'Undo the last change', act: () => undoLast(project)},
];

async function undoLast(project) {
  const base = `/projects/${encodeURIComponent(project)}`;
  const status = await call(`${base}/status`);
  if (!(await mayUndo(status, NOTHING))) return;
  const {undone} = await post(`${base}/undo`, {newest: status.undo_id});
  toast(undone ? `Taken back: ${actWords(undone.verb, NOTHING)}.` : 'There is nothing to undo.');
}

const go = guarded(async ({href, act}) => {
  if (act) await act();
  else location.assign(href);
});
