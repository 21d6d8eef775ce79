// What the last training brought: the verdict, better and worse texts, and the decision.
import {address} from '../shared/address.js';
import {comparisonOf, decisionOf} from '../shared/comparison.js';
import {fill, h} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {toast} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';
import {numberOf} from '../shared/words.js';

export class Result {
  element = h('section', {class: 'sheet result', hidden: true, 'aria-label': 'Result', tabindex: -1});
  #context;
  #madeBy; // what the page calls the training of a version, and what its gate said; {} where that is not known
  advice = null; // on the two that are compared here; null before that
  #drawn = ''; // which comparison is shown: comparing again takes the server a while

  constructor(context, madeBy) {
    this.#context = context;
    this.#madeBy = madeBy;
  }

  hide() {
    this.element.hidden = true;
    this.#drawn = '';
    this.advice = null;
  }

  // `job` is a training that ended while this page was open, or null.
  async draw(job) {
    const {candidate, champion} = this.#context.status;
    const live = liveBy(job, champion);
    if (candidate === null && !live) return this.hide();
    const [newer, older] = candidate === null ? [live.number, live.against] : [candidate, champion];
    const wanted = `${newer}:${older}`;
    if (wanted === this.#drawn) return undefined;
    this.#drawn = wanted;
    this.element.hidden = false;
    const against = older !== null && `, against ${this.#named(older).replace('Version', 'version')}`;
    const title = h('h2', {}, `${this.#named(newer)} is ${candidate === null ? 'live' : 'trained'}`, against);
    const actions = advice =>
      candidate === null ? this.#whenLive(newer, older) : this.#toDecide(newer, older, advice);
    const why = candidate !== null && h('p', {'data-role': 'waits'}, this.#waitsWords(newer));
    if (older === null) return fill(this.element, title, why, h('div', {class: 'row'}, actions({use: true})));
    fill(this.element, title, h('p', {class: 'soft'}, `Comparing it with version ${older} …`));
    try {
      const found = await call(`${this.#context.base}/compare?candidate=${newer}&champion=${older}`);
      if (wanted !== this.#drawn) return undefined;
      this.advice = found.advice;
      fill(this.element, title, comparisonOf(found, ...actions(found.advice)));
    } catch (error) {
      if (wanted !== this.#drawn) return undefined;
      fill(this.element, title, h('p', {class: 'bad'}, error.message), h('div', {class: 'row'}, actions(null)));
      this.#drawn = '';
    }
    return undefined;
  }

  // Two ways to train are compared, too: whoever reads which was better must know which was which.
  #named(number) {
    const {way} = this.#madeBy(number);
    return `Version ${number}${way ? ` (${way})` : ''}`;
  }

  // Why the first version does not answer yet.
  #waitsWords(number) {
    return [...(this.#madeBy(number).gate ?? []), 'Nothing answers before you use it.'].join(' ');
  }

  // Promote comes first, as the page's advice only where the version is better; what was live stays until then.
  #toDecide(newer, older, advice) {
    const undo = older === null ? null : () => this.#do('rollback', `Version ${older} is live again.`, newer);
    const promote = () => this.#do(`models/${newer}/promote`, `Version ${newer} is live.`, null, undo);
    const discard = () => this.#do(`models/${newer}/discard`, `Version ${newer} is not used.`);
    return [
      decisionOf([newer, older], advice, promote, discard),
      h(
        'span',
        {class: 'soft small'},
        older === null ? '' : `Version ${older} stays live until you use the new one. Both stay on the Versions page.`,
      ),
    ];
  }

  #whenLive(newer, older) {
    if (older === null) return this.#firstSteps();
    const undo = () => this.#do(`models/${newer}/promote`, `Version ${newer} is live again.`);
    const back = () => this.#do('rollback', `Version ${older} is live again.`, newer, undo);
    return [busyButton(`Roll back to version ${older}`, back, {'data-key': 'roll back'})];
  }

  // What to do with the first version, which answers at once.
  #firstSteps() {
    const {project, unlabelled} = this.#context.status;
    const to = page => address(page, project);
    return [
      h('span', {class: 'soft'}, 'It is the first one that answers.'),
      h('a', {class: 'button', href: to('try')}, 'Try it'),
      h('a', {class: 'button', href: to('review')}, 'Look for wrong labels'),
      unlabelled > 0 && h('a', {class: 'button', href: to('label')}, 'Label more'),
    ];
  }

  async #do(path, words, champion = null, undo = null) {
    await post(`${this.#context.base}/${path}`, champion === null ? undefined : {champion});
    toast(words, '', 'good', undo);
    this.hide();
    await this.#context.refresh();
    await this.draw(null);
  }
}

// The version that a training made live by itself; null where it did not, or another is live since.
function liveBy(job, champion) {
  if (!job?.result.promoted) return null;
  const number = numberOf(job.result.model);
  return number === champion ? {number, against: job.result.against} : null;
}
