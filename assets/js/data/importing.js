// Import: drop a file or paste texts, see every case counted, then import all of it or nothing.
import {address} from '../shared/address.js';
import {fill, h, table} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {firstAct} from '../shared/first_act.js';
import {icon} from '../shared/icons.js';
import {deleteOnLeaving} from '../shared/leaving.js';
import {complain, guarded, toast} from '../shared/messages.js';
import {call, post, upload} from '../shared/rest.js';
import {SecondClick} from '../shared/second_click.js';
import {undoing} from '../shared/undoing.js';
import {number, plural} from '../shared/words.js';
import {AlsoTraffic} from './also_traffic.js';
import {Cases, countsOf} from './cases.js';
import {AFTER, givenIn, summary, validationWords, whereTo} from './import_words.js';
import {Mapping} from './mapping.js';
import {PLATFORMS} from './package.js';
import {PasteBox} from './pasting.js';
import {Questions} from './questions.js';

const SHOWN = 5; // rows
const SHORT = 20; // signs of a cell
const ENDINGS = '.csv,.tsv,.txt,.jsonl,.ndjson,.json,.yml,.yaml,.md,.xlsx,.parquet,.arrow,.lu,.zip';

export class ImportSheet {
  preview = h('section', {class: 'sheet import-preview', 'aria-label': 'Preview of the import', hidden: true});
  #base;
  #uploads;
  #multi;
  #context;
  #intents;
  #imported;
  #picker;
  #drop;
  #choosing;
  #lead = h('p', {hidden: true}, 'Choose a file, with labels or without, or paste some in.');
  #title = h('h2', {}, 'Import');
  #wish = ''; // “test” where a link leads here to bring test texts
  #questions = new Questions();
  #traffic = null; // whether the texts of the file in the preview count as traffic, too
  #stays = () => {}; // the file in the preview is not deleted any more as the page is left
  #drawButtons = () => {};
  #secondClick = new SecondClick();
  #asked = 0; // number of the newest preview; older answers are dropped

