// The Train page: two choices with what they take, progress that survives a reload, then a verdict to decide by.
import {accuracyState} from './shared/accuracy.js';
import {query} from './shared/address.js';
import {fill, h} from './shared/elements.js';
import {firstAct} from './shared/first_act.js';
import {guarded, toast} from './shared/messages.js';
import {call, post} from './shared/rest.js';
import {skeleton} from './shared/skeleton.js';
import {numberOf} from './shared/words.js';
import {frame} from './studio.js';
import {BaseChoice} from './train/base.js';
import {Choices} from './train/choices.js';
import {Curves} from './train/curve.js';
import {earlierTable, isOver, jobView} from './train/job.js';
import {GATE_WORDS, outlook} from './train/outlook.js';
import {Result} from './train/result.js';
import {RecipeSettings} from './train/settings.js';
import {besideStart, mayTrain} from './train/unsaved.js';

const CALM = 'Your labels stay as they are.';

export const mount = view => frame(view, 'train', 'Train', null, context => new TrainPage(context).start());

class TrainPage {
  #context;
  #looking = skeleton('Looking at how it can be trained'); // until the choices are there
  #choices = new Choices(() => this.#onChoice());
  #settings = new RecipeSettings(() => this.#estimate());
  #curves = new Curves();
  #running = null; // the training under way
  #started = null; // the id of the one that was started here
  #ended = null; // the one that ended while this page was open
  #drawLive = () => {}; // draws the training that is shown, as far as it is now
  #following = false;
  #missed = false; // whether another decision was told meanwhile
  #followed = null; // a promise of the newest list of trainings
  #follows = 0; // number of the newest request for it; older answers are dropped
  #looks = 0; // the same for what can be chosen
  #compared = null; // the newest version and the live one, once it was asked which of them is better
  #isRefused = false; // whether the server takes no training with what is chosen
  #isStarting = false; // until the server has taken the training, nothing starts another one
  #estimates = 0; // number of the newest request; older answers are dropped
  #estimated = h('p', {role: 'status', 'data-role': 'estimate'});
  #unsaved = h('p', {class: 'warn', role: 'status', 'data-role': 'unsaved-beside'});
  #nothingNew = h('p', {'data-role': 'nothing-new', hidden: true});
  #defaults = h('p', {class: 'soft small', 'data-role': 'defaults'});
  #outlook = h('p', {class: 'lead', 'data-role': 'outlook'});
  #has = {}; // how many texts are labelled, how many of these teach, and how many pins there are
  #gate;
  #gateLine;
  #jobs = []; // all trainings of the project
  #base;
  #start;
  #live = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Training'});
  #form = h('section', {class: 'sheet', 'aria-label': 'New training'});
  #earlier = h('details', {class: 'sheet', 'data-key': 'earlier'});
  #result;

  constructor(context) {
    this.#context = context;
    this.#result = new Result(context, number => this.#madeBy(number));
    this.#base = new BaseChoice(context);
    this.#gate = h('input', {
      type: 'checkbox',
      checked: context.status.auto_promote,
      onchange: guarded(() => this.#keepGate()),
    });
    this.#gateLine = h('label', {class: 'check after'}, this.#gate, GATE_WORDS);
    const train = guarded(() => this.#train());
    this.#start = h('button', {class: 'primary', disabled: true, onclick: train}, 'Train'); // no way is chosen yet
  }

