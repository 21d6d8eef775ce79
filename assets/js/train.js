// The Train page: one button with an estimate, progress that survives a reload, then a proposal.
import {fill, h} from './shared/elements.js';
import {firstAct} from './shared/first_act.js';
import {guarded, toast} from './shared/messages.js';
import {call, post} from './shared/rest.js';
import {frame} from './studio.js';
import {BaseChoice} from './train/base.js';
import {earlierTable, isOver, jobView} from './train/job.js';
import {Proposal} from './train/proposal.js';
import {RecipeSettings} from './train/settings.js';

const LEAD = 'Training happens in the background: you may leave this page, label on, or close the browser.';
const FIRST_CHOICE = 'convfit';
// What recipes learn from, and what to do where there is none of it.
const SOURCES = [
  {name: 'labels', title: 'From your labels'},
  {
    name: 'templates',
    title: 'From your marked values',
    lacks: status => !status.marked,
    why: 'This project has no marked values: mark some on the Label page, or import a file that has them.',
  },
  {
    name: 'conversations',
    title: 'From your conversations',
    lacks: status => status.conversations === 0,
    why: 'This project has no conversations: import a log on the Data page.',
  },
];
const SEVERAL_INTENTS = 'Here an utterance may have several intents; this recipe knows one name for each.';
const GATE = 'No pin is broken, and accuracy is not lower than chance explains';
const GATE_WORDS =
  'promote the result by itself if it passes the gate: no pin broken, and accuracy not lower beyond noise';

export const mount = view => frame(view, 'train', 'Train', LEAD, context => new TrainPage(context).start());

class TrainPage {
  #context;
  #recipe = localStorage.getItem('recipe') ?? FIRST_CHOICE; // its name
  #cards = []; // of each recipe: what the studio says of it, where its data come from, and its button
  #settings = new RecipeSettings(() => this.#estimate());
  #running = null; // the training under way
  #started = null; // the id of the one that was started here
  #following = false;
  #estimates = 0; // number of the newest request; older answers are dropped
  #estimated = h('p', {role: 'status', 'data-role': 'estimate'});
  #defaults = h('p', {class: 'soft small', 'data-role': 'defaults'});
  #gate;
  #base;
  #gateLine;
  #start;
  #live = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Training'});
  #earlier = h('section', {class: 'sheet', 'aria-label': 'Earlier trainings'});
  #proposal;

