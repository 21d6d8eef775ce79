// The Review page: findings, worst first; preview a repair, make it, undo it.
import {AddingTab} from './review/adding.js';
import {BorderTab} from './review/border.js';
import {FenceTab} from './review/fence.js';
import {FindingsTab} from './review/findings.js';
import {PinsTab} from './review/pins.js';
import {ReshapeTab} from './review/reshape.js';
import {address, query, setQuery} from './shared/address.js';
import {Behind} from './shared/behind.js';
import {fill, h} from './shared/elements.js';
import {emptyPage, firstAct} from './shared/first_act.js';
import {Intents} from './shared/intents.js';
import {dialogIsOpen, guarded} from './shared/messages.js';
import {newKey} from './shared/new_key.js';
import {Newest, whenLabelsCount, WHEN_TESTS_COUNT} from './shared/newest.js';
import {gainsOf} from './shared/radius.js';
import {call, post} from './shared/rest.js';
import {Turns} from './shared/turns.js';
import {number} from './shared/words.js';
import {frame} from './studio.js';

const LABELLING = new Set(['relabel', 'add', 'delete', 'merge', 'split']); // repairs that change what labels say
const LEAD = 'What makes answers wrong, and what mends it. You see what a change does before you make it.';

export const mount = view =>
  frame(view, 'review', 'Review', LEAD, context => new ReviewPage(context).start());

class ReviewPage {
  #context;
  #intents;
  #findings;
  #tabs;
  #tab;
  #switch = h('div', {class: 'tabs', role: 'group', 'aria-label': 'What to look at'});
  #broken = h('span', {'data-role': 'broken-pins'}); // stands on the tab of pins
  #place = h('div');
  #newest = new Newest(one => this.#takeBack(one)); // of each action: key, words, finding and repair
  #turns = new Turns(); // actions and undos reach the server in order
  #counts = 0; // number of the newest count of pins; older answers are dropped
  // The page is not redrawn behind an open dialog, but as soon as the dialog closes.
  #behind = new Behind(dialogIsOpen, () => this.#renew().catch(() => {})); // the header shows the error

  constructor(context) {
    this.#context = context;
    this.#intents = new Intents(context.base, context.status.task);
    const tools = {
      base: context.base,
      intents: this.#intents,
      act: (...given) => this.#act(...given),
      noted: (...given) => this.#note(...given),
      pinsChanged: () => this.#countPins(),
      refresh: () => context.refresh(),
      champion: () => context.status.champion,
      isLoading: () => context.status.model === 'loading',
    };
    this.#findings = new FindingsTab(tools);
    this.#tabs = [
      ['findings', 'Findings', this.#findings],
      ['border', 'Borders', new BorderTab(tools)],
      ['reshape', 'Reshape intents', new ReshapeTab(tools)],
      ['add', 'Add an example', new AddingTab(tools)],
      ['fence', 'Out of scope', new FenceTab(tools)],
      ['pins', 'Pins', new PinsTab(tools)],
    ];
  }