  async start() {
    this.#layOut();
    await Promise.all([this.#loadChoices(), this.#settings.load(this.#context.base)]);
    this.#choices.wish(query().get('way')); // a link that says “Train Quick first” leads to that
    this.#showChoice();
    this.#context.onStatus((status, before) => {
      this.#drawStart();
      this.#onStatus(status, before);
    });
    this.#context.unsaved.onChange(() => this.#drawStart());
    await this.#follow();
    if (this.#running) this.#choices.choose(this.#running.recipe); // what was chosen on the last visit
    else this.#preferWhatWon();
    this.#showChoice();
    await this.#estimate();
  }

  #layOut() {
    const estimated = h('div', {class: 'estimate'}, this.#unsaved, this.#nothingNew, this.#estimated, this.#defaults);
    fill(
      this.#form,
      this.#choices.element,
      this.#looking,
      // Above what differs between the choices, so that the button keeps its place.
      h('div', {class: 'row after start'}, this.#start, this.#settings.back, estimated),
      this.#gateLine,
      this.#base.element,
      this.#settings.element,
    );
    this.#context.heading.append(this.#outlook);
    this.#context.main.append(this.#result.element, this.#form, this.#live, this.#earlier);
  }

  // What can be chosen depends on labels, marked values, conversations and earlier trainings.
  async #loadChoices() {
    const asked = (this.#looks += 1);
    const found = await call(`${this.#context.base}/training-choices`).finally(() => this.#looking.remove());
    if (asked !== this.#looks) return;
    this.#has = found;
    this.#choices.show(found.choices);
    await this.#base.load(found);
  }

  async #labelled() {
    await this.#loadChoices().catch(() => {}); // the header shows that the studio does not answer
    this.#onChoice();
  }

  #onChoice() {
    this.#showChoice();
    this.#estimate();
  }

  #showChoice() {
    const {chosen} = this.#choices;
    this.#base.for(chosen);
    this.#gateLine.hidden = chosen.makes === 'encoder';
    this.#settings.show(chosen.recipe, chosen.name);
    this.#tellOutlook();
    this.#drawStart();
  }

  #tellOutlook() {
    const {chosen} = this.#choices; // the trainings to choose from may come after a click
    if (chosen) this.#outlook.textContent = outlook(this.#context.status, chosen, this.#gate.checked, this.#has);
  }

  get #wish() {
    const {recipe} = this.#choices.chosen;
    return {recipe, settings: this.#settings.of(recipe), base: this.#base.value};
  }