  constructor(context) {
    this.#context = context;
    this.#proposal = new Proposal(context);
    this.#base = new BaseChoice(context.base);
    this.#gate = h('input', {
      type: 'checkbox',
      checked: context.status.auto_promote,
      onchange: guarded(event => this.#keepGate(event.target.checked)),
    });
    this.#gateLine = h('label', {class: 'check', title: GATE}, this.#gate, GATE_WORDS);
    this.#start = h(
      'button',
      {
        class: 'primary',
        style: {'font-size': '17px', padding: '11px 26px'},
        onclick: guarded(() => this.#train()),
      },
      'Train',
    );
  }

  async start() {
    const [recipes] = await Promise.all([call('/recipes'), this.#settings.load(this.#context.base)]);
    this.#cards = recipes.map(recipe => this.#makeCard(recipe));
    this.#layOut();
    this.#context.onStatus((status, before) => this.#onStatus(status, before));
    this.#showChoice();
    await Promise.all([this.#estimate(), this.#base.load(), this.#follow()]);
  }

  #layOut() {
    const estimated = h('div', {style: {flex: '1', 'min-width': '240px'}}, this.#estimated, this.#defaults);
    this.#context.main.append(
      h(
        'section',
        {class: 'sheet'},
        h(
          'div',
          {role: 'radiogroup', 'aria-label': 'Recipe'},
          SOURCES.map(source => [
            h('h3', {}, source.title),
            h(
              'div',
              {class: 'cards'},
              this.#cards.filter(card => card.source === source).map(card => card.button),
            ),
          ]),
        ),
        this.#base.element,
        this.#settings.element,
        h('div', {class: 'row', style: {'margin-top': '14px'}}, this.#start, estimated),
        this.#gateLine,
      ),
      this.#live,
      this.#proposal.element,
      this.#earlier,
    );
  }

  #makeCard(recipe) {
    const source = SOURCES.find(({name}) => name === recipe.learns_from);
    const why = h('span', {class: 'why small', hidden: true});
    const button = h(
      'button',
      {class: 'choice', role: 'radio', onclick: () => this.#choose(recipe.recipe)},
      h('strong', {}, recipe.title),
      h('span', {class: 'soft'}, recipe.summary),
      why,
    );
    return {recipe, source, button, why};
  }

  get #chosen() {
    return this.#cards.find(({recipe}) => recipe.recipe === this.#recipe)?.recipe;
  }

  #choose(recipe) {
    this.#recipe = recipe;
    localStorage.setItem('recipe', recipe);
    this.#showChoice();
    this.#drawStart();
    this.#estimate();
  }

  #showChoice() {
    for (const {recipe, source, button, why} of this.#cards) {
      why.textContent = this.#whyNot(recipe, source);
      why.hidden = !why.textContent;
      button.disabled = !why.hidden;
      if (button.disabled && recipe.recipe === this.#recipe) this.#recipe = FIRST_CHOICE;
    }
    if (!this.#chosen) this.#recipe = FIRST_CHOICE;
    for (const {recipe, button} of this.#cards)
      button.setAttribute('aria-checked', String(recipe.recipe === this.#recipe));
    this.#base.for(this.#chosen);
    this.#gateLine.hidden = this.#chosen.makes === 'encoder';
    this.#settings.show(this.#recipe);
  }

  // Why a recipe cannot be used here; '' where it can.
  #whyNot({tasks}, source) {
    const {status} = this.#context;
    if (!tasks.includes(status.task)) return SEVERAL_INTENTS;
    return source.lacks?.(status) ? source.why : '';
  }

  get #wish() {
    const settings = this.#settings.of(this.#recipe);
    return {recipe: this.#recipe, settings, base: this.#base.value, gate: this.#gate.checked};
  }

  async #keepGate(checked) {
    await call(this.#context.base, {method: 'PATCH', body: {auto_promote: checked}});
  }

  async #estimate() {
    const asked = ++this.#estimates;
    try {
      const {sentence, defaults} = await post(`${this.#context.base}/estimate`, this.#wish);
      if (asked !== this.#estimates) return;
      this.#estimated.className = '';
      this.#estimated.textContent = sentence;
      this.#defaults.textContent = defaults;
      this.#start.disabled = Boolean(this.#running);
    } catch (error) {
      if (asked !== this.#estimates) return;
      this.#estimated.className = 'bad';
      this.#estimated.textContent = `${error.message} ${error.hint}`;
      this.#start.disabled = error.status === 422;
      if (error.status === 422) await this.#offerLabels(asked).catch(() => {}); // the error is shown
    }
  }

  // Where nothing can be trained yet, the page leads to what it lacks.
  async #offerLabels(asked) {
    const {counts} = await call(`${this.#context.base}/overview`);
    if (asked === this.#estimates && this.#chosen?.learns_from === 'labels')
      this.#estimated.append(' ', firstAct(this.#context.project, {...counts, labelled: 0}));
  }

  async #train() {
    this.#start.disabled = true;
    try {
      this.#started = (await post(`${this.#context.base}/train`, this.#wish)).job;
    } catch (error) {
      this.#start.disabled = false;
      throw error;
    }
    this.#proposal.hide();
    await this.#context.refresh();
    await this.#follow();
  }

  async #follow() {
    const all = await call(`${this.#context.base}/jobs`);
    const jobs = all.filter(job => job.kind === 'train');
    const before = this.#running;
    this.#running = jobs.find(job => !isOver(job)) ?? null;
    const ended = before && !this.#running ? jobs.find(job => job.id === before.id) : null;
    this.#drawStart();
    this.#drawJob(this.#running ?? jobs.find(job => job.id === this.#started) ?? jobs[0]);
    this.#drawEarlier(jobs);
    if (ended) {
      await Promise.all([this.#context.refresh(), this.#base.load()]);
      await this.#estimate();
    }
    if (ended?.state === 'failed') toast(ended.message, ended.hint, 'bad');
    await this.#proposal.draw();
  }

  #drawStart() {
    const first = this.#context.status.champion === null || this.#chosen.makes === 'encoder';
    const again = first ? 'Train' : 'Retrain';
    this.#start.disabled = Boolean(this.#running);
    this.#start.textContent = this.#running ? 'Training …' : again;
  }

  #drawJob(job) {
    if (!job) return;
    const act = verb =>
      guarded(async () => {
        await post(`/jobs/${job.id}/${verb}`);
        await this.#context.refresh();
        await this.#follow();
      });
    const use = () => {
      this.#base.choose(job.result.model);
      this.#choose(FIRST_CHOICE);
      window.scrollTo({top: 0});
    };
    this.#live.hidden = false;
    fill(this.#live, jobView(job, {cancel: act('cancel'), resume: act('resume'), use}));
  }

  #drawEarlier(jobs) {
    const table = earlierTable(jobs);
    this.#earlier.hidden = !table;
    fill(this.#earlier, h('h2', {}, 'Earlier trainings'), table);
  }

  async #onStatus(status, before) {
    if (!before) return;
    if (SOURCES.some(({lacks}) => lacks && lacks(before) !== lacks(status))) this.#showChoice();
    if (before.auto_promote !== status.auto_promote) this.#gate.checked = status.auto_promote; // changed in another tab
    const decided = status.candidate !== before.candidate || status.champion !== before.champion;
    if (this.#following || !(status.job || this.#running || decided)) return;
    this.#following = true;
    await this.#follow().catch(() => {}); // the header shows that the studio does not answer
    this.#following = false;
  }
}
