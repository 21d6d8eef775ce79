// The Data page: browse, search, import and edit utterances.
import {Bulk} from './data/bulk.js';
import {ConversationSheet} from './data/conversations.js';
import {Filter} from './data/filter.js';
import {HandoverSheet} from './data/handover.js';
import {ImportSheet} from './data/importing.js';
import {IntentList} from './data/intents.js';
import {INTO_AGENT, PackageSheet} from './data/package.js';
import {Rows} from './data/rows.js';
import {SavedFilters} from './data/saved_filters.js';
import {actWords, undoWords} from './shared/act_words.js';
import {inStudio, query, setQuery} from './shared/address.js';
import {Behind} from './shared/behind.js';
import {fill, h} from './shared/elements.js';
import {Intents} from './shared/intents.js';
import {Marker} from './shared/marker.js';
import {askToDo, dialogIsOpen, guarded, present, toast} from './shared/messages.js';
import {newKey} from './shared/new_key.js';
import {tellIfPinned} from './shared/pins.js';
import {post, Refused} from './shared/rest.js';
import {SecondClick} from './shared/second_click.js';
import {SlotNames} from './shared/slot_names.js';
import {Turns} from './shared/turns.js';
import {isLarge, mayUndo, undoing} from './shared/undoing.js';
import {ago, sameLines} from './shared/words.js';
import {frame} from './studio.js';

const FOR_PLATFORM = 'For a platform …';

export const mount = view => frame(view, 'data', 'Data', null, context => new DataPage(context).start());