  async #keepGate() {
    this.#tellOutlook();
    const body = {auto_promote: this.#gate.checked};
    await call(this.#context.base, {method: 'PATCH', body}).catch(error => {
      this.#gate.checked = !body.auto_promote; // what could not be stored is not told
      this.#tellOutlook();
      throw error;
    });
  }

  async #estimate() {
    const asked = ++this.#estimates;
    try {
      const {time, defaults} = await post(`${this.#context.base}/estimate`, this.#wish);
      if (asked !== this.#estimates) return;
      this.#start.hidden = false;
      this.#gateLine.hidden = this.#choices.chosen.makes === 'encoder';
      this.#estimated.className = '';
      // The chosen way tells its time with its usual settings; that of others is told here.
      // With the usual ones a time of its own tells only that the machine is busier than just now.
      const isUsual = this.#base.isUsual && !Object.keys(this.#wish.settings).length;
      const other = isUsual || time === this.#choices.chosen.time ? '' : `With these settings: ${time}. `;
      this.#estimated.textContent = other + CALM;
      this.#defaults.textContent = defaults;
      this.#allowStart(true);
    } catch (error) {
      if (asked !== this.#estimates) return;
      this.#estimated.className = 'bad';
      this.#estimated.textContent = `${error.message} ${error.hint}`;
      this.#defaults.textContent = '';
      this.#allowStart(error.status !== 422);
      if (error.status === 422) await this.#offerLabels(asked).catch(() => {}); // the error is shown
    }
  }

  // Where nothing can be trained yet, the page leads to what it lacks; the choice above says what that is.
  async #offerLabels(asked) {
    const {counts} = await call(`${this.#context.base}/overview`);
    if (asked !== this.#estimates || !this.#choices.chosen.why_not) return;
    this.#estimated.className = '';
    const more = counts.labelled ? {...counts, labelled: 0, unlabelled: 0} : counts; // with some labels, Label
    fill(this.#estimated, firstAct(this.#context.project, more));
    this.#start.hidden = this.#gateLine.hidden = true; // nothing can be trained that could be used
  }

  // Told by the answer to the newest estimate; until there is another one, it stays so.
  #allowStart(is = !this.#isRefused) {
    this.#isRefused = !is;
    this.#start.disabled = !is || this.#isTaken;
  }

  // Whether a training runs, or is being started.
  get #isTaken() {
    return this.#isStarting || Boolean(this.#running);
  }

  async #train() {
    this.#isStarting = true;
    this.#drawStart();
    try {
      if (!(await mayTrain(this.#context.unsaved))) return;
      this.#started = (await post(`${this.#context.base}/train`, this.#wish)).job;
      this.#ended = null;
      this.#result.hide();
      await this.#context.refresh();
      await this.#follow();
    } finally {
      this.#isStarting = false;
      this.#drawStart();
    }
    this.#live.scrollIntoView({block: 'nearest'});
  }

  // An older list would tell that what was started since is not there. Whoever asked for it waits for the newest.
  #follow() {
    this.#followed = this.#followNow();
    return this.#followed;
  }

  async #followNow() {
    const asked = (this.#follows += 1);
    const jobs = await call(`${this.#context.base}/jobs?kind=train`);
    if (asked !== this.#follows) {
      await this.#followed;
      return;
    }
    const before = this.#running;
    this.#jobs = jobs;
    this.#running = jobs.find(({state}) => state === 'running') ?? jobs.findLast(job => !isOver(job)) ?? null;
    const ended = before ? jobs.find(job => job.id === before.id && isOver(job)) : null;
    this.#drawStart();
    this.#drawJob(this.#running ?? jobs.find(job => job.id === this.#started) ?? jobs[0]);
    this.#drawEarlier(jobs);
    if (ended) {
      this.#ended = ended;
      await Promise.all([this.#context.refresh(), this.#loadChoices()]);
      this.#showChoice();
      await this.#estimate();
    }
    if (ended?.state === 'failed') toast(ended.message, ended.hint, 'bad');
    await this.#result.draw(this.#ended);
    this.#tellLost().catch(() => (this.#compared = null)); // a version may be damaged: nothing is said of it
    if (ended && !this.#result.element.hidden) this.#result.element.scrollIntoView({block: 'nearest'});
  }

  #jobOf(version) {
    return this.#jobs.find(({result}) => result?.model && numberOf(result.model) === version);
  }

  #madeBy(version) {
    const job = this.#jobOf(version);
    return job ? {way: this.#choices.nameOf(job.recipe), gate: job.result.gate} : {};
  }

  // The newest version, where it is not live and the live one was made in another way; else null.
  get #otherThanLive() {
    const {champion} = this.#context.status;
    const newest = this.#jobs.find(({result}) => result?.metrics);
    const [mine, live] = [newest && numberOf(newest.result.model), this.#jobOf(champion)];
    if (!live || mine === champion || newest.recipe === live.recipe) return null;
    return {mine, recipe: newest.recipe, live: champion, way: live.recipe};
  }

  // A way that did not beat the live version is not proposed again: the way of the live one is.
  #preferWhatWon() {
    const other = this.#otherThanLive;
    const isLost = this.#context.status.candidate === null || this.#result.advice?.use === false;
    if (other && isLost) this.#choices.prefer(other.way, other.recipe);
  }

  // Says of the other way what the comparison of its version with the live one says, if that one is to be kept.
  async #tellLost() {
    const other = this.#otherThanLive;
    const pair = other && `candidate=${other.mine}&champion=${other.live}`;
    if (pair === this.#compared) return;
    this.#compared = pair;
    this.#choices.tellLost(null);
    if (!other) return;
    const isShown = other.mine === this.#context.status.candidate; // its result stands on the page, compared
    const {advice} = isShown ? this.#result : await call(`${this.#context.base}/compare?${pair}`);
    if (pair !== this.#compared || !advice || advice.use) return;
    this.#choices.tellLost({recipe: other.recipe, words: `This made version ${other.mine}. ${advice.words}`});
  }

  // The live version has learned all labels, and its training had the settings that are chosen.
  get #isNothingNew() {
    const {champion, model, hot} = this.#context.status;
    const {chosen} = this.#choices;
    if (champion === null || model !== 'ready' || hot > 0 || !chosen || chosen.makes === 'encoder') return false;
    return !Object.keys(this.#settings.of(chosen.recipe)).length;
  }

  // What another way than that of the live version has made of the same labels, or may make.
  get #ofOtherWay() {
    const {chosen} = this.#choices;
    if (!chosen || this.#jobOf(this.#context.status.champion)?.recipe === chosen.recipe) return '';
    const tried = this.#otherThanLive;
    if (tried?.recipe !== chosen.recipe) return ` “${chosen.name}” may still answer better.`;
    return ` “${chosen.name}” made version ${tried.mine} of these labels.`;
  }

  #drawStart() {
    const {champion, candidate} = this.#context.status;
    const first = champion === null || this.#choices.chosen?.makes === 'encoder';
    const isOld = this.#isNothingNew && !this.#isTaken && !this.#context.unsaved.size;
    // While a version waits, the decision on it is the page's first act.
    this.#start.classList.toggle('primary', candidate === null && !isOld);
    this.#nothingNew.hidden = !isOld;
    const known = `Nothing is new since version ${champion}: it knows all your labels.`;
    this.#nothingNew.textContent = known + this.#ofOtherWay;
    const again = first ? 'Train' : 'Retrain';
    this.#unsaved.textContent = besideStart(this.#context.unsaved, this.#isStarting);
    this.#allowStart();
    this.#start.textContent = this.#running ? 'Training …' : again;
    this.#form.classList.toggle('waits', Boolean(this.#running)); // what runs tells its own time left
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
      this.#choices.choose();
      this.#onChoice();
      window.scrollTo({top: 0});
    };
    this.#live.hidden = false;
    if (isOver(job)) this.#form.after(this.#live);
    else this.#context.main.prepend(this.#live); // what runs comes first
    this.#curves.show(job);
    const name = this.#choices.nameOf(job.recipe) ?? job.title;
    const actions = {cancel: act('cancel'), resume: act('resume'), use};
    this.#drawLive = () => {
      const {champion} = this.#context.status;
      const isLive = job.result?.model && champion !== null && numberOf(job.result.model) === champion;
      const told = {name, today: isLive ? this.#context.status : null};
      fill(this.#live, jobView(this.#now(job), this.#curves.element, told, actions));
    };
    this.#drawLive();
  }

  // How far it is stands in the header, too: both show what the project's status says.
  #now(job) {
    const told = this.#context.status.job;
    if (isOver(job) || told?.id !== job.id) return job;
    const {state, progress, stage, eta_seconds, slowed} = told;
    return {...job, state, progress, stage, eta_seconds, slowed};
  }

  #drawEarlier(jobs) {
    const table = earlierTable(jobs, recipe => this.#choices.nameOf(recipe));
    this.#earlier.hidden = !table;
    fill(this.#earlier, h('summary', {'data-key': 'earlier trainings'}, 'Earlier trainings'), table);
  }

  async #onStatus(status, before) {
    if (!before) return;
    if (before.revision !== status.revision) this.#labelled();
    if (before.auto_promote !== status.auto_promote) this.#gate.checked = status.auto_promote; // changed in another tab
    this.#tellOutlook();
    if (this.#running || accuracyState(before) !== accuracyState(status)) this.#drawLive();
    const decided = status.candidate !== before.candidate || status.champion !== before.champion;
    if (this.#following) this.#missed ||= decided;
    else if (status.job || this.#running || decided) await this.#keepUp();
  }

  async #keepUp() {
    this.#following = true;
    do {
      this.#missed = false;
      await this.#follow().catch(() => {}); // the header shows that the studio does not answer
    } while (this.#missed);
    this.#following = false;
  }
}
