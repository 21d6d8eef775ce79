// What a person does with an answer: add the text as an example, relabel a voter, pin. Each act shows its effect here.
import {fill, h} from '../shared/elements.js';
import {ask, guarded, toast} from '../shared/messages.js';
import {post} from '../shared/rest.js';
import {undoing} from '../shared/undoing.js';
import {plural} from '../shared/words.js';
import {effectView} from './effect.js';
import {LabelChoice} from './label_choice.js';

const LONGEST_QUOTE = 60;
const quoted = text => `“${text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text}”`;
const sorted = ids => [...ids].sort().join(' ');
const inTest = ({split}) => split === 'test';

export class Acts {
  #base;
  #intents;
  #pins;
  #changed;
  #answer = null;
  #chosen = null; // label ids for the text on the page, which may be answered again meanwhile
  #relabelled = null; // the voter whose label is being chosen: its id and the ids chosen for it
  #effect = null; // of the last act on the text on the page
  #busy = false; // while an act is saved, so that a second click does not repeat it
  #place = h('div', {'aria-live': 'polite'});
  #row = null; // the choice and its buttons

  // `changed` answers the text on the page again.
  constructor({base, intents, pins, changed}) {
    this.#base = base;
    this.#intents = intents;
    this.#pins = pins;
    this.#changed = changed;
  }

  // The form under an answer, with the effect of the last act on the same text.
  form(answer) {
    if (answer.prediction.text !== this.#answer?.prediction.text) {
      this.#chosen = this.#relabelled = this.#effect = null;
    }
    this.#answer = answer;
    const hears = ids => {
      this.#chosen = ids;
      addButton.disabled = pinButton.disabled = ids === null;
      this.#stress(right, addButton);
    };
    const right = this.#rightButton();
    // Never the model's own answer: a click would teach its mistake.
    const choice = new LabelChoice(this.#intents, this.#chosen ?? this.#knownLabel, {
      words: right ? 'Or, if it is wrong, the right label' : 'The right label',
      name: this.#intents.multi ? 'Expected intents' : 'Expected intent',
      key: 'expected',
      hears,
    });
    const add = guarded(() => this.add(choice.ids));
    const pin = guarded(() => this.#alone(() => this.#pin(choice.ids)));
    const disabled = choice.ids === null;
    const waiting = {disabled, title: 'For the label chosen beside it'};
    const addButton = h('button', {'data-key': 'add', ...waiting, onclick: add}, 'Add as example');
    const pinButton = h('button', {'data-key': 'pin', ...waiting, onclick: pin}, 'Pin');
    this.#stress(right, addButton);
    this.#row = h('div', {class: 'row end acts'}, right, choice.element, addButton, pinButton);
    this.#drawEffect();
    return [this.#knownLine(), this.#row, this.#place];
  }

  // Called when another text is typed: until it is answered, a label would be chosen for the one before.
  wait() {
    if (this.#row) this.#row.inert = true;
  }

  // One click for a right answer: the text becomes an example of it, or a pin where it is labelled so already. None
  // where the text is labelled otherwise, or the project lacks an intent of the answer.
  #rightButton() {
    const names = this.#answered;
    const ids = this.#idsOf(names);
    const label = this.#knownLabel;
    const isOther = label !== null && sorted(label) !== sorted(ids);
    const differ = label === null && this.#answer.known.some(({labels}) => labels !== null);
    if (ids.length < names.length || isOther || differ) return null;
    const isPin = label !== null || this.#answer.known.some(inTest);
    const act = isPin ? () => this.#alone(() => this.#pin(ids)) : () => this.add(ids);
    const about = {'data-key': 'right', 'data-role': 'right', onclick: guarded(act)};
    return h('button', about, isPin ? 'Right: pin it' : 'Right: add as example');
  }

  // The one act that stands out: to say that the answer is right, until another label is chosen.
  #stress(right, add) {
    const isRight = right !== null && this.#chosen === null;
    right?.classList.toggle('primary', isRight);
    add.classList.toggle('primary', !isRight);
  }

  // The control beside a vote that relabels its example, in its place.
  relabelling(voter) {
    const place = h('div');
    this.#drawRelabelling(place, voter);
    return place;
  }

