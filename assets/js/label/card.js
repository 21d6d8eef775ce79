// The card: one utterance with its suggestions and actions.
// Its elements stay in place and only their content changes, so typing is never interrupted.
import {fill, h} from '../shared/elements.js';
import {percent, plural} from '../shared/words.js';

const NO_MODEL = 'No model yet, so there are no suggestions: type an intent’s number or press /.';
const LOADING = 'The model is loading; suggestions will follow. You can label already.';

export class Card {
  #about = h('div', {class: 'row small soft', style: {'min-height': '22px'}});
  #digits = h('span', {class: 'digits push mono'});
  #text = h('p', {class: 'utterance', 'aria-live': 'polite', 'data-role': 'utterance'});
  #options;
  #take;
  #work;
  #rest = h('div');
  #intents;
  #multi;
  #give;

  // `give` is called with an intent; `buttons` are triples of a name, a key and an action.
  constructor({intents, multi, finder, give, accept, buttons}) {
    this.#intents = intents;
    this.#multi = multi;
    this.#give = give;
    const label = multi ? 'Intents; choose one or more' : 'Suggested intents';
    this.#options = h('div', {class: 'options', role: 'group', 'aria-label': label});
    this.#take = h('button', {class: 'primary', hidden: !multi, onclick: accept});
    this.#work = h(
      'div',
      {hidden: true},
      this.#about,
      this.#text,
      this.#options,
      h('div', {style: {margin: '12px 0'}}, finder.element),
      h('div', {class: 'row'}, this.#take, buttons.map(keyButton)),
    );
    this.element = h(
      'section',
      {class: 'sheet card', 'aria-label': 'Utterance to label'},
      this.#work,
      this.#rest,
    );
  }

  showDigits(digits) {
    this.#digits.textContent = digits ? `number ${digits}…` : '';
  }

  // Shows a message instead of an utterance.
  rest(content) {
    this.#work.hidden = true;
    this.#rest.hidden = false;
    fill(this.#rest, content);
  }

  // `chosen` holds the intents chosen so far, in a multi-label project.
  draw(item, {chosen, hasModel}) {
    this.#work.hidden = false;
    this.#rest.hidden = true;
    fill(this.#about, this.#facts(item), this.#digits);
    this.#text.textContent = item.text;
    this.#text.dataset.id = item.id;
    const waits = item.suggestions === null && h('p', {class: 'soft'}, hasModel ? LOADING : NO_MODEL);
    const {intents, create} = chosen.of(item);
    const ids = new Set(this.#multi ? intents : []);
    const forget = name => {
      chosen.forget(item, name);
      this.draw(item, {chosen, hasModel});
    };
    const fresh = create.map(name => newOption(name, () => forget(name)));
    fill(this.#options, this.#suggested(item, ids), waits, this.#chosenBesides(item, ids), fresh);
    if (!this.#multi) return;
    const n = ids.size + create.length;
    const what = n ? `Label with ${plural(n, 'intent')} ` : `Label as ${this.#intents.nothing} `;
    this.#take.disabled = !chosen.areKnown(item);
    fill(this.#take, what, h('kbd', {}, 'Enter'));
  }

  #facts(item) {
    const seems = `seems ${this.#multi ? 'to have ' : ''}${this.#intents.nothing}`;
    return [
      item.labels !== null && h('span', {}, 'labelled ', this.#intents.labels(item.labels)),
      item.flagged && h('span', {class: 'badge warn'}, item.flagged),
      item.out_of_scope && h('span', {class: 'badge warn'}, seems),
    ];
  }

  #suggested({suggestions}, chosen) {
    return (suggestions ?? []).map((one, place) => this.#option(one, chosen, place === 0));
  }

  #chosenBesides({suggestions}, chosen) {
    const shown = new Set((suggestions ?? []).map(one => one.intent_id));
    return [...chosen]
      .filter(id => !shown.has(id))
      .map(id => {
        const intent = this.#intents.byId.get(id)?.name ?? '?';
        return this.#option({intent_id: id, intent, probability: null}, chosen, false);
      });
  }

  #option({intent_id: id, intent: name, probability}, chosen, first) {
    const intent = this.#intents.byId.get(id);
    const key = first && !this.#multi ? `${intent?.number ?? ''} ↵` : (intent?.number ?? '–');
    return h(
      'button',
      {
        class: 'option',
        style: {'--dot': intent?.color},
        disabled: !intent,
        'aria-pressed': this.#multi ? String(chosen.has(id)) : null,
        // In a single-label project no option keeps the focus on the next card, where Enter would press it.
        'data-key': this.#multi ? id : null,
        onclick: () => this.#give(intent),
      },
      h('kbd', {}, key),
      h('span', {class: 'chip bare', style: {border: 0, background: 'transparent', padding: 0}}, name),
      h('span', {class: 'share'}, probability === null ? '' : percent(probability, 0)),
      probability !== null && h('i', {class: 'fill', style: {width: `${100 * probability}%`}}),
    );
  }
}

const keyButton = ([name, key, action]) =>
  h('button', {onclick: action}, name, ' ', h('kbd', {'aria-hidden': 'true'}, key));

// An intent that is created together with the label; pressing it removes it.
const newOption = (name, forget) =>
  h(
    'button',
    {class: 'option', 'aria-pressed': 'true', 'data-key': `new ${name}`, onclick: forget},
    h('kbd', {}, 'new'),
    h('span', {}, name),
  );