  async start() {
    const above = h('div', {class: 'row above'}, this.#switch, this.#newest.element);
    this.#context.main.append(above, this.#place);
    if (this.#context.status.champion === null) await this.#untilOneAnswers();
    await this.#intents.load();
    document.addEventListener('keydown', event => {
      if (this.#place.isConnected) this.#newest.onKey(event, key => this.#tab.onKey?.(key));
    });
    const opened = this.#open(query().get('tab') ?? 'findings');
    // Including changes since the page was loaded.
    this.#context.onStatus((status, before) => this.#onStatus(status, before));
    await opened;
  }

  // Says what comes before a review, until the first version answers.
  async #untilOneAnswers() {
    const {counts} = await this.#intents.load();
    const {project} = this.#context;
    let told = null;
    await new Promise(answers => {
      this.#context.onStatus(({champion, job}) => {
        if (champion !== null) answers();
        const isTraining = job?.kind === 'train';
        if (champion !== null || isTraining === told) return;
        told = isTraining;
        fill(this.#place, isTraining ? beingTrained(project) : untrained(project, counts));
      });
    });
    fill(this.#place);
  }

  #onStatus(status, before) {
    if (!before) return;
    if (before.champion === status.champion && before.revision === status.revision) return;
    this.#behind.note();
  }

  async #renew(finding) {
    await this.#intents.load();
    await Promise.all([this.#tab.renew(finding), this.#countPins()]);
  }

  // A broken pin is told on the tab, whichever is open.
  async #countPins() {
    const asked = (this.#counts += 1);
    const pins = await call(`${this.#context.base}/pins`);
    if (asked !== this.#counts) return;
    const broken = pins.filter(({kept}) => kept === false).length;
    fill(this.#broken, broken > 0 && h('span', {class: 'badge bad'}, `${number(broken)} broken`));
  }

  async #open(name) {
    const [path, , tab] = this.#tabs.find(([one]) => one === name) ?? this.#tabs[0];
    this.#tab = tab;
    setQuery({tab: path === 'findings' ? '' : path});
    fill(
      this.#switch,
      this.#tabs.map(([one, words]) => this.#button(one, words, one === path)),
    );
    fill(this.#place, tab.element);
    await Promise.all([tab.renew(), this.#countPins()]);
  }

  #button(name, words, pressed) {
    const open = guarded(() => this.#open(name));
    const about = {'aria-pressed': String(pressed), 'data-key': name, onclick: open};
    return h('button', about, words, name === 'pins' && this.#broken);
  }

  // Makes a repair, or without one keeps the data as it is; both can be undone. `seen` is the revision at which the
  // texts in sight were read, `blast` what it was foretold to change; `isTest`, whether it is about a test text.
  async #act(repair, words, {finding = '', seen = null, blast = null, isTest = false} = {}) {
    const about = LABELLING.has(repair?.kind) && (isTest ? WHEN_TESTS_COUNT : whenLabelsCount(this.#context.status));
    const one = {key: newKey(), words, finding, repair, gain: blast && gainsOf(blast, repair.kind), about};
    this.#newest.add(one);
    this.#findings.leaveOut(one);
    try {
      await this.#send('act', {key: one.key, finding, repair, seen});
    } catch (error) {
      this.#newest.drop(one);
      this.#findings.takeIn(one);
      this.#renew().catch(() => {}); // the message tells of the first error
      throw error;
    }
    this.#newest.saved(one);
    this.#findings.takeIn(one);
    await Promise.all([this.#renew(), this.#context.refresh()]);
  }

  // A pin is no change of the data, but Undo and U take it back like one; returns what the Undo of its message does.
  #note(words, back) {
    const one = {key: newKey(), words, finding: '', repair: null, back, isSaved: true};
    this.#newest.add(one);
    guarded(() => this.#countPins())();
    return () => this.#newest.undo(one);
  }

  async #takeBack(one) {
    const undoing = {finding: '', repair: one.repair};
    this.#findings.bringBack(one);
    this.#findings.leaveOut(undoing);
    try {
      await (one.back ? this.#turns.take(one.back) : this.#send('undo', {key: one.key}));
    } catch (error) {
      this.#findings.takeIn(undoing);
      this.#findings.takeIn(one);
      this.#renew().catch(() => {}); // the message tells of the first error
      throw error;
    }
    this.#findings.takeIn(undoing);
    this.#findings.takeIn(one);
    this.#renew(one.finding).catch(() => {}); // the header shows the error
    this.#context.refresh().catch(() => {});
  }

  #send(what, body) {
    return this.#turns.take(() => post(`${this.#context.base}/review/${what}`, body));
  }
}

const beingTrained = project =>
  emptyPage(
    'The first training runs',
    'Review shows what misleads the model once there is one. You can label on meanwhile.',
    h('a', {class: 'button primary', href: address('train', project)}, 'Follow the training'),
  );

const untrained = (project, counts) =>
  emptyPage(
    'There is no model yet',
    'Review looks for labels and texts that mislead the model. First import texts, label a few per intent, and train.',
    firstAct(project, counts),
  );