  get #answered() {
    return this.#answer.prediction.decision.intents;
  }

  // The label that the project has for this text; null if it has none, or several that differ.
  get #knownLabel() {
    const labelled = this.#answer.known.map(({labels}) => labels).filter(labels => labels !== null);
    const [first] = labelled;
    return labelled.length && labelled.every(labels => this.#nameOf(labels) === this.#nameOf(first)) ? first : null;
  }

  // The rival beside the answer where a text may have several intents, else alone.
  idsWith(name) {
    return this.#idsOf(this.#intents.multi ? [...this.#answered, name] : [name]);
  }

  #idsOf(names) {
    return names.map(name => this.#intents.byName.get(name)?.id).filter(Boolean);
  }

  #nameOf(ids) {
    const names = ids.map(id => this.#intents.byId.get(id)?.name ?? '?');
    return names.join(' and ') || this.#intents.nothing;
  }

  #knownLine() {
    const {known} = this.#answer;
    if (!known.length) return null;
    const where = known.every(inTest) ? 'In the test set' : 'In your project already';
    return h(
      'div',
      {class: 'row tight small', 'data-role': 'known'},
      h('span', {class: 'soft'}, `${where}${known.length > 1 ? `, ${plural(known.length, 'time')}` : ''}:`),
      known.map(({labels}) => this.#intents.labels(labels)),
    );
  }

  // Adds the text on the page with a label, or relabels it where it is an example already.
  async add(ids) {
    const {known, prediction} = this.#answer;
    const label = this.#nameOf(ids);
    const tested = known.filter(inTest);
    const examples = known.filter(one => !inTest(one));
    if (tested.length && !examples.length) {
      await this.#relabelTest(tested, ids);
      return;
    }
    const others = examples.filter(({labels}) => labels === null || this.#nameOf(labels) !== label);
    if (examples.length && !others.length) {
      toast(`It is an example of ${label} already.`, 'Nothing changes.');
      return;
    }
    const left = tested.length ? ' Its copy in the test set stays as it is.' : '';
    const relabelled = others.filter(({labels}) => labels !== null);
    const words = relabelled.length
      ? `Relabelled ${plural(relabelled.length, 'text')}: ${quoted(prediction.text)} is ${label} now.${left}`
      : `Added ${quoted(prediction.text)} as an example of ${label}.${left}`;
    await this.#make({kind: 'add', intents: ids, value: prediction.text}, words);
  }

  // A text of the test set is no example, and its label changes only if the person says so.
  async #relabelTest(tested, ids) {
    const label = this.#nameOf(ids);
    const words = [
      'A text that tests the model cannot be one of its examples.',
      `You can change its label in the test set to ${label} instead.`,
    ].join(' ');
    if (!(await ask('This text is in the test set', h('p', {}, words), 'Change its test label'))) return;
    const repair = {kind: 'relabel', ids: tested.map(({id}) => id), intents: ids};
    await this.#make(repair, `Relabelled ${plural(tested.length, 'text')} of the test set: ${label}.`);
  }

  // `labels` are the ids of the label that the text has now.
  async relabel({id, text, labels}, ids) {
    if (labels !== null && this.#nameOf(labels) === this.#nameOf(ids)) {
      toast(`It is labelled ${this.#nameOf(ids)} already.`, 'Nothing changes.');
      return;
    }
    const words = `${labels === null ? 'Labelled' : 'Relabelled'} 1 text: ${quoted(text)} is ${this.#nameOf(ids)} now.`;
    await this.#make({kind: 'relabel', ids: [id], intents: ids}, words);
  }

  async #alone(act) {
    if (this.#busy) return;
    this.#busy = true;
    try {
      await act();
    } finally {
      this.#busy = false;
      this.#drawEffect();
    }
  }

  #make = (repair, words) => this.#alone(() => this.#repair(repair, words));

  // The effect is counted first, because afterwards nothing would change any more.
  async #repair(repair, words) {
    const before = this.#answered;
    const {text} = this.#answer.prediction;
    fill(this.#place, h('p', {class: 'soft small'}, 'Counting the answers that change …'));
    const counted = await this.#count(repair);
    const key = crypto.randomUUID();
    await post(`${this.#base}/review/act`, {key, repair});
    const undo = undoing(this.#base, key, () => this.#takenBack());
    await this.#show({text, words, before, ...counted}, undo);
  }

  async #count(repair) {
    try {
      const [blast] = await post(`${this.#base}/review/what-if`, {repairs: [repair]});
      return {blast, note: ''};
    } catch ({message}) {
      return {blast: null, note: message};
    }
  }

  async #pin(ids) {
    const before = this.#answered;
    const {text} = this.#answer.prediction;
    const label = this.#nameOf(ids);
    const undo = await this.#pins.set(text, ids);
    const keeps = this.#nameOf(this.#idsOf(before)) === label;
    const verdict = keeps ? 'It is the answer now.' : 'It gets another answer now: the pin is broken.';
    const note = `Each new version is checked against it. ${verdict} A pin changes no answer.`;
    const taken = async () => {
      await undo();
      toast('Taken back.');
      await this.#takenBack();
    };
    await this.#show({text, words: `Pinned ${quoted(text)} to ${label}.`, before, blast: null, note}, taken);
  }

  async #show(effect, undo) {
    this.#relabelled = null;
    // Said once: in its place, or in a message where another text is on the page by now.
    if (effect.text === this.#answer.prediction.text) this.#effect = {...effect, undo};
    else toast(effect.words, '', 'good', undo);
    await this.#changed();
  }

  async #takenBack() {
    this.#effect = null;
    await this.#changed();
  }

  #drawEffect() {
    fill(this.#place, this.#effect && effectView(this.#effect, this.#answered, this.#intents));
  }

  #drawRelabelling(place, voter) {
    const {exemplar_id: id, text, intents} = voter;
    const open = ids => {
      this.#relabelled = ids && {id, ids};
      this.#drawRelabelling(place, voter);
    };
    if (this.#relabelled?.id !== id) {
      const start = () => {
        open(this.#chosen ?? this.#idsOf(intents));
        place.querySelector('select,input')?.focus();
      };
      const attributes = {class: 'small', 'data-key': `relabel ${id}`};
      fill(place, h('button', {...attributes, onclick: start}, 'Relabel'));
      return;
    }
    const choice = new LabelChoice(this.#intents, this.#relabelled.ids, {
      words: 'Its label',
      name: 'Label of the example',
      key: 'voter',
      hears: ids => {
        this.#relabelled = {id, ids};
      },
    });
    const labels = this.#idsOf(intents);
    const save = guarded(() => this.relabel({id, text, labels}, choice.ids));
    fill(
      place,
      h(
        'div',
        {class: 'row end'},
        choice.element,
        h('button', {class: 'small', 'data-key': `save ${id}`, onclick: save}, 'Save label'),
        h('button', {class: 'small plain', 'data-key': `leave ${id}`, onclick: () => open(null)}, 'Cancel'),
      ),
    );
  }
}