class DataPage {
  #context;
  #intents;
  #filter;
  #rows;
  #saved;
  #bulk;
  #intentList;
  #import;
  #jump; // the button that leads to it on a phone
  #conversations;
  #steps; // the buttons Undo and Redo
  #told = null; // number of the newest act that a message told of
  #finding = h('div'); // what finds texts
  #main = h('div', {class: 'stack'}); // the texts, and where there are none, the box to import some
  #aside = h('aside', {class: 'stack'});
  #texts = h('section', {class: 'sheet', 'aria-label': 'Texts of the project'});
  #exports = h('details', {class: 'menu'});
  #package;
  #handover;
  // Changes by other users are shown once they disturb no selection and no edit.
  #behind = new Behind(
    () => dialogIsOpen() || this.#rows.picked > 0 || this.#rows.editing,
    () => this.#follow(),
  );
  #loaded; // a promise of everything that the page shows at first
  #edits = new Turns(); // of two labels for one text the later one stays
  #own = new Map(); // by id of a text, the revision of the newest act on it from this page
  #undos = new Turns(); // the second of two presses takes back what is the newest act by then
  #second = new SecondClick();

  constructor(context) {
    const {base} = context;
    const told = () => this.#reloadTold();
    this.#context = context;
    this.#intents = new Intents(base, context.status.task);
    this.#filter = new Filter(this.#intents, () => this.#loadOthers());
    this.#saved = new SavedFilters(base, this.#filter);
    this.#rows = new Rows({
      context,
      filter: this.#filter,
      intents: this.#intents,
      hears: {
        edit: row => this.#editText(row),
        values: row => this.#markValues(row),
        remove: row => this.#remove(row),
        decide: (row, kind, value) => this.#decide(row, kind, value),
        picked: () => {
          this.#bulk.draw();
          this.#behind.catchUp();
        },
        left: () => this.#behind.catchUp(),
      },
    });
    const {nothing, multi: several} = this.#intents;
    this.#bulk = new Bulk(base, this.#rows, {done: told, nothing, several});
    const step = (which, words) => {
      const onclick = guarded(event => !this.#second.is(event) && this.#stepInTurn(which));
      const title = 'Does again what Undo took back (Ctrl Shift Z)';
      return h('button', {'data-key': which, title, hidden: true, onclick}, words);
    };
    this.#steps = {undo: step('undo', 'Undo'), redo: step('redo', 'Redo')};
    this.#intentList = new IntentList(context, this.#intents, {changed: () => this.#reload(), told});
  }

  async start() {
    this.#layOut();
    document.addEventListener('keydown', event => this.#onKey(event));
    this.#context.onStatus((status, before) => {
      this.#allowSteps(status);
      if (!before) return;
      if (before.revision !== status.revision || before.champion !== status.champion) this.#behind.note();
    });
    this.#conversations.showIfAsked();
    window.addEventListener('hashchange', () => {
      this.#conversations.showIfAsked();
      this.#allowSteps(this.#context.status);
    });
    this.#loaded = this.#load();
    await this.#loaded;
    const wish = query().get('import');
    if (!wish) return;
    this.#import.focus(wish);
    setQuery({import: ''});
  }

  async #load() {
    await this.#loadIntents();
    await Promise.all([this.#rows.load(), this.#conversations.load(), this.#saved.load()]);
  }

  // On a phone the box lies below the texts, which push it out of sight when they come.
  async #toImport() {
    this.#import.focus();
    await this.#loaded;
    this.#import.focus();
  }

  #layOut() {
    const {base, heading, main} = this.#context;
    const download = (kind, words, title) =>
      h('a', {class: 'button', href: inStudio(`/api${base}/export?kind=${kind}`), download: true, title}, words);
    const toImport = guarded(() => this.#toImport());
    const files = [
      download(
        'csv',
        'Export CSV',
        'A table that can be imported again, each cell as it was said. It has no marked values and no languages',
      ),
      download(
        'spreadsheet',
        'Export for Excel',
        'A table to look at: an apostrophe keeps Excel from computing a text that begins with =, +, - or @',
      ),
      download('jsonl', 'Export JSONL', 'For programs: a line for each text, with its marked values and its language'),
    ];
    const shut = () => (this.#exports.open = false);
    this.#package = new PackageSheet(this.#context);
    const title = 'The file that a platform exported, with your labels in it and all else as it was';
    const back = h(
      'button',
      {title, 'data-key': 'package', onclick: () => this.#package.choose()},
      INTO_AGENT,
    );
    this.#handover = new HandoverSheet(this.#context, () => this.#package.choose());
    const whole = h(
      'button',
      {
        title: 'The whole project as Dialogflow, Rasa, Lex or another tool keeps it',
        'data-key': 'handover',
        onclick: () => this.#handover.open(),
      },
      FOR_PLATFORM,
    );
    const menu = h('div', {onclick: shut}, files, whole, back);
    fill(this.#exports, h('summary', {class: 'button'}, 'Export'), menu);
    this.#jump = h('button', {'data-key': 'to-import', onclick: toImport}, 'Import');
    const jump = h('div', {class: 'only-narrow'}, this.#jump);
    heading.append(
      h('div', {class: 'row push data-acts'}, jump, this.#steps.undo, this.#steps.redo, this.#exports),
    );
    this.#import = new ImportSheet(this.#context, this.#intents, () => this.#reloadTold());
    const columns = this.#columns();
    const reload = () => this.#reload();
    const rest = [columns, jump];
    this.#conversations = new ConversationSheet(this.#context, this.#intents, rest, reload);
    main.append(this.#conversations.element, this.#handover.element, this.#package.element, columns);
  }

  #columns() {
    this.#finding.append(
      this.#filter.element,
      this.#saved.element,
      h('div', {class: 'row around'}, this.#rows.total, this.#filter.splits),
    );
    const room = h('div', {class: 'room'});
    this.#texts.append(this.#finding, this.#rows.table, this.#rows.pager, this.#bulk.element, room);
    this.#main.append(this.#import.preview, this.#texts);
    this.#aside.append(this.#import.element, this.#intentList.element);
    return h('div', {class: 'columns of-texts'}, this.#main, this.#aside);
  }

  // Without texts there is nothing to find and no table: the box that brings some stands there, once.
  #lead(isEmpty) {
    this.#jump.hidden = isEmpty; // the box is in sight
    this.#texts.hidden = isEmpty;
    const {element} = this.#import;
    const [place, next] = isEmpty ? [this.#main, this.#texts] : [this.#aside, this.#intentList.element];
    if (element.parentNode !== place) place.insertBefore(element, next); // moved, it would lose the focus
    this.#import.leads(isEmpty);
  }

  #loadOthers() {
    this.#saved.draw();
    this.#rows.loadOthers();
  }

  async #loadIntents() {
    await this.#intents.load();
    this.#filter.offer(this.#intents.sorted);
    this.#filter.count(this.#intents.counts);
    this.#bulk.offer(this.#intents.openSorted);
    this.#intentList.draw();
    this.#lead(!this.#intents.counts.total);
  }

  async #reload() {
    await Promise.all([this.#loadIntents(), this.#rows.load(), this.#context.refresh()]);
  }

  // After an act that a message told of: while its Undo stands there, the one of the heading stands back.
  async #reloadTold() {
    await this.#reload();
    this.#told = this.#context.status.undo_id;
    this.#allowSteps(this.#context.status);
  }

  #follow() {
    guarded(() => this.#loadIntents())();
    this.#rows.load();
  }

  #edit(row, kind, value, key = null) {
    const also = ['labelled', 'test']; // one row, seen with its label and its split
    const edit = {filter: {ids: [row.id]}, kind, value, key, expected: 1, also};
    return this.#edits.take(() => this.#editAsSeen(row, edit));
  }

  // A text that somebody else has changed since it was shown stays as it is.
  async #editAsSeen({id, seen}, edit) {
    const revision = Math.max(seen, this.#own.get(id) ?? 0);
    const done = await post(`${this.#context.base}/edits`, {...edit, revision});
    if (done.left.meanwhile) {
      this.#reload().catch(() => {}); // the message tells of the first error
      throw new Refused(409, 'A text was changed meanwhile.', 'Nothing was overwritten. Look at it once more.');
    }
    if (done.changed) this.#own.set(id, done.revision);
    return done;
  }

  async #decide(row, kind, value) {
    const {base} = this.#context;
    const key = newKey();
    const {changed} = await this.#edit(row, kind, value, key);
    if (!changed) return;
    const named = value ? this.#intents.byId.get(value).name : this.#intents.nothing;
    const words = {label: named, 'out-of-scope': named, unlabel: value ? `not ${named}` : 'no label'}[kind];
    toast(
      `“${row.text.slice(0, 60)}”: ${words}.`,
      '',
      'good',
      undoing(base, key, () => this.#reloadTold()),
    );
    if (kind !== 'unlabel' && !this.#intents.multi)
      await tellIfPinned(`${base}/pins`, {text: row.text, ids: () => (value ? [value] : []), words});
    await this.#reloadTold();
  }

  async #editText(row) {
    const field = h('textarea', {name: 'text', rows: 4, maxlength: 10000, 'aria-label': 'Text'}, row.text);
    const changed = h('p', {class: 'note', role: 'status', hidden: true});
    let newest = row;
    const save = ({text}) =>
      !sameLines(text, newest.text) &&
      this.#edit(newest, 'text', text).catch(async error => {
        await this.#reload().catch(() => {});
        newest = this.#rows.find(row.id) ?? newest; // Save once more puts these words in place of the others
        changed.hidden = newest.text === row.text;
        fill(changed, `Somebody else has changed it to “${newest.text}”.`);
        throw error;
      });
    if (await askToDo('Edit the text', [field, changed], 'Save', save)) await this.#reload();
  }

  async #markValues(row) {
    const {base} = this.#context;
    const marker = new Marker({base, names: new SlotNames(base), left: () => dialog.close()});
    const dialog = present('Values', marker.element);
    marker.focus();
    await marker.show(row.id);
    await dialog.closed;
    await marker.settled;
    await this.#rows.load();
  }

  async #remove(row) {
    const key = newKey();
    await this.#edit(row, 'delete', '', key);
    const undo = undoing(this.#context.base, key, () => this.#reloadTold());
    toast(`“${row.text.slice(0, 60)}” is deleted.`, '', 'good', undo);
    await this.#reloadTold();
  }

  #allowSteps(status) {
    const {revision, can_undo: verb, can_redo: again} = status;
    this.#exports.hidden = revision === 0 || this.#conversations.isAsked; // there is nothing to export
    const named = verb && undoWords(status, this.#intents.nothing);
    const {undo, redo} = this.#steps;
    undo.textContent = `Undo: ${named}${isLarge(status) ? ' …' : ''}`;
    undo.title = `Takes back the newest action: ${named} (Ctrl Z)`;
    const focused = [undo, redo].find(one => one === document.activeElement);
    undo.hidden = !verb;
    undo.toggleAttribute('data-told', status.undo_id === this.#told);
    redo.hidden = !again;
    if (focused?.hidden) [undo, redo].find(one => !one.hidden)?.focus();
  }

  #stepInTurn(which) {
    return this.#undos.take(() => this.#step(which));
  }

  // The number of the action that Undo or Redo is about, as the page shows it; null if there is none.
  #newest(which) {
    const {undo_id: undone, redo_id: redone} = this.#context.status;
    return (which === 'undo' ? undone : redone) ?? null;
  }

  async #step(which) {
    if (this.#newest(which) === null) await this.#context.refresh(); // an act may be younger than the status
    const newest = this.#newest(which); // and not what came since
    const nothing = `There is nothing to ${which}.`;
    if (newest === null) {
      toast(nothing);
      return;
    }
    const {status} = this.#context;
    const named = which === 'undo' && status.can_undo && undoWords(status, this.#intents.nothing);
    if (which === 'undo' && !(await mayUndo(status, this.#intents.nothing))) return;
    const done = await post(`${this.#context.base}/${which}`, {newest});
    const batch = done.undone ?? done.redone;
    const said = which === 'undo' ? 'Taken back' : 'Done again';
    const verb = named || actWords(batch?.verb, this.#intents.nothing);
    toast(batch ? `${said}: ${verb}, ${ago(batch.at)}.` : nothing);
    await this.#reload();
  }

  #onKey(event) {
    const typing = event.target.matches?.('input:not([type=checkbox]),textarea,select');
    if (typing || dialogIsOpen()) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z') {
      event.preventDefault();
      if (event.repeat) return; // held down, it would take back act after act
      guarded(() => this.#stepInTurn(event.shiftKey ? 'redo' : 'undo'))();
    } else if (event.key === '/') {
      event.preventDefault();
      this.#filter.focus();
    }
  }
}
