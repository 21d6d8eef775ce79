// The Try page: type a text and see its answer and the examples that decide; paste many lines for a table.
import {LONGEST_TRIED, query, setQuery} from './shared/address.js';
import {fill, h} from './shared/elements.js';
import {firstAct} from './shared/first_act.js';
import {Intents} from './shared/intents.js';
import {placeExample} from './shared/placeholder.js';
import {post} from './shared/rest.js';
import {plural} from './shared/words.js';
import {frame} from './studio.js';
import {Acts} from './try/acts.js';
import {answersView, answerView} from './try/answers.js';
import {Compression} from './try/compression.js';
import {LandingMap} from './try/landing.js';
import {Pins} from './try/pins.js';
import {ReplySheet} from './try/replies.js';
import {Why} from './try/why.js';

const LEAD = 'Type as a customer would. The answer comes while you type, with the examples that vote for it.';
const HERE = 'The answer appears here.';
const BY_NAMES = 'Intents are found by their names alone until you train a model.';
const NO_INTENTS = 'Nothing can answer yet: it takes two intents, better with a few labels each.';
const LONGEST_LINE = 10000;
const MOST_LINES = 1000;
const PAUSE = 40; // shorter than between two letters of a quick typist: an answer costs some 15 ms

export const mount = view => frame(view, 'try', 'Try', LEAD, context => new TryPage(context).start());

