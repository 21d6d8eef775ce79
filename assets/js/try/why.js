// Why an answer is as it is: its words, what would change it, and other ways of deciding.
import {inStudio} from '../shared/address.js';
import {fill, h, select, table} from '../shared/elements.js';
import {busyButton, downloadsOf, open, saveFile} from '../shared/evidence.js';
import {complain, guarded} from '../shared/messages.js';
import {post} from '../shared/rest.js';
import {Sharing} from '../shared/sharing.js';
import {failed} from '../shared/skeleton.js';
import {number, percent, points} from '../shared/words.js';

const PAUSE = 500; // milliseconds without typing; an explanation costs as much as ten answers
const SHOWN = 5;
const OTHERS =
  'Taking an example out also changes the votes of those like it: what the answer depends on are not simply the ' +
  'strongest votes.';
const noneNear = answer =>
  `No ${answer.length ? 'other ' : ''}intent comes near this text. Choose one to see what it would take.`;
const EXACT = 'Computed exactly, for the version that is live; a training may change it.';

export class Why {
  element = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Why', 'data-role': 'why'});
  #base;
  #intents;
  #acts;
  #text = null;
  #rival = null; // for the text that is on the page
  #timer = 0;
  #running = null;
  #shown = null; // the text and the rival that are explained on the page
  #body = h('div', {'data-role': 'why-body'});
  #kept = h('div');
  #details;

