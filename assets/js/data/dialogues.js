// The conversations of a log, one at a time: its turns, and what the live version answers to the customer's.
import {fill, h, said} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';
import {closest, hasIntent, likelihoods, verdict} from '../shared/short_answer.js';
import {failed} from '../shared/skeleton.js';
import {number} from '../shared/words.js';

const USERS = ['user', 'customer', 'client', 'caller', 'visitor', 'human', 'usr'];
const DOUBTED = 0.6; // an answer that is less likely is named with the next likely one
const MOST_TEXTS = 1000; // of one request
const LATER = 'Once a version is live, each customer text shows its intent here.';
const isUser = ({speaker}) => USERS.includes(speaker.toLowerCase());

// One conversation; turns of the system are indented. `answers` are places to fill, by the turn's number.
export function talk({turns}, {whole = false, answers = new Map()} = {}) {
  const line = (turn, at) => {
    const {text, speaker} = turn;
    const name = h('span', {class: 'small soft'}, speaker || 'unknown');
    return h('li', {class: isUser(turn) ? '' : 'other'}, name, said(text), answers.get(at));
  };
  return h('ul', {class: whole ? 'talk whole' : 'talk', tabindex: 0, 'aria-label': 'Conversation'}, turns.map(line));
}

export class LogReader {
  #context;
  #intents;
  #log;
  #at = 0; // number of the conversation that was asked for last, from 0
  #shown = null; // number of the one in view
  #isWhole = false; // whether the answers to its customer have come, too
  #asked = 0; // number of the newest request; older ones are dropped
  #place = h('div', {class: 'stack', 'data-role': 'dialogue'});

  constructor(context, intents, log) {
    this.#context = context;
    this.#intents = intents;
    this.#log = log;
    const open = guarded(event => event.target.open && !this.#isWhole && this.#show(this.#shown ?? 0));
    const name = {'aria-label': `Read ${log.source}`, 'data-key': `read summary ${log.id}`};
    this.element = h(
      'details',
      {'data-key': `read ${log.id}`, ontoggle: open},
      h('summary', name, 'Read the conversations'),
      this.#place,
    );
  }

  // What did not come is asked for again by a press, or when the reader is opened anew.
  async #show(at) {
    const asked = (this.#asked += 1);
    this.#isWhole = false;
    this.#at = at; // a second press before the answer goes on from here
    try {
      await this.#load(at, asked);
      this.#isWhole ||= asked === this.#asked;
    } catch (error) {
      if (asked === this.#asked) this.#fail(error, at);
      throw error;
    }
  }

  #fail(error, at) {
    if (this.#shown === null) fill(this.#place, failed(error, () => this.#show(at)));
    else this.#at = this.#shown; // the next press goes on from what is in view
  }

  async #load(at, asked) {
    const path = `${this.#context.base}/dialogues/${this.#log.id}/conversations`;
    const [dialogue] = await call(`${path}?first=${at}&count=1`);
    if (asked !== this.#asked || !dialogue) return;
    this.#shown = at;
    const customers = [...dialogue.turns.entries()].filter(([, turn]) => isUser(turn)).slice(0, MOST_TEXTS);
    const place = () => h('div', {class: 'row tight', 'data-role': 'turn-answer'});
    const answers = new Map(customers.map(([turn]) => [turn, place()]));
    const isLive = Boolean(this.#context.status.champion);
    fill(
      this.#place,
      this.#pager(),
      !isLive && h('p', {class: 'soft small'}, LATER),
      talk(dialogue, {whole: true, answers}),
    );
    if (isLive) await this.#answer(customers, answers, asked);
  }

  async #answer(customers, places, asked) {
    if (!customers.length) return;
    const texts = customers.map(([, {text}]) => text);
    const most = this.#intents.multi ? {} : {top_k: 2}; // an answer of several intents may have more
    const found = await post(`${this.#context.base}/predict`, {texts, fields: ['decision', 'ranked'], ...most});
    if (asked !== this.#asked) return;
    for (const [at, [turn]] of customers.entries()) fill(places.get(turn), this.#lineOf(found[at]));
  }

  #lineOf(prediction) {
    const [first, next] = prediction.ranked;
    const isUnsure = !this.#intents.multi && hasIntent(prediction) && next && first.probability < DOUBTED;
    return [
      verdict(prediction, this.#intents),
      hasIntent(prediction) && h('span', {class: 'small tabular'}, likelihoods(prediction, this.#intents)),
      isUnsure && h('span', {class: 'badge warn'}, `unsure: or ${next.intent}`),
      closest(prediction),
    ];
  }

  #pager() {
    const of = this.#log.n_dialogues;
    const step = (words, by) => {
      const to = () => Math.min(Math.max(0, this.#at + by), of - 1);
      const onclick = guarded(() => this.#show(to()));
      const isEnd = to() === this.#at;
      return h('button', {class: 'small', 'data-key': `step ${words}`, disabled: isEnd, onclick}, words);
    };
    return h(
      'div',
      {class: 'row tight'},
      h('span', {'data-role': 'which', role: 'status'}, `Conversation ${number(this.#at + 1)} of ${number(of)}`),
      step('Previous', -1),
      step('Next', 1),
    );
  }
}
