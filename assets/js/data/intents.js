// The project's intents beside its utterances: make one, rename, describe, colour, archive, merge.
import {field, fill, h, select} from '../shared/elements.js';
import {fitting} from '../shared/finder.js';
import {chip, textsOf} from '../shared/intents.js';
import {ask, guarded, toast} from '../shared/messages.js';
import {agree, leftWords} from '../shared/reach.js';
import {call, post} from '../shared/rest.js';
import {undoing} from '../shared/undoing.js';
import {number, plural} from '../shared/words.js';

const MANY = 15; // with more intents, a field finds one
const NOTHING = ' '; // out of scope, in the list of intents to merge into; no name is blank
const GREY = '#888888'; // what a colour field shows for a colour that it cannot hold

export class IntentList {
  #heading = h('h2');
  #list = h('div', {class: 'intents'});
  #find = h('input', {
    type: 'search',
    placeholder: 'Find an intent',
    'aria-label': 'Find an intent in the list',
    oninput: () => this.draw(),
  });
  #base;
  #intents;
  #changed;

  constructor(base, intents, changed) {
    this.#base = base;
    this.#intents = intents;
    this.#changed = changed;
    const create = h('button', {class: 'push', onclick: guarded(() => this.#create())}, 'New');
    this.element = h(
      'section',
      {class: 'sheet', 'aria-label': 'Intents'},
      h('div', {class: 'row'}, this.#heading, create),
      this.#find,
      this.#list,
    );
  }

  draw() {
    const {all, sorted} = this.#intents;
    this.#find.hidden = all.length <= MANY;
    const shown = this.#find.hidden ? sorted : fitting(sorted, this.#find.value, ({name}) => name);
    const none = 'They come with a labelled file, or are created while labelling.';
    this.#heading.textContent = all.length ? `Intents: ${number(all.length)}` : 'Intents';
    fill(this.#list, all.length ? shown.map(intent => this.#entry(intent)) : h('p', {class: 'soft'}, none));
  }

  #entry(intent) {
    return h(
      'button',
      {
        onclick: guarded(() => this.#edit(intent)),
        title: intent.description || 'Rename, describe, colour, merge',
        'data-key': intent.id,
      },
      chip(intent),
      intent.archived && h('span', {class: 'badge'}, 'archived'),
      textsOf(intent),
    );
  }

  async #create() {
    const given = await ask('New intent', [nameField(), describing('What belongs to it', 3)], 'Create');
    if (!given) return;
    await post(`${this.#base}/intents`, {name: given.name, description: given.description});
    await this.#changed();
  }

  async #edit(intent) {
    const others = this.#intents.openSorted.filter(one => one.id !== intent.id).map(({name}) => [name, name]);
    const confirm = h('span', {'data-role': 'confirm'}, 'Save');
    const say = event => (confirm.textContent = savingWords(intent, event.target.value));
    const given = await ask(`Intent ${intent.name}`, editing(intent, this.#targets(others), say), confirm);
    if (!given) return;
    if (given.target === NOTHING) return this.#toOutOfScope(intent);
    if (given.target) await post(`${this.#base}/merge`, {source: intent.name, target: given.target});
    else await call(`${this.#base}/intents/${intent.id}`, {method: 'PATCH', body: changes(intent, given)});
    return this.#changed();
  }

  // A text of several intents keeps the others, so there the bulk bar takes one intent away.
  #targets(others) {
    return this.#intents.multi ? others : [[NOTHING, 'Out of scope: it means that no intent fits'], ...others];
  }

  // The intent is archived once no text carries it.
  async #toOutOfScope({id, name}) {
    const edit = {filter: {intent: id}, kind: 'out-of-scope', value: ''};
    const terms = await agree(this.#base, edit, `${name} to out of scope`, {own: true});
    if (!terms) return;
    const key = crypto.randomUUID();
    const {changed, left} = await post(`${this.#base}/edits`, {...edit, key, ...terms});
    const archive = archived => call(`${this.#base}/intents/${id}`, {method: 'PATCH', body: {archived}});
    const isEmpty = left.labelled + left.test + left.meanwhile === 0;
    if (isEmpty) await archive(true);
    const undo = async () => {
      if (isEmpty) await archive(false);
      await undoing(this.#base, key, this.#changed)();
    };
    const rest = isEmpty ? `${name} is archived.` : leftWords(left);
    toast(`${plural(changed, 'text')} of ${name}: out of scope now.`, rest, 'good', undo);
    await this.#changed();
  }
}

const nameField = (value = '') =>
  field('Name', h('input', {type: 'text', name: 'name', value, required: true, maxlength: 200}));

const describing = (words, rows, value = '') =>
  field(words, h('textarea', {name: 'description', rows}, value), {class: 'field below'});

const isHex = color => /^#/.test(color);

// What the button of the dialog does, once an intent to merge into is chosen.
function savingWords({utterances}, target) {
  if (!target) return 'Save';
  if (target === NOTHING) return 'Turn into out of scope …';
  return `Merge ${plural(utterances, 'text')} into ${target}`;
}

function editing(intent, others, onchange) {
  const color = isHex(intent.color) ? intent.color : GREY;
  const carried = `${plural(intent.utterances, 'text has', 'texts have')} this label.`;
  return [
    nameField(intent.name),
    describing('What belongs to it, and what does not', 4, intent.description),
    h(
      'div',
      {class: 'row end below'},
      field('Colour', h('input', {type: 'color', name: 'color', value: color})),
      h(
        'label',
        {class: 'check', title: 'Texts that have this label keep it'},
        h('input', {type: 'checkbox', name: 'archived', checked: intent.archived}),
        'Archive: do not offer it for new labels',
      ),
      field('Merge into', select({name: 'target', onchange}, [['', 'No other intent'], ...others])),
    ),
    h('p', {class: 'soft small below'}, `${carried} A new name changes none of them.`),
  ];
}

// A colour is sent only if the user has chosen one.
function changes(intent, given) {
  const shown = isHex(intent.color) ? intent.color : GREY;
  return {
    name: given.name,
    description: given.description,
    archived: 'archived' in given,
    ...(given.color === shown ? {} : {color: given.color}),
  };
}
