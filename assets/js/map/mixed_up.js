// The intents that are mixed up most, as Review finds them; a press shows the two alone.
import {address} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {plural} from '../shared/words.js';

const MOST = 5;
const AT_ONCE = 3000; // examples that are compared without being asked
const ASKED = 2 * MOST; // findings, since a pair may be mixed up both ways
const COUNTED = 'How often one is answered as the other, both ways. Review and reports count each way apart.';

// What is mixed up of a pair: "2 test texts, 4 examples".
export function partsOf({count, tests}) {
  if (tests === null) return plural(count, 'text');
  const parts = [tests && plural(tests, 'test text'), count > tests && plural(count - tests, 'example')];
  return parts.filter(Boolean).join(', ');
}

export class MixedUp {
  element = h('div', {class: 'after', 'data-role': 'mixed-up', hidden: true});
  #context;
  #show;

  // Calls `show` with a pair: the ids of two intents, their texts that are mixed up, and how many these are.
  constructor(context, show) {
    this.#context = context;
    this.#show = show;
  }

  // Of many examples the comparison takes a minute, so it waits until somebody asks for it.
  async offer(examples) {
    if (this.#context.status.champion === null) return;
    if (examples <= AT_ONCE) {
      await this.#load();
      return;
    }
    this.element.hidden = false;
    const find = guarded(() => this.#load());
    fill(this.element, h('button', {'data-key': 'compare', onclick: find}, 'Find intents that are mixed up'));
  }

  async #load() {
    const {base, project} = this.#context;
    fill(this.element, h('p', {class: 'soft'}, 'Comparing your examples …'));
    const {findings} = await call(`${base}/review?kind=confusion&limit=${ASKED}`);
    const pairs = pairsOf(findings).slice(0, MOST);
    this.element.hidden = false;
    if (!pairs.length) {
      fill(this.element, h('p', {class: 'soft'}, 'No two intents are mixed up.'));
      return;
    }
    fill(
      this.element,
      h('h3', {}, 'Intents mixed up most'),
      h('p', {class: 'soft small', 'data-role': 'counted'}, COUNTED),
      h('ul', {class: 'last pairs'}, pairs.map(pair => h('li', {}, this.#button(pair)))),
      h('a', {class: 'small', href: address('review', project, {kind: 'confusion'})}, 'All of them, and what helps'),
    );
  }

  #button(pair) {
    const {names, intents} = pair;
    const about = {class: 'plain', 'data-key': `pair ${intents.join(' ')}`, onclick: () => this.#show(pair)};
    const amount = h('span', {class: 'soft small tabular'}, partsOf(pair));
    return h('button', about, h('span', {class: 'grow'}, names.join(' and '), h('br'), amount));
  }
}

// Findings by pair, whichever of the two is answered with the other; the pair with most texts first.
function pairsOf(findings) {
  const pairs = new Map();
  for (const {intents, title, figure, texts} of findings) {
    const key = [...intents].sort().join(' ');
    const names = [...title.matchAll(/“(.*?)”/g)].map(([, name]) => name);
    const pair = pairs.get(key) ?? {intents, names, count: 0, tests: 0, texts: []};
    const tests = testsOf(figure, texts);
    pairs.set(key, {
      ...pair,
      count: pair.count + figure,
      tests: tests === null || pair.tests === null ? null : pair.tests + tests,
      texts: [...pair.texts, ...texts],
    });
  }
  return [...pairs.values()].sort((one, other) => other.count - one.count);
}

// A finding names its test texts first, and not all texts if there are many; null where that hides how many are tests.
function testsOf(figure, texts) {
  const tests = texts.filter(({place}) => place === 'test').length;
  return tests === texts.length && figure > tests ? null : tests;
}
