// One button; what it will do and how long it takes; progress that survives a reload; then a proposal.
import {fill, h} from './shared/elements.js';
import {guarded, toast} from './shared/messages.js';
import {call, post} from './shared/rest.js';
import {frame} from './studio.js';
import {BaseChoice} from './train/base.js';
import {earlierTable, isOver, jobView} from './train/job.js';
import {Proposal} from './train/proposal.js';
import {RecipeSettings} from './train/settings.js';

const LEAD = 'Training happens in the background: you may leave this page, label on, or close the browser.';
const RECIPES = [
  [
    'instant',
    'Instant',
    'Keeps the encoder as it is; the examples vote. Ready in seconds. ' +
      'For a first look, and while labels are few.',
  ],
  [
    'convfit',
    'ConvFiT',
    'Tunes the encoder so that examples of one intent come close together. ' +
      'The most accurate; takes a minute or more, and 90 MB for each version.',
  ],
  [
    'adapter',
    'Adapter',
    'Leaves the encoder as it is and tunes narrow layers inside it. About as accurate and as quick; ' +
      'a version takes about 1 MB instead of 90, and all projects share one encoder in memory.',
  ],
  [
    'label-encoder',
    'Names',
    'Tunes two encoders so that an utterance comes close to the name and description of its intent, ' +
      'and lets names vote beside the examples. For intents with few examples or none.',
  ],
  [
    'templates',
    'Templates',
    'Brings utterances close to their templates, in which marked values are left out; no label is needed. ' +
      'Makes an encoder that the recipes above can start from.',
  ],
  [
    'dialogues',
    'Dialogues',
    'Learns from your conversations which turn follows which; no label is needed. ' +
      'Makes an encoder that the recipes above can start from.',
  ],
  [
    'convert',
    'ConveRT',
    'Trains a small, quick encoder of its own from your conversations alone, ' +
      'to start from and to rank replies with.',
  ],
];
// What recipes learn from, and what to do where there is none of it. All but the first make encoders.
const SOURCES = [
  {title: 'From your labels', recipes: ['instant', 'convfit', 'adapter', 'label-encoder']},
  {
    title: 'From your marked values',
    recipes: ['templates'],
    lacks: status => !status.marked,
    why: 'This project has no marked values: mark some on the Label page, or import a file that has them.',
  },
  {
    title: 'From your conversations',
    recipes: ['dialogues', 'convert'],
    lacks: status => status.conversations === 0,
    why: 'This project has no conversations: import a log on the Data page.',
  },
];
const sourceOf = recipe => SOURCES.find(({recipes}) => recipes.includes(recipe)) ?? SOURCES[0];
const makesEncoder = recipe => sourceOf(recipe) !== SOURCES[0];
const ONE_INTENT = ['label-encoder']; // bring an utterance to one name, and hold it off from all others
const SEVERAL_INTENTS = 'Here an utterance may have several intents; this recipe knows one name for each.';
const whyNot = recipe => (ONE_INTENT.includes(recipe) ? SEVERAL_INTENTS : sourceOf(recipe).why);
const GATE = 'No pin is broken, and accuracy is not lower than chance explains';
const GATE_WORDS =
  'promote the result by itself if it passes the gate: no pin broken, and accuracy not lower beyond noise';

export const mount = view => frame(view, 'train', 'Train', LEAD, context => new TrainPage(context).start());

class TrainPage {
  #context;
  #recipe = localStorage.getItem('recipe') ?? 'convfit';
  #settings = new RecipeSettings(() => this.#estimate());
  #running = null; // the training under way
  #started = null; // the id of the one that was started here
  #following = false;
  #estimates = 0; // how many were asked for; only the newest answer counts
  #choices = this.#makeChoices();
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
    this.#layOut();
    await this.#settings.load(this.#context.base);
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
          SOURCES.map(source => [h('h3', {}, source.title), h('div', {class: 'cards'}, this.#cards(source))]),
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

  #makeChoices() {
    return RECIPES.map(([recipe, name, words]) =>
      h(
        'button',
        {class: 'choice', role: 'radio', onclick: () => this.#choose(recipe)},
        h('strong', {}, name),
        h('span', {class: 'soft'}, words),
        whyNot(recipe) && h('span', {class: 'why small', hidden: true}, whyNot(recipe)),
      ),
    );
  }

  #cards(source) {
    return this.#choices.filter((_, place) => sourceOf(RECIPES[place][0]) === source);
  }

  #choose(recipe) {
    this.#recipe = recipe;
    localStorage.setItem('recipe', recipe);
    this.#showChoice();
    this.#drawStart();
    this.#estimate();
  }

  #showChoice() {
    const {status} = this.#context;
    const cannot = recipe =>
      Boolean(sourceOf(recipe).lacks?.(status)) ||
      (status.task === 'multi-label' && ONE_INTENT.includes(recipe));
    if (cannot(this.#recipe)) this.#recipe = 'convfit';
    RECIPES.forEach(([recipe], place) => {
      const choice = this.#choices[place];
      choice.setAttribute('aria-checked', String(this.#recipe === recipe));
      choice.disabled = cannot(recipe);
      const why = choice.querySelector('.why');
      if (why) why.hidden = !choice.disabled;
    });
    this.#base.for(this.#recipe);
    this.#gateLine.hidden = makesEncoder(this.#recipe);
    this.#settings.show(this.#recipe);
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
    }
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
    const first = this.#context.status.champion === null || makesEncoder(this.#recipe);
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
      this.#choose('convfit');
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
    if (before.auto_promote !== status.auto_promote) this.#gate.checked = status.auto_promote; // chosen elsewhere
    const decided = status.candidate !== before.candidate || status.champion !== before.champion;
    if (this.#following || !(status.job || this.#running || decided)) return;
    this.#following = true;
    await this.#follow().catch(() => {}); // the header says that the studio does not answer
    this.#following = false;
  }
}