class TryPage {
  #context;
  #intents;
  #pins;
  #acts;
  #landing;
  #replies;
  #why;
  #compression;
  #running = null;
  #box;
  #one = query().get('text'); // the address holds one text, also with line breaks; null once something is typed
  #answer = h('section', {
    class: 'sheet',
    'aria-live': 'polite',
    'aria-label': 'Answer',
    'data-role': 'answer',
  });
  #votes = h('div');
  #answers = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Many answers'});
  #landed;
  #many = null; // the lines that a text was opened from
  #back = h('button', {class: 'small', hidden: true, 'data-key': 'back', onclick: () => this.#goBack()});

  constructor(context) {
    this.#context = context;
    this.#intents = new Intents(context.base, context.status.task);
    this.#pins = new Pins(context.base, () => this.#acts.pinsCame());
    const tools = {base: context.base, intents: this.#intents, pins: this.#pins};
    this.#acts = new Acts({...tools, changed: () => this.#renew()});
    this.#replies = new ReplySheet(context.base);
    this.#landing = new LandingMap(context.base, this.#intents);
    this.#why = new Why(context.base, this.#intents, this.#acts);
    this.#compression = new Compression(context.base, this.#intents, () => this.#ask());
    const landed = {class: 'sheet', hidden: true, 'aria-label': 'Where it lands'};
    this.#landed = h('section', landed, this.#landing.element);
    this.#box = this.#makeBox();
  }

  #makeBox() {
    let timer = 0;
    const ask = () => {
      this.#leave(null);
      this.#running?.abort(); // its answer would offer acts on what was typed before
      this.#acts.wait();
      clearTimeout(timer);
      timer = setTimeout(() => this.#ask(), PAUSE);
    };
    const attributes = {
      rows: 2,
      maxlength: 1000000,
      'aria-label': 'Text to try',
      autofocus: this.#context.status.champion !== null, // else nothing may answer yet
      class: 'said',
      oninput: ask,
    };
    return h('textarea', attributes, this.#one ?? '');
  }

  async start() {
    await this.#intents.load();
    this.#context.main.append(
      h(
        'div',
        {class: 'columns'},
        h(
          'div',
          {class: 'stack'},
          this.#box,
          h('div', {}, this.#back),
          this.#answer,
          this.#why.element,
          this.#answers,
          this.#replies.element,
        ),
        h('aside', {class: 'stack'}, this.#landed, this.#pins.element, this.#compression.element),
      ),
    );
    this.#context.onStatus((status, before) => this.#onStatus(status, before));
    this.#ask();
    placeExample(this.#context.base, this.#box).catch(() => {}); // the field works without
    await this.#pins.load();
  }

  #onStatus(status, before) {
    this.#replies.show(status);
    this.#compression.element.hidden = status.champion === null;
    if (!before) return;
    if (before.champion === status.champion && before.revision === status.revision) return;
    this.#follow();
  }

  // The project has changed, by an act of this page or of another.
  async #follow() {
    await this.#intents.load().catch(() => {}); // one may be new, or have another name; else those of before stay
    this.#landing.renew().catch(() => {});
    this.#compression.renew().catch(() => {});
    this.#pins.load().catch(() => {});
    await this.#ask();
  }

  // After an act on this page.
  async #renew() {
    await this.#ask();
    this.#context.refreshSoon();
  }

  async #ask() {
    const lines = this.#lines();
    setQuery({text: lines.length === 1 && lines[0].length <= LONGEST_TRIED ? lines[0] : ''});
    this.#running?.abort();
    this.#running = new AbortController();
    const {signal} = this.#running;
    if (!lines.length) {
      this.#showNothing();
      return;
    }
    const texts = lines.slice(0, MOST_LINES).map(line => line.slice(0, LONGEST_LINE));
    const {strength} = this.#compression;
    const asked = strength === null ? {texts} : {texts, strength};
    try {
      await this.#show(await post(`${this.#context.base}/predict`, asked, {signal}), lines.length);
    } catch (error) {
      if (error.name !== 'AbortError') this.#showTrouble(error);
    }
  }

  #lines() {
    const lines = this.#one === null ? this.#box.value.split('\n') : [this.#one];
    return lines.map(line => line.trim()).filter(Boolean);
  }

  async #show(answers, given) {
    const many = given > 1;
    this.#answers.hidden = !many;
    this.#answer.hidden = many;
    this.#landed.hidden = many || !answers[0].landing;
    if (many) {
      this.#why.hide();
      this.#compression.show(null);
      fill(this.#answers, answersView(answers, given, this.#intents, text => this.#open(text)));
      return;
    }
    const [answer] = answers;
    const form = this.#acts.form(answer);
    const odd = new Map(answer.outvoted.map(({id, label}) => [id, label]));
    const {shown_revision: seen} = answer;
    const besides = voter => this.#acts.relabelling({...voter, outvoted: odd.get(voter.exemplar_id), seen});
    fill(this.#answer, answerView(answer, this.#intents, this.#votes, {besides, acts: form}));
    const isCompressed = Boolean(answer.compressed?.strength); // otherwise it says why the model itself answers
    // Before a training only names answer, so there are no examples to explain.
    if (isCompressed || !answer.landing) this.#why.hide();
    else this.#why.show(answer.prediction.text);
    this.#compression.show(answer.compressed);
    await this.#landing.show(answer).catch(() => {
      this.#landed.hidden = true; // the answer stands without its place
    });
  }

  // One of many texts, alone: with its acts, and why.
  #open(text) {
    this.#leave(this.#box.value);
    this.#box.value = text;
    this.#ask();
    this.#back.focus();
  }

  #goBack() {
    this.#box.value = this.#many;
    this.#leave(null);
    this.#ask();
    this.#box.focus();
  }

  #leave(many) {
    this.#one = null;
    this.#many = many;
    this.#back.hidden = many === null;
    if (many !== null) this.#back.textContent = `Back to ${plural(this.#lines().length, 'text')}`;
  }

  #showNothing() {
    this.#answers.hidden = this.#landed.hidden = true;
    this.#why.hide();
    this.#compression.show(null);
    this.#answer.hidden = false;
    const {project, status} = this.#context;
    // From two intents on their names answer, so the act of the page is to type a text.
    const [words, looks] = this.#intents.open.length > 1 ? [BY_NAMES, 'button'] : [NO_INTENTS, 'button primary'];
    const act = status.champion === null && firstAct(project, this.#intents.counts, looks);
    fill(this.#answer, h('div', {class: 'empty'}, h('p', {}, act ? words : HERE), act));
  }

  #showTrouble({message, hint}) {
    this.#why.hide();
    this.#answers.hidden = this.#landed.hidden = true;
    this.#answer.hidden = false;
    fill(this.#answer, h('div', {class: 'note bad'}, message, h('div', {class: 'small'}, hint)));
  }
}
