// The project's intents beside its utterances: make one, rename, describe, colour, archive, turn into out of scope.
import {address} from '../shared/address.js';
import {field, fill, h} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {fitting} from '../shared/finder.js';
import {chip, textsOf} from '../shared/intents.js';
import {ask, askToDo, guarded, toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {agree, leftWords} from '../shared/reach.js';
import {call, post} from '../shared/rest.js';
import {undoing} from '../shared/undoing.js';
import {number, plural, sameLines} from '../shared/words.js';

const MANY = 15; // with more intents, a field finds one
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
  #context;
  #base;
  #intents;
  #changed;
  #told;

  // Calls `changed` after an act, or `told` after one on texts whose message has an Undo.
  constructor(context, intents, {changed, told}) {
    this.#context = context;
    this.#base = context.base;
    this.#intents = intents;
    this.#changed = changed;
    this.#told = told;
    const create = h('button', {class: 'push', onclick: guarded(() => this.#create())}, 'New');
    this.element = h(
      'section',
      {class: 'sheet intent-list', 'aria-label': 'Intents'},
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
        title: intent.description || 'Rename, describe, colour, merge, archive',
        'data-key': intent.id,
      },
      chip(intent),
      intent.archived && h('span', {class: 'badge'}, 'archived'),
      textsOf(intent),
    );
  }

  async #create() {
    const content = [nameField(), describing('What belongs to it', 3)];
    const create = ({name, description}) => post(`${this.#base}/intents`, {name, description});
    if (await askToDo('New intent', content, 'Create', create)) await this.#changed();
  }

  async #edit(intent) {
    const content = [...editing(intent), this.#otherChanges(intent)];
    const {name, description} = intent;
    let isSent = false;
    const save = async given => {
      const changed = changes(intent, given);
      if (!Object.keys(changed).length) return;
      isSent = true;
      await this.#change(intent, {...changed, seen: {name, description}});
    };
    await askToDo(`Intent ${intent.name}`, content, 'Save', save);
    if (isSent) await this.#changed();
  }

  #change({id}, body) {
    return call(`${this.#base}/intents/${id}`, {method: 'PATCH', body});
  }

  // What reaches beyond the form is done apart from what the form would save, and not before that is saved. Each act
  // closes the dialog by `leave`: until it can, a second press meets the button of the first, and nothing that lies
  // under the dialog.
  #otherChanges(intent) {
    const act = (words, action) => {
      const press = ({target}) => saveFirst(target, intent) || action(() => target.closest('dialog')?.close(''));
      return busyButton(words, press, {type: 'button', class: 'small'});
    };
    const {multi} = this.#intents;
    return h(
      'section',
      {class: 'other-changes below', 'aria-label': 'Other changes'},
      h(
        'div',
        {class: 'row tight'},
        intent.utterances > 0 && this.#toTexts(intent),
        !intent.archived && act('Add examples …', leave => this.#addExamples(intent, leave)),
        !intent.archived && intent.utterances > 0 && this.#toMerging(intent),
        // A text of several intents keeps the others, so there the bulk bar takes one intent away.
        !multi && !intent.archived && act('Turn into out of scope …', leave => this.#toOutOfScope(intent, leave)),
        intent.archived
          ? act('Use it again', leave => this.#archive(intent, false, leave))
          : act('Archive …', leave => this.#askToArchive(intent, leave)),
      ),
    );
  }

  #toTexts(intent) {
    const href = address('data', this.#context.project, {intent: intent.id});
    return linkFrom(intent, href, `Show its ${plural(intent.utterances, 'text')}`);
  }

  // Review shows what a merge does to answers, once there is a model; until then texts are moved by their labels.
  #toMerging(intent) {
    const {project, status} = this.#context;
    const href = address('review', project, {tab: 'reshape', intent: intent.id, how: 'merge'});
    return status.champion !== null && linkFrom(intent, href, 'Merge it in Review');
  }

  // Texts that are here already keep a label that they have.
  async #addExamples({name}, leave) {
    leave();
    const box = h('textarea', {name: 'texts', rows: 6, required: true});
    const add = ({texts}) => this.#add(name, texts.split(/[\r\n]+/).filter(line => line.trim()));
    if (await askToDo(`Add examples to ${name}`, field('One text a line', box), 'Add', add)) await this.#told();
  }

  async #add(name, lines) {
    if (!lines.length) return;
    const texts = lines.map(text => ({text, intents: [name]}));
    const {added, conflicting, key} = await post(`${this.#base}/texts`, {texts});
    const [one, many] = ['text has another label here and keeps it', 'texts have another label here and keep it'];
    const kept = conflicting ? `${plural(conflicting, one, many)}.` : '';
    const undo = key ? undoing(this.#base, key, this.#changed) : null;
    toast(`${plural(added, 'text')} added to ${name}.`, kept, 'good', undo);
  }

  async #askToArchive(intent, leave) {
    leave();
    const said = [
      'It is no longer an answer, and no label offers it.',
      intent.utterances > 0 && `Its ${plural(intent.utterances, 'text keeps the label', 'texts keep their label')}.`,
      '“Use it again” brings it back.',
    ];
    const words = h('p', {}, said.filter(Boolean).join(' '));
    if (await ask(`Archive ${intent.name}?`, words, 'Archive')) await this.#archive(intent, true);
  }

  async #archive(intent, archived, leave = () => {}) {
    leave();
    const set = async value => {
      await this.#change(intent, {archived: value});
      await this.#changed();
    };
    await set(archived);
    const kept = 'The model no longer answers it, and no label offers it. Its texts keep theirs.';
    const said = archived ? `${intent.name} is archived.` : `${intent.name} is an answer again.`;
    toast(said, archived && kept, 'good', () => set(!archived));
  }

  // The intent is archived once no text carries it.
  async #toOutOfScope(intent, leave) {
    const {id, name} = intent;
    const edit = {filter: {intent: id}, kind: 'out-of-scope', value: ''};
    const doing = (n, isAll) => `Make ${plural(n, 'text')} out of scope${isAll ? ` and archive ${name}` : ''}`;
    const terms = await agree(this.#base, edit, `${name} to out of scope`, {own: true, counted: leave, doing});
    if (!terms) return;
    const key = newKey();
    const {changed, left} = await post(`${this.#base}/edits`, {...edit, key, ...terms});
    const isEmpty = left.labelled + left.test + left.meanwhile === 0;
    if (isEmpty) await this.#change(intent, {archived: true});
    // Its texts first: where they are not taken back, it would be an answer that no text has.
    const undo = undoing(this.#base, key, async () => {
      if (isEmpty) await this.#change(intent, {archived: false});
      await this.#changed();
    });
    const rest = isEmpty ? `${name} is archived.` : leftWords(left);
    toast(`${plural(changed, 'text')} of ${name}: out of scope now.`, rest, 'good', undo);
    await this.#told();
  }
}

