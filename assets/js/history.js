// The History page: every act in the project, with its time, its person and where it came from.
import {actWords} from './shared/act_words.js';
import {query, setQuery} from './shared/address.js';
import {field, fill, h, offer, since, table} from './shared/elements.js';
import {guarded} from './shared/messages.js';
import {call} from './shared/rest.js';
import {capital, nothingFits, number, plural} from './shared/words.js';
import {frame} from './studio.js';

const LEAD =
  'Everything that was done in this project: when, by whom, and from where. “Texts changed” leaves out those that ' +
  'were so already, such as rows of an import. Texts that a program sends from production are listed only where the ' +
  'project did not have them yet.';
const HEAD = ['When', 'Who', 'What', 'Texts changed', 'From'];
const STEP = 50;
const VIA = {
  page: 'a page',
  REST: 'another program',
  command: 'outside the browser',
  job: 'a training',
  agent: 'an agent',
};

export const mount = view =>
  frame(view, 'history', 'History', LEAD, context => new HistoryPage(context).start());

class HistoryPage {
  #base;
  #nothing; // the project's word for a text without an intent
  #offset = 0; // of the acts that were asked for last
  #shown = 0; // of those in view
  #asked = 0; // number of the newest request; older answers are dropped
  #lists = {actor: this.#filter('Who', 'actor'), verb: this.#filter('What', 'verb')};
  #filters = h('div', {class: 'row'});
  #list = h('div', {'data-role': 'acts'});
  #turns = h('div', {class: 'row below'});

  constructor(context) {
    this.#base = `${context.base}/acts`;
    this.#nothing = nothingFits(context.status.task);
    context.main.append(
      h('section', {class: 'sheet', 'aria-label': 'Acts'}, this.#filters, this.#list, this.#turns),
    );
  }

  start() {
    return this.#load();
  }

  async #load() {
    const asked = (this.#asked += 1);
    const wanted = new URLSearchParams({offset: this.#offset, limit: STEP});
    for (const name of ['actor', 'verb']) if (query().get(name)) wanted.set(name, query().get(name));
    const found = await call(`${this.#base}?${wanted}`);
    if (asked !== this.#asked) return;
    this.#shown = this.#offset;
    this.#offer('actor', found.actors, whoOf);
    this.#offer('verb', found.verbs, verb => capital(actWords(verb, this.#nothing)));
    if (!this.#filters.firstChild)
      fill(this.#filters, field('Who', this.#lists.actor), field('What', this.#lists.verb));
    const looks = {class: 'acts-list stacked'};
    const rows = found.acts.map(act => rowOf(act, this.#nothing));
    fill(this.#list, rows.length > 0 ? table(HEAD, rows, looks) : empty());
    fill(this.#turns, this.#pages(found.total));
  }

  #offer(name, values, wordsOf) {
    const named = values.filter(Boolean); // what nobody wrote down has no name to filter by
    offer(this.#lists[name], [['', 'all'], ...named.map(value => [value, wordsOf(value)])], query().get(name) ?? '');
  }

  #filter(words, name) {
    const choose = guarded(async event => {
      setQuery({[name]: event.target.value});
      this.#offset = 0;
      await this.#load();
    });
    return h('select', {'aria-label': words, 'data-key': name, onchange: choose});
  }

  #pages(total) {
    const last = Math.min(this.#offset + STEP, total);
    const turn = (words, by, usable) =>
      h('button', {'data-key': words, disabled: !usable, onclick: guarded(() => this.#turn(by, total))}, words);
    const isOne = total <= STEP; // there is no other page
    const which = isOne ? '' : `${number(this.#offset + 1)} to ${number(last)} of `;
    return [
      !isOne && turn('Newer', -STEP, this.#offset > 0),
      !isOne && turn('Older', STEP, last < total),
      total > 0 &&
        h(
          'span',
          {class: 'soft'},
          which + plural(total, 'act'),
        ),
    ];
  }

  // A second press before the acts are there goes on, and not beyond the last of `total`.
  #turn(by, total) {
    const to = Math.max(0, this.#offset + by);
    if (to < total) this.#offset = to;
    const asked = this.#asked + 1;
    return this.#load().catch(error => {
      if (asked === this.#asked) this.#offset = this.#shown; // the next press goes on from what is in view
      throw error;
    });
  }
}

const WITHOUT_USERS = 'local'; // who acts in a studio that knows no names
const whoOf = actor => (actor === WITHOUT_USERS ? 'this computer' : actor);
// The number of a receipt tells a reader nothing.
const aboutOf = (verb, about) => (verb === 'receipt' ? '' : about);

const empty = () => h('p', {class: 'soft'}, 'Nothing was done that fits. Choose “all” above.');

function rowOf({at, actor, verb, about, n, via, undone, idle}, nothing) {
  const what = [
    h('b', {}, capital(actWords(verb, nothing))),
    aboutOf(verb, about) && [' ', h('bdi', {}, about)],
    undone && [' ', h('span', {class: 'badge'}, 'taken back')],
    idle && [' ', h('span', {class: 'badge'}, 'changed nothing: it was so already')],
  ];
  return [
    h('td', {title: new Date(at).toLocaleString('en-GB')}, since(at)),
    whoOf(actor) || h('span', {class: 'soft'}, 'not known'),
    h('td', {class: 'what'}, what),
    h('td', {class: 'tabular'}, n > 0 && number(n)),
    h('td', {class: 'soft'}, VIA[via] ?? 'not known'),
  ];
}