  constructor(base, intents, acts) {
    this.#base = base;
    this.#intents = intents;
    this.#acts = acts;
    const words = h('span', {class: 'soft'}, ' in words, and what would change it');
    const summary = h('summary', {}, h('b', {}, 'Why'), words);
    this.#details = h('details', {ontoggle: () => this.#ask(0)}, summary, this.#body);
    fill(this.element, this.#details, this.#buttons(), this.#kept);
  }

  // Called when a text was answered, perhaps the same one again.
  show(text) {
    if (text !== this.#text) {
      this.#rival = null;
      fill(this.#kept);
    }
    this.#text = text;
    this.#shown = null;
    this.element.hidden = false;
    this.#ask(PAUSE);
  }

  hide() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#text = null;
    this.element.hidden = true;
  }

  #ask(pause) {
    clearTimeout(this.#timer);
    this.#running?.abort();
    if (!this.#details.open || this.#text === null || this.#shown) return;
    this.#body.style.setProperty('opacity', this.#body.childElementCount ? 0.5 : 1);
    if (!this.#body.childElementCount) fill(this.#body, h('p', {class: 'soft'}, 'Looking …'));
    this.#timer = setTimeout(() => this.#explain().catch(complain), pause);
  }

  async #explain() {
    this.#running = new AbortController();
    const {signal} = this.#running;
    const found = await post(`${this.#base}/explain`, this.#question(), {signal}).catch(error => {
      if (!signal.aborted) this.#fail(error);
      throw error;
    });
    this.#shown = found;
    this.#body.style.setProperty('opacity', 1);
    fill(this.#body, this.#view(found));
  }

  #fail(error) {
    this.#body.style.setProperty('opacity', 1);
    fill(this.#body, failed(error, () => this.#explain()));
  }

  #question() {
    return {text: this.#text, against: this.#rival};
  }

  #view(found) {
    const many = found.reasons.length > 1;
    return [
      h('p', {class: 'below', dir: 'auto'}, found.scope.words),
      found.reasons.map(reason => [
        many && heading(reason.intent),
        reason.words && wordsOf(found.text, reason.words, reason.intent),
        reason.load_bearing && isTelling(found, reason) && this.#carriers(reason, found.shown_revision),
      ]),
      found.reasons.some(reason => reason.load_bearing) && this.#whyNot(found),
      found.notes.map(note => h('p', {class: 'soft small'}, note)),
      h(
        'details',
        {'data-key': 'computed', 'data-role': 'computed'},
        h('summary', {}, 'How this is computed'),
        h('p', {class: 'soft small'}, EXACT),
        found.reasons.map(reason => fewestOf(reason.load_bearing)),
        found.reasons.map(reason => missOf(reason.words)),
        headsOf(found.heads),
      ),
    ];
  }

  #carriers({load_bearing: {words, examples}, intent}, seen) {
    const relabel = ({id, ...example}) => this.#acts.relabelling({...example, exemplar_id: id, seen});
    return [heading('What the answer depends on'), h('p', {}, words), this.#list(examples, intent, relabel)];
  }

  #whyNot({why_not: other, answer, text}) {
    const options = this.#intents.openSorted.filter(({name}) => !answer.includes(name)).map(({name}) => [name, name]);
    if (!other) options.unshift(['', 'Choose …']);
    const choose = event => {
      this.#rival = event.target.value || null;
      this.#shown = null;
      this.#ask(0);
    };
    const attributes = {'data-key': 'rival', 'aria-label': 'Why not this intent', onchange: choose};
    return h(
      'section',
      {'data-role': 'why-not'},
      h('div', {class: 'row'}, heading('Why not'), select(attributes, options, other?.intent ?? '')),
      h('p', {class: 'below', dir: 'auto'}, other ? [other.words, this.#addIt(other, text)] : noneNear(answer)),
      other && this.#list(other.examples, null, example => this.#labelIt(example, other)),
    );
  }

  // Offered in a near tie, and for the intent that the person has chosen.
  #addIt({intent, copies, adds}, text) {
    if (!adds && !(this.#rival === intent && copies === 1)) return null;
    const add = guarded(async () => {
      // While another text is being explained, the page still shows the advice for this one.
      if (text === this.#text) await this.#acts.add(this.#acts.idsWith(intent));
    });
    return [' ', h('button', {class: 'small', 'data-key': 'add it', onclick: add}, 'Add it')];
  }

  // An unlabelled text that may have several intents is labelled on the Label page.
  #labelIt({id, text}, {intent, revision: seen}) {
    if (this.#intents.multi) return null;
    const asked = this.#text;
    const label = guarded(async () => {
      if (asked === this.#text)
        await this.#acts.relabel({id, text, labels: null, seen}, this.#acts.idsWith(intent));
    });
    return h('button', {class: 'small push', 'data-key': `label ${id}`, onclick: label}, 'Label it');
  }

  // Lists examples; the label is shown if it is not `intent`. `besides` returns the control beside one.
  #list(examples, intent = null, besides = () => null) {
    if (!examples.length) return null;
    const isOther = intents => intents.length > 0 && String(intents) !== intent;
    const more = examples.length - SHOWN;
    return h(
      'ul',
      {class: 'told'},
      examples.slice(0, SHOWN).map(example => {
        const {text, intents} = example;
        return h('li', {dir: 'auto'}, `“${text}” `, isOther(intents) && this.#intents.named(intents), besides(example));
      }),
      more > 0 && h('li', {class: 'soft'}, `and ${more} more`),
    );
  }

  #buttons() {
    const keep = async () => {
      const text = this.#text;
      const kept = await post(`${this.#base}/receipts`, this.#question());
      const sharing = new Sharing(this.#base, {kind: 'receipt', target: kept.id}, kept);
      await sharing.start();
      if (text === this.#text) fill(this.#kept, sharing.element); // else another text is on the page by now
      return kept;
    };
    const receipt = async () => open(inStudio((await keep()).path));
    const save = async kind => {
      const {id} = await keep();
      await saveFile(`/receipts/${id}/receipt.${kind}`, `receipt-${id.slice(0, 8)}.${kind}`);
    };
    return h(
      'div',
      {class: 'row after'},
      h('span', {class: 'soft small'}, 'A receipt for somebody else:'),
      downloadsOf(save),
      busyButton('Open the receipt', receipt, {'data-key': 'receipt'}),
    );
  }
}

// Without some examples a refused text would be answered with any intent: told only of one that could be meant.
const isTelling = ({answer, speaking}, {load_bearing: bearing}) =>
  answer.length > 0 || speaking.includes(bearing.after);

const heading = (...words) => h('h3', {}, words);

// The text with each word coloured by its effect for or against the answer.
function wordsOf(text, {words, rival, error, note, unclear}, intent) {
  const strength = words.map(word => word.share ?? word.effect);
  const most = Math.max(1e-9, ...strength.map(Math.abs));
  const signs = [...text]; // positions count Unicode characters, not UTF-16 units
  const between = (from, to) => signs.slice(from, to).join('');
  const parts = [];
  let place = 0;
  words.forEach((word, at) => {
    const {start, end} = word;
    parts.push(between(place, start), wordMark(between(start, end), strength[at] / most, word));
    place = end;
  });
  const coloured = [
    h('p', {class: 'carrying', 'data-role': 'words', dir: 'auto'}, parts, between(place)),
    keyOf(intent, rival),
    error === null && h('p', {class: 'soft small'}, note),
  ];
  const fold = () => {
    const summary = h('summary', {'data-key': 'words summary'}, 'Show the words all the same');
    const folded = h('details', {'data-key': 'words'}, summary, coloured);
    return [h('p', {class: 'soft', 'data-role': 'unclear'}, unclear), folded];
  };
  return [heading('What each word speaks for'), unclear ? fold() : coloured];
}

// The two colours of the words; the darker, the more a word decides.
const keyOf = (intent, rival) =>
  h(
    'p',
    {class: 'row small soft key', dir: 'auto'},
    h('span', {}, h('i'), intent),
    h('span', {}, h('i', {class: 'against'}), rival ?? `not ${intent}`),
  );

// Between which sizes the smallest group is that the answer depends on.
function fewestOf(bearing) {
  if (!bearing || bearing.examples.length < 2) return null;
  const {examples, smallest, at_least: fewest} = bearing;
  const between = `The smallest group that would do has ${number(fewest)} to ${number(examples.length)} examples.`;
  return h('p', {class: 'soft small'}, OTHERS, !smallest && ` ${between}`);
}

function missOf(words) {
  if (!words || words.error === null) return null;
  const miss = `Words by integrated gradients; ${percent(words.error, 2)} is not accounted for.`;
  return h('p', {class: 'soft small'}, miss);
}

const wordMark = (text, strength, {effect}) =>
  h(
    'span',
    {
      class: strength < 0 ? 'against' : null,
      style: {'--w': Math.abs(strength).toFixed(3)},
      title: `Without it the lead ${effect < 0 ? 'grows' : 'falls'} by ${points(Math.abs(effect))} points.`,
    },
    text,
  );

function headsOf(heads) {
  const rows = heads.map(head => [
    [head.name, head.decides && h('b', {}, ' (decides)'), h('div', {class: 'soft small'}, head.detail)],
    h('td', {class: head.agrees ? null : 'warn', style: {'overflow-wrap': 'normal'}}, head.intent),
  ]);
  return h(
    'section',
    {'data-role': 'heads'},
    heading('Other ways of deciding'),
    table(['Way', 'Says'], rows),
  );
}