const nameField = (value = '') =>
  field('Name', h('input', {type: 'text', name: 'name', value, required: true, maxlength: 200}));

const describing = (words, rows, value = '') =>
  field(words, h('textarea', {name: 'description', rows}, value), {class: 'field below'});

// Whether the form holds a change, which the act at `place` would drop; that is told.
function saveFirst(place, intent) {
  const given = Object.fromEntries(new FormData(place.closest('form')));
  const isChanged = Object.keys(changes(intent, given)).length > 0;
  if (isChanged) toast('What you changed here is not saved yet.', 'Save it first, or press Cancel to drop it.');
  return isChanged;
}

// A way out of the form.
function linkFrom(intent, href, words) {
  const onclick = event => saveFirst(event.target, intent) && event.preventDefault();
  return h('a', {class: 'button small', href, onclick}, words);
}

const isHex = color => /^#/.test(color);

function editing(intent) {
  const color = isHex(intent.color) ? intent.color : GREY;
  const {utterances: n} = intent;
  const carried = n === 1 ? 'Its text stays' : `All ${number(n)} texts stay`;
  return [
    nameField(intent.name),
    describing('What belongs to it, and what does not', 4, intent.description),
    field('Colour', h('input', {type: 'color', name: 'color', value: color}), {class: 'field below'}),
    n > 0 && h('p', {class: 'soft small below'}, `${carried} in this intent when you rename it.`),
  ];
}

// Only what the user has changed is sent: somebody else may have changed the rest since.
function changes(intent, given) {
  const shown = {
    name: intent.name,
    description: intent.description,
    color: isHex(intent.color) ? intent.color.toLowerCase() : GREY,
  };
  const fields = Object.keys(shown).filter(field => !sameLines(shown[field], given[field]));
  return Object.fromEntries(fields.map(field => [field, given[field]]));
}