  // Calls `imported` after the utterances have changed.
  constructor(context, intents, imported) {
    this.#context = context;
    this.#base = context.base;
    this.#uploads = `${context.base}/uploads`;
    this.#multi = context.status.task === 'multi-label';
    this.#intents = intents;
    this.#imported = imported;
    this.#picker = h('input', {
      type: 'file',
      class: 'hidden-text',
      'aria-label': 'File to import',
      accept: ENDINGS,
      onchange: event => this.#send(event.target.files[0]),
    });
    this.#choosing = h('button', {type: 'button', onclick: () => this.#picker.click()}, 'Choose a file');
    this.#drop = this.#makeDrop();
    const paste = new PasteBox(file => this.#send(file));
    const logs = h('a', {href: address('data#conversations', context.project)}, 'add a log');
    const whole = h('p', {class: 'small soft'}, 'Whole conversations: ', logs, '.');
    this.element = h(
      'section',
      {class: 'sheet', 'aria-label': 'Import'},
      this.#title,
      this.#lead,
      this.#drop,
      paste.element,
      whole,
    );
  }

  // Brings the box into sight, for who comes from another page to import; `wish` is the set that a file becomes.
  focus(wish = this.#wish) {
    this.#wish = wish === 'test' ? wish : '';
    this.#title.textContent = this.#name;
    this.element.scrollIntoView({block: 'nearest'});
    this.#drop.querySelector('button').focus({preventScroll: true});
  }

  get #name() {
    return this.#wish ? 'Import test texts' : 'Import';
  }

  // Where there is no text yet, the box is what the page is about, and its button is the act of the page.
  leads(is) {
    this.element.classList.toggle('empty', is);
    this.#lead.hidden = !is;
    this.#title.textContent = is ? 'No texts yet' : this.#name;
    this.#choosing.textContent = is ? 'Import texts' : 'Choose a file';
    this.#choosing.classList.toggle('primary', is);
    if (is) this.#choosing.dataset.role = 'first-act';
    else delete this.#choosing.dataset.role;
  }

  #makeDrop() {
    const over = is => event => {
      event.preventDefault();
      this.#drop.classList.toggle('over', is);
    };
    return h(
      'div',
      {
        class: 'drop',
        ondragenter: over(true),
        ondragover: over(true),
        ondragleave: over(false),
        ondrop: event => {
          over(false)(event);
          this.#send(event.dataTransfer.files[0]);
        },
      },
      h('p', {}, 'Drop a file here: a table, plain text, or the export of a bot platform'),
      this.#choosing,
      this.#picker,
    );
  }

  #send = guarded(async file => {
    if (!file) return;
    const asked = (this.#asked += 1);
    this.#questions.leave();
    this.#questions = new Questions();
    this.#leaveTraffic();
    this.#traffic = new AlsoTraffic(this.#context, file, () => this.#drawButtons());
    this.#drop.setAttribute('aria-busy', 'true');
    this.#say(h('div', {class: 'soft', role: 'status'}, `Reading ${file.name} …`));
    try {
      const incoming = await upload(this.#uploads, file);
      const stays = deleteOnLeaving(`${this.#uploads}/${incoming.key}`);
      if (asked !== this.#asked) return;
      this.#stays = stays;
      if (this.#wish || TESTS.test(file.name)) await this.#look(incoming.key, {split: 'test'});
      else this.#show(incoming);
    } catch (error) {
      if (asked !== this.#asked) complain(error);
      else this.#say(problemOf({problem: error.message, hint: error.hint}, closer(() => this.#say())));
    } finally {
      this.#drop.removeAttribute('aria-busy');
      this.#picker.value = '';
    }
  });

  #leaveTraffic() {
    this.#traffic?.leave().catch(() => {}); // the server forgets it by itself after a day
    this.#traffic = null;
  }

  #say(...content) {
    this.preview.hidden = content.length === 0;
    fill(this.preview, content);
    if (this.preview.hidden) return;
    const {top} = this.preview.getBoundingClientRect();
    const isSeen = top >= 0 && top < innerHeight / 2;
    if (!isSeen) this.preview.scrollIntoView({block: 'start'}); // where its beginning is read, and its acts are seen
  }

  // Reads the file again as the person says now.
  async #look(key, chosen) {
    const asked = (this.#asked += 1);
    this.preview.setAttribute('aria-busy', 'true');
    try {
      const incoming = await post(`${this.#uploads}/${key}/look`, chosen);
      if (asked !== this.#asked) return;
      // What was said of all rows does not apply where a column says it of each.
      if (chosen.split && incoming.preview.split_column) await this.#look(key, {...chosen, split: null});
      else this.#show(incoming, chosen);
    } finally {
      this.preview.removeAttribute('aria-busy');
    }
  }

  // `chosen` is what the person said of columns and cases; without it the server guesses.
  #show(incoming, chosen = {}) {
    const {key, preview, report} = incoming;
    const again = guarded(more => this.#look(key, {...chosen, ...mapping.values, ...cases.values, ...more}));
    const mapping = new Mapping(preview, {chosen, multi: this.#multi, changed: again});
    const buttons = h('div', {class: 'row import-acts'}); // in sight, however long the preview is
    const looked = chosen.exceptions?.length ?? 0; // exceptions that the report counts
    this.#traffic?.show(preview);
    const draw = () => fill(buttons, this.#buttons(incoming, {...mapping.values, ...cases.values}, looked));
    const cases = new Cases(report, {chosen, nothing: this.#intents.nothing, changed: again, ticked: draw});
    const {nothing} = this.#intents;
    const said = ([text, intent]) => [text, intent === NO_INTENT ? nothing : intent];
    const rows = preview.rows.slice(0, SHOWN).map(row => (report?.package ? said(row) : row));
    this.#say(
      h(
        'div',
        {class: 'stack', 'data-role': 'preview'},
        h('h2', {}, `Import “${incoming.name}”`),
        shownOf(rows.length, report),
        table(preview.columns, rows.map(row => row.map(unbroken))),
        mapping.form,
        this.#traffic?.element,
        incoming.problem
          ? problemOf(incoming)
          : h('div', {class: 'note'}, rows.length ? outlook(report) : NO_ROWS),
        preview.columns.length > 1 && !preview.intent_column && chosen.intent_column !== '' && noLabels(),
        !incoming.problem && rows.length > 0 && destination(mapping.values.split, report),
        !incoming.problem && forValidation(report),
        cases.element,
        buttons,
      ),
    );
    this.#drawButtons = draw;
    this.#questions.watch(cases.lists, buttons, draw);
  }

  #buttons(incoming, values, looked) {
    const cancel = guarded(async () => {
      this.#asked += 1;
      this.#say();
      this.#leaveTraffic();
      this.#stays();
      await call(`${this.#uploads}/${incoming.key}`, {method: 'DELETE'});
    });
    return [
      ...(this.#questions.open.length ? this.#toQuestions() : [this.#taking(incoming, values, looked)]),
      h('button', {'data-key': 'cancel', onclick: cancel}, 'Cancel'),
    ];
  }

  // Import waits until all questions were in sight. Their number is the same on every screen.
  #toQuestions() {
    const {all} = this.#questions;
    const lead = () => this.#questions.lead();
    const several = `Go to ${number(all.length)} choices made for you`;
    const words = all.length === 1 ? 'Go to the choice made for you' : several;
    const those = all.length === 1 ? 'the choice' : `the ${number(all.length)} choices`;
    const whyNot = `Import is possible after you have seen ${those}.`;
    return [
      h('button', {class: 'primary', 'data-key': 'questions', onclick: lead}, words),
      h('button', {disabled: true}, 'Import'),
      h('span', {class: 'soft small', 'data-role': 'why-not'}, whyNot),
    ];
  }

  #taking({key, report}, values, looked) {
    const {added, labelled, relabelled, marked, completed} = report ?? {};
    const changes = added || labelled || relabelled || marked || completed;
    const also = this.#traffic?.n ?? 0;
    const nothing = report && !changes && !values.exceptions.length && !also;
    const take = event => !this.#secondClick.is(event) && this.#take(key, {...values, counted: countsOf(report)});
    const more = also > 0 ? `, count ${number(also)} as traffic` : '';
    const words = nothing ? 'Nothing new to import' : importing(report, values, looked) + more;
    const waits = !report || nothing || Boolean(this.#traffic?.isCounting);
    return busyButton(words, take, {class: 'primary', disabled: waits, 'data-key': 'import'});
  }

  // A look that is under way would bring back what is imported now, and another file may be chosen meanwhile.
  async #take(key, values) {
    const asked = (this.#asked += 1);
    this.#stays(); // leaving the page does not stop the import
    try {
      const report = await post(`${this.#uploads}/${key}/import`, values);
      const also = await this.#storeTraffic();
      if (asked === this.#asked) this.#done(report, values.split, also);
      else toast(summary(report, AFTER), '', 'good', undoing(this.#base, report.key, this.#imported));
      await this.#imported();
      this.#leadOn();
    } catch (error) {
      const stays = deleteOnLeaving(`${this.#uploads}/${key}`);
      if (asked === this.#asked) this.#stays = stays;
      if (error.status !== 409) throw error;
      complain(error); // the project has changed since it was counted
      if (asked === this.#asked) await this.#look(key, {...values, counted: null});
      await this.#imported();
    }
  }

  // The texts are imported whatever comes of it.
  async #storeTraffic() {
    const traffic = this.#traffic;
    this.#traffic = null;
    return (await traffic?.store().catch(complain)) ?? null;
  }

  // Before the first model, what comes after texts.
  #leadOn() {
    if (this.#context.status.champion !== null) return;
    const next = firstAct(this.#context.project, this.#intents.counts);
    this.preview.querySelector('[data-role=next]')?.replaceChildren(next);
  }

  #done(report, split, also) {
    const over = () => {
      this.#say();
      return this.#imported();
    };
    const back = report.key ? undoing(this.#base, report.key, over) : over;
    const undo = async () => {
      await also?.undo(); // before its texts go
      await back();
    };
    this.#say(
      h(
        'div',
        {class: 'note good row', role: 'status', 'data-role': 'imported'},
        h('span', {class: 'grow'}, summary(report, AFTER), also?.words, destination(split, report)),
        h('span', {'data-role': 'next'}),
        h('button', {'data-role': 'undo', onclick: guarded(undo)}, 'Undo'),
        closer(() => this.#say()),
      ),
    );
  }
}

// The file's rows are all counted, and a few of them are shown.
function shownOf(n, report) {
  const total = (report?.cases ?? []).reduce((sum, {rows}) => sum + rows, 0);
  if (total <= n) return null;
  return h('p', {class: 'small soft', 'data-role': 'rows shown'}, `${number(n)} of ${plural(total, 'row')} shown`);
}

// A date or a channel stays on one line.
const unbroken = cell => (cell.length <= SHORT ? h('span', {class: 'unbroken'}, cell) : cell);

const NO_INTENT = '|'; // how a file says it
const NO_ROWS = 'This file has no row with a text. Choose another file, or read it another way above.';

const problemOf = ({problem, hint}, close) =>
  h(
    'div',
    {class: 'note bad row', role: 'alert'},
    h('div', {class: 'grow'}, problem, h('div', {class: 'small'}, hint)),
    close,
  );

const closer = close =>
  h('button', {class: 'plain', 'aria-label': 'Close this message', onclick: close}, icon('x'));

const noLabels = () =>
  h(
    'div',
    {class: 'note warn', 'data-role': 'no-labels'},
    'No column is read as the intent, so these texts come without labels. Choose it above if there is one.',
  );

// The button says how many texts it changes; `looked` exceptions are in the report, those of `values` are ticked now.
function importing(report, {otherwise, exceptions}, looked) {
  if (!report) return 'Import'; // the file cannot be read as it is
  const more = (exceptions.length - looked) * (otherwise === 'mine' ? 1 : -1);
  const n = report.added + givenIn(report) + report.relabelled + more;
  return n > 0 ? `Import ${plural(n, 'text')}` : 'Import';
}

const destination = (split, report) =>
  h('div', {class: 'small', 'data-role': 'destination'}, whereTo(split, report));

// Nobody would miss a set that is read as another one.
const forValidation = ({validation}) =>
  validation > 0 && h('div', {class: 'small', 'data-role': 'validation'}, validationWords(validation));

// A file that is called a test set is taken for one; the list beside the columns says so.
const TESTS = /(^|[^a-z])(test|tests|testset|eval|evaluation|heldout|held-out)([^a-z]|$)/i;

function outlook(report) {
  const onIntents = report.examples.filter(example => /^The (new )?intent '/.test(example));
  const convention =
    report.convention && h('div', {class: 'small soft', 'data-role': 'convention'}, report.convention);
  return [
    packageWords(report.package),
    summary(report),
    onIntents.map(words => h('div', {class: 'small'}, words)),
    convention,
  ];
}

// What was read of a platform's package; the rest of it stays there.
function packageWords(found) {
  if (!found) return null;
  const filled = found.files.filter(({phrases}) => phrases > 0).length;
  const read = `${PLATFORMS[found.platform]}: phrases in ${plural(filled, 'file')}. `;
  const stays = found.losses.map(({what, count}) => `${what} (${number(count)})`).join(', ');
  const values = Object.entries(found.values).map(([slot, count]) => `${slot} (${number(count)})`);
  const book = values.length > 0 && h('div', {class: 'small soft'}, `Values for the slot book: ${values.join(', ')}.`);
  const rest = `Texts and their labels are read, and no ${found.unread}. Export, “Back into an agent” keeps these.`;
  return [
    read,
    book,
    stays && h('div', {class: 'small soft'}, `Stay in the package alone: ${stays}.`),
    found.unread && h('div', {class: 'small soft', 'data-role': 'unread'}, rest),
  ];
}
