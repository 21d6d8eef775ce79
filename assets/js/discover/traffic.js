// What customers said, what gets no answer, and what changed: sentences first, each with its evidence.
import {address, inStudio} from '../shared/address.js';
import {Again} from '../shared/again.js';
import {field, fill, h, optionsOf, table} from '../shared/elements.js';
import {emptyPage, firstAct} from '../shared/first_act.js';
import {chip} from '../shared/intents.js';
import {complain, guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {failed, skeleton} from '../shared/skeleton.js';
import {moreWords, number, percent, plural} from '../shared/words.js';
import {AnsweredChart, DAY} from './answered_chart.js';
import {ComparedSources, verdict} from './compared_sources.js';
import {logImport} from './traffic_log.js';
import {above, figure, noneOf, partsRow, textsFile, within} from './traffic_parts.js';
import {Evidence} from './traffic_texts.js';

const PERIODS = [
  [7, 'week'],
  [28, '4 weeks'],
  [84, '12 weeks'],
];
const PAUSE = 1500; // milliseconds between two looks while answers are counted
const FEW = 10; // rows of a table that are shown at once
const WHAT = 'What customers said, what gets no answer, and what changed.';
const OLD = 2; // days since the newest text, from which on the page says how old it is
const [NO_GROUP, RIGHTLY_NONE] = ['in no group', 'labelled out of scope']; // the server's names
const ONE_TEXT = {text: 'where is my parcel', time: '2026-11-26T14:30:00Z', source: 'app'};

const dayOf = stamp =>
  new Date(stamp).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
// Where the true share lies in 95 of 100 cases.
const between = ({low, high}) => `${percent(low)} and ${percent(high)}`;

// `sent` is about how many came of which these texts are a fair sample; 0: all are counted.
const counted = (n, sent) =>
  sent ? `a fair sample of ${plural(n, 'text')} (of about ${number(sent)})` : plural(n, 'text');

export class TrafficTab {
  #context;
  #intents;
  #opensGroup;
  #opensSorting;
  #view = null;
  #days = 7;
  #isAll = false; // whether the table shows every intent
  #asked = 0; // number of the newest question; what earlier ones find is not shown
  #again = new Again(PAUSE, () => this.element.isConnected && this.renew());
  #chart = new AnsweredChart();
  #compared;
  #period = h('select', {'data-key': 'period', onchange: guarded(event => this.#choose(event))}, [
    optionsOf(
      PERIODS.map(([days, words]) => [String(days), `the last ${words} with texts`]),
      String(this.#days),
    ),
  ]);
  #asks = field('What people wrote in', this.#period);
  #choices = h('div', {class: 'row end'}); // the period, its dates, and what is done with the whole of it
  #top = h('div', {}, h('p', {class: 'soft'}, WHAT), this.#choices);
  #import; // the button that imports a log
  element = h('div', {class: 'stack traffic', 'data-role': 'traffic'});

  // `opensGroup` is called with the number of a group to look at, or null for all of them; `opensSorting` leads to the
  // button that groups texts; `remember` is called with an act in words, a sentence about it, and what takes it back.
  constructor(context, intents, {opensGroup, opensSorting, remember}) {
    this.#context = context;
    this.#intents = intents;
    this.#opensGroup = opensGroup;
    this.#opensSorting = opensSorting;
    this.#compared = new ComparedSources(context.base);
    this.#import = logImport(context.base, async (words, about, back) => {
      remember(words, about, back);
      await this.renew();
    });
  }

  async renew() {
    const asked = (this.#asked += 1);
    try {
      await this.#load(asked);
    } catch (error) {
      const isShown = this.#view && !this.#view.counting;
      if (asked === this.#asked && !isShown) this.#wait(failed(error, () => this.renew()));
      throw error;
    }
  }

  async #load(asked) {
    const {status, project, base} = this.#context;
    await this.#intents.load();
    if (asked !== this.#asked) return;
    if (status.champion === null) {
      this.#again.follow(false);
      const words =
        'Once a version is live, you see here what it makes of what people write. A log can be imported before.';
      const acts = [firstAct(project, this.#intents.counts), ' ', this.#import];
      fill(this.element, emptyPage('No version answers yet', words, acts));
      return;
    }
    if (!this.#view) this.#wait(skeleton('Reading what people wrote'));
    const view = await call(`${base}/traffic?days=${this.#days}`);
    if (asked !== this.#asked) return;
    this.#view = view;
    this.#draw();
    this.#again.follow(view.counting);
  }

  // The choice of the days stays, for who has it open or goes through it by keys.
  #wait(content) {
    fill(this.element, this.#choices.firstChild && this.#top, h('div', {class: 'sheet'}, content));
  }

  #draw() {
    const {covered, earlier, counting, trouble, sent, sent_before: sentBefore, blind_spots: blind} = this.#view;
    if (trouble) {
      fill(
        this.element,
        h('p', {class: 'note bad', role: 'status'}, `The texts cannot be answered: ${trouble}`),
      );
      return;
    }
    if (counting) {
      fill(
        this.element,
        this.#head(),
        h('div', {class: 'sheet'}, skeleton('The live version reads what people wrote')),
      );
      return;
    }
    if (!covered.n && !earlier.n) {
      fill(this.element, sent || sentBefore ? [this.#head(), this.#changed()] : this.#nothingSent());
      return;
    }
    fill(
      this.element,
      this.#head(),
      this.#changed(),
      this.#answered(),
      covered.n > covered.count && this.#unanswered(),
      this.#asksFor(),
      blind.length > 0 && this.#neverAsked(),
    );
    this.#chart.draw(this.#view).catch(complain);
    this.#compared.renew(this.#days, this.#view.sources);
  }

  #head() {
    const {after, before, covered, earlier, counting} = this.#view;
    const report = inStudio(`/reports/${encodeURIComponent(this.#context.project)}/traffic?days=${this.#days}`);
    const last = new Date(Date.parse(before) - DAY);
    const beside = counting || earlier.n ? `, compared with the ${this.#days} days before` : '';
    const compared = `${dayOf(after)} to ${dayOf(last)} (days by UTC)${beside}.`;
    const age = Math.floor((Date.now() - Date.parse(before)) / DAY);
    const words = age < OLD ? compared : `${compared} The newest text is ${number(age)} days old.`;
    fill(
      this.#choices,
      this.#asks,
      h('p', {class: 'soft grow'}, words),
      this.#import,
      covered.n > 0 && textsFile(this.#context.base, this.#view),
      covered.n > 0 && h('a', {class: 'button', href: report, 'data-key': 'report'}, 'Report for managers'),
    );
    return this.#top;
  }

  async #choose({target}) {
    this.#days = Number(target.value);
    this.#view = null;
    await this.renew();
  }

  #changed() {
    const {covered, earlier, changes, drifts, sent, sent_before: sentBefore, left_out: leftOut} = this.#view;
    const real = [...changes, ...drifts].filter(one => one.is_real);
    const told = changes.find(({about}) => about === 'no intent')?.verdict;
    const before = earlier.n
      ? ` Before, it was ${percent(earlier.share)} of ${counted(earlier.n, sentBefore)}${told ? `: ${told}` : ''}.`
      : '';
    const n = counted(covered.n, sent);
    const share = `${percent(covered.share)} of ${n} got an intent, likely between ${between(covered)}.`;
    const none = earlier.n
      ? `Nothing else ${leftOut && 'that is compared '}changed by more than chance.`
      : `${noneOf(sentBefore, 'the days before')}, so there is nothing to compare with.`;
    return section(
      'What changed',
      h('p', {'data-role': 'covered'}, covered.n ? share : `${noneOf(sent, 'these days')}.`, before),
      covered.n > 0 && h('p', {'data-role': 'sure'}, this.#sureWords()),
      leftOut && h('p', {class: 'soft'}, leftOut),
      real.length
        ? h(
            'ul',
            {class: 'plain-list', 'data-role': 'changes'},
            real.map(one => h('li', {}, this.#sentence(one))),
          )
        : h('p', {}, none),
    );
  }

  #sureWords() {
    const {sure, sure_before: before} = this.#view;
    const then = before.n ? ` (before: ${percent(before.share)})` : '';
    return `${percent(sure.share)} got an answer that the model is clearly sure of${then}.`;
  }

  // A group leads to Discover's acts; of an intent, the texts themselves unfold.
  #sentence(change) {
    // A drift quotes its texts; those of a source are counted below.
    if (change.what || change.about === 'source') return h('div', {dir: 'auto'}, change.sentence);
    if (change.about === 'group')
      return h('div', {}, change.sentence, ' ', this.#toGroup(Number(change.id), 'Look at the group'));
    return new Evidence(this.#context.base, this.#days, change).element;
  }

  #toGroup(id, words) {
    const group = id === null ? {} : {group: id};
    return this.#toGroups(words, {key: `to-group ${id}`, group, opens: () => this.#opensGroup(id)});
  }

  #toSorting(words) {
    return this.#toGroups(words, {key: 'to-sorting', group: {}, opens: this.#opensSorting});
  }

  #toGroups(words, {key, group, opens}) {
    const open = guarded(event => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return undefined; // a window of its own
      event.preventDefault();
      return opens();
    });
    const href = address('discover', this.#context.project, group);
    return h('a', {href, dir: 'auto', 'data-key': key, onclick: open}, words);
  }

  #answered() {
    const {sources} = this.#view;
    const rows = sources.map(one => [
      one.name,
      figure(number(one.n)),
      figure(percent(one.share)),
      figure(between(one)),
    ]);
    const head = ['Source', above('Texts'), above('Answered'), above('Likely between')];
    return section(
      'How much is answered',
      this.#chart.element,
      sources.length > 1 && [table(head, rows, {'data-role': 'sources'}), this.#compared.element],
    );
  }

  #unanswered() {
    const {uncovered, covered, sent} = this.#view;
    const missing = plural(covered.n - covered.count, 'text');
    const which = sent ? `${missing} of the sample` : missing;
    const alone = 'A labelled text counts with the answer that it would get without its own label.';
    const words = `${which} got no intent, some of them rightly. ${alone} Open a group to look through it.`;
    const isGrouped = uncovered.some(({id}) => id);
    const rows = uncovered
      .slice(0, FEW)
      .map(one => [
        this.#subject(one, isGrouped),
        figure(number(one.count)),
        figure(percent(one.share)),
      ]);
    const head = ['About', above('Texts'), above('Share of these')];
    const all = isGrouped
      ? this.#toGroup(null, 'All groups')
      : uncovered.some(({name}) => name === NO_GROUP) &&
        this.#toSorting('Sort them into groups to see what they are about');
    return section(
      'What is not answered',
      h('p', {}, words),
      table(head, rows, {'data-role': 'uncovered'}),
      h('p', {class: 'below'}, all),
      new Evidence(this.#context.base, this.#days, {id: '', sentence: 'Texts that got no intent'}).element,
    );
  }

  // A group's name alone did not tell what people had said.
  #subject({id, name, typical, mixed}, isGrouped) {
    const such = typical.map(text => `“${text}”`).join(' ');
    return h(
      'td',
      {},
      id
        ? this.#toGroup(Number(id), name)
        : name !== NO_GROUP
          ? h('span', {class: 'soft'}, name === RIGHTLY_NONE ? `rightly refused: ${name}` : name)
          : isGrouped
            ? [h('span', {class: 'soft'}, 'in no group yet: '), this.#toSorting('Sort them in')]
            : h('span', {class: 'soft'}, 'not grouped yet'),
      mixed && h('span', {class: 'soft'}, ' · a mixed group'),
      such && h('div', {class: 'soft small', 'data-role': 'typical'}, such),
    );
  }

  #asksFor() {
    const {intents, changes} = this.#view;
    const changed = new Map(changes.filter(({about}) => about === 'intent').map(one => [one.id, one]));
    const gone = [...changed.values()].filter(({after}) => !after.count).map(({after}) => after);
    const every = [...intents, ...gone];
    const shown = this.#isAll ? every : every.slice(0, FEW);
    const head = ['Intent', above('Texts'), above('Share (likely between)'), 'Change'];
    const rows = shown
      .flatMap(one => [this.#rowOf(one, changed.get(one.id)), partsRow(one, head.length)])
      .filter(Boolean);
    return section(
      'What people ask for',
      table(head, rows, {'data-role': 'volumes'}),
      shown.length < every.length &&
        h(
          'button',
          {class: 'plain', 'data-key': 'all-intents', onclick: () => this.#showAll()},
          moreWords(shown.length, every.length, every.length),
        ),
    );
  }

  #rowOf(one, change) {
    const known = this.#intents.byId.get(one.id);
    const none = this.#view.earlier.n ? 'not compared' : 'nothing to compare with';
    return [
      known ? this.#toTexts(known) : one.name,
      figure(number(one.count)),
      figure(within(one)),
      change ? changeOf(change) : h('span', {class: 'soft'}, none),
    ];
  }

  // The texts that have an intent stand on Data.
  #toTexts(intent) {
    return h('a', {href: address('data', this.#context.project, {intent: intent.id})}, chip(intent));
  }

  #showAll() {
    this.#isAll = true;
    this.#draw();
  }

  #neverAsked() {
    const which = this.#view.sent ? 'the sample' : 'these days';
    const named = new Map([...this.#intents.byId.values()].map(one => [one.name, one]));
    const chips = this.#view.blind_spots.map(name => {
      const intent = named.get(name);
      return intent ? this.#toTexts(intent) : name;
    });
    return section(
      this.#view.sent ? 'Labelled, and not in the sample' : 'Labelled, and no text of these days',
      h(
        'p',
        {},
        'These intents have ten labels or more outside the test set. ' +
          `No text of ${which} got them or is labelled so. Perhaps nobody needs them, or people say it in other words.`,
      ),
      h('div', {class: 'row', 'data-role': 'blind-spots'}, chips),
    );
  }

  #nothingSent() {
    const {project, base} = this.#context;
    const to = `${location.origin}${inStudio(`/api${base}/traffic`)}`;
    const body = JSON.stringify({texts: [ONE_TEXT]}, null, 1);
    return h(
      'div',
      {class: 'sheet', 'data-role': 'nothing-sent'},
      h('h2', {}, `What do people say to ${project}?`),
      h(
        'p',
        {},
        'Send what they write, each text with its time and its source (such as app or phone). Then you see here what ' +
          'they ask for, what gets no answer, and what changed since last week.',
      ),
      h('p', {}, 'Import a log as a table with a column of times:'),
      h('p', {}, this.#import),
      h('p', {}, 'Or let your bot send texts to this address:'),
      h('p', {}, h('code', {class: 'mono', 'data-role': 'address'}, to)),
      h('pre', {class: 'log', tabindex: 0, role: 'region', 'aria-label': 'What to send'}, body),
      h(
        'p',
        {class: 'soft small'},
        'Each request needs the token from the studio’s address. E-mail addresses and the numbers of phones, ' +
          'cards and accounts are masked before a text is stored. ' +
          'Your developers find the rest in the studio’s documentation, under “Traffic”.',
      ),
    );
  }
}

const section = (title, ...content) =>
  h('section', {class: 'sheet', 'aria-label': title}, h('h2', {}, title), content);

function changeOf(change) {
  const {before, after} = change;
  const by = 100 * (after.share - before.share);
  const words =
    Math.abs(by) < 0.05 ? 'as before' : `${by > 0 ? '▲ from' : '▼ from'} ${percent(before.share)}`;
  return h('div', {class: 'change'}, h('span', {class: 'tabular unbroken'}, words), ' ', verdict(change));
}
