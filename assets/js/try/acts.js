// What a person does with an answer: add the text as an example, relabel a voter, pin. Each act shows its effect here.
import {fill, h} from '../shared/elements.js';
import {ask, guarded, toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {post} from '../shared/rest.js';
import {SecondClick} from '../shared/second_click.js';
import {undoing} from '../shared/undoing.js';
import {plural} from '../shared/words.js';
import {effectView} from './effect.js';
import {LabelChoice} from './label_choice.js';

const LONGEST_QUOTE = 60;
const quoted = text => `“${text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text}”`;
const sorted = ids => [...ids].sort().join(' ');
const inTest = ({split}) => split === 'test';
// Receipts say the same: `OUTVOTED` in app/services/explaining/words.py.
const outvotedWords = label => `Texts like it are labelled ${label.join(' and ')}: is its label right?`;

export class Acts {
  #base;
  #intents;
  #pins;
  #changed;
  #answer = null;
  #chosen = null; // label ids for the text on the page, which may be answered again meanwhile
  #relabelled = null; // the voter whose label is being chosen: its id and the ids chosen for it
  #effect = null; // of the last act on the text on the page
  #busy = null; // while an act is saved: its text, so that a second click does not repeat it
  #place = h('div', {'aria-live': 'polite'});
  #row = h('div', {class: 'row end acts'}); // the choice and its buttons
  #choice;
  #drawn = ''; // what the row was drawn from
  #voters = new Map(); // examples that can be relabelled, by the place of the control
  #deeds;
  #second = new SecondClick(); // once added, pinning stands where adding stood
  #addButton;
  #pinButton;

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
    this.#row.inert = false;
    this.#renewRow();
    this.#drawEffect();
    return [this.#knownLine(), this.#row, this.#place];
  }

  // Called when the pins are there: the label that this text is pinned to may not be the answer.
  pinsCame() {
    if (this.#answer) this.#renewRow();
  }

  // A list of labels that is open stays so when the same text is answered again.
  #renewRow() {
    if (this.#state === this.#drawn) this.#name();
    else this.#drawRow();
  }

  // What the choice of a label is drawn from.
  get #state() {
    const labels = this.#intents.open.map(({id, name}) => [id, name]);
    return JSON.stringify([this.#answer.prediction.text, this.#preset, this.#isOpen, labels]);
  }

  // One button for each deed, for the answer until another label is chosen.
  #drawRow() {
    this.#drawn = this.#state;
    // Never the model's own answer: a click would teach its mistake.
    this.#choice = new LabelChoice(this.#intents, this.#preset, {
      words: this.#isOpen ? 'Or, if it is wrong, the right label' : 'The right label',
      name: this.#intents.multi ? 'Expected intents' : 'Expected intent',
      key: 'expected',
      hears: ids => {
        this.#chosen = ids;
        this.#drawn = this.#state;
        this.#name();
      },
    });
    const add = guarded(() => this.add(this.#label));
    const pin = guarded(async event => {
      if (!this.#second.is(event)) await this.#alone(() => this.#pin(this.#label));
    });
    this.#addButton = h('button', {'data-key': 'add', onclick: add});
    this.#pinButton = h('button', {'data-key': 'pin', onclick: pin});
    this.#deeds = h('div', {class: 'row'}, this.#addButton, this.#pinButton);
    fill(this.#row, this.#choice.element, this.#deeds);
    this.#name();
  }

  // Says what the buttons do. They stand before the choice while they speak of the answer, and after it while they
  // speak of what is chosen there.
  #name() {
    const label = this.#label;
    const isRight = label !== null && this.#isAnswer(label);
    const isKnown = label !== null && this.#isKnown(label, isRight);
    const isPinned = label !== null && this.#isSame(label, this.#pinned);
    if (isRight !== (this.#row.firstChild === this.#deeds)) this.#row[isRight ? 'prepend' : 'append'](this.#deeds);
    const kind = label?.length === 0 ? this.#intents.nothing : 'example';
    this.#addButton.textContent = isRight ? `Right: add as ${kind}` : 'Add as example';
    this.#addButton.hidden = isKnown;
    this.#addButton.classList.toggle('primary', label !== null);
    const pinWords = isRight && isKnown ? 'Right: pin it' : 'Pin';
    this.#pinButton.textContent = isPinned ? 'Pinned' : pinWords;
    this.#pinButton.classList.toggle('primary', isKnown && !isPinned);
    this.#addButton.disabled = label === null;
    this.#pinButton.disabled = label === null || isPinned;
    this.#deeds.title = label === null ? 'Choose a label first' : '';
    this.#offerRelabels();
  }

  // The label that the acts are for: what is chosen, else the answer where nothing says otherwise.
  get #label() {
    return this.#choice.ids ?? (this.#isOpen ? this.#idsOf(this.#answered) : null);
  }

  // What a person has said of this text: just now, in the project, or by a pin.
  get #given() {
    return this.#chosen ?? this.#knownLabel ?? this.#pinned;
  }

  get #pinned() {
    return this.#pins.of(this.#answer.prediction.text);
  }

  // The label to choose at first: what was given, where it is not the answer.
  get #preset() {
    const given = this.#given;
    return given === null || this.#isAnswer(given) ? null : given;
  }

  // Whether the answer may be right. It is not where the text is labelled otherwise, or in several ways, and cannot be
  // where the project lacks an intent of it.
  get #isOpen() {
    const given = this.#given;
    const differ = given === null && this.#answer.known.some(({labels}) => labels !== null);
    const lacks = this.#idsOf(this.#answered).length < this.#answered.length;
    return !differ && !lacks && (given === null || this.#isAnswer(given));
  }

  #isSame(ids, others) {
    return others !== null && sorted(ids) === sorted(others);
  }

  #isAnswer(ids) {
    return ids.length === this.#answered.length && this.#isSame(ids, this.#idsOf(this.#answered));
  }

  // Whether the text has this label already as an example, or tests the model as it is.
  #isKnown(ids, isRight) {
    const {known, right} = this.#answer;
    if (isRight) return right === 'pin'; // receipts advise the same
    const examples = known.filter(one => !inTest(one));
    return examples.length > 0 && examples.every(({labels}) => this.#isSame(ids, labels));
  }

  // Called when another text is typed: until it is answered, a label would be chosen for the one before.
  wait() {
    this.#row.inert = true;
  }

  // The control beside a vote that relabels its example, in its place. `seen` of a voter is a revision at which it
  // had the label that the page shows.
  relabelling(voter) {
    const place = h('div');
    this.#voters.set(place, voter);
    this.#drawRelabelling(place, voter);
    return place;
  }

  // Once somebody says that the answer is wrong, the label of an example may be why.
  #offerRelabels() {
    for (const place of this.#voters.keys()) if (!place.isConnected) this.#voters.delete(place);
    this.#voters.forEach((voter, place) => this.#drawRelabelling(place, voter));
  }

  // Where nothing is doubted, a button beside every example would ask for changes. One of another label that votes for
  // the answer is odd in itself, and so is one whose neighbours all have another label.
  #isDoubtful({vote = 0, intents, outvoted}) {
    const label = this.#label;
    if (outvoted?.length) return true;
    const isOdd = vote > 0 && this.#answered.length > 0 && !intents.some(name => this.#answered.includes(name));
    return isOdd || label === null || !this.#isAnswer(label);
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
    const where = known.every(inTest) ? 'A test text' : 'In your project already';
    return h(
      'div',
      {class: 'row tight small', 'data-role': 'known'},
      h('span', {class: 'soft'}, `${where}${known.length > 1 ? `, ${plural(known.length, 'time')}` : ''}:`),
      known.map(({labels}) => this.#intents.labels(labels)),
    );
  }

  // Adds the text on the page with a label, or relabels it where it is an example already.
  async add(ids) {
    const {known, prediction, revision} = this.#answer;
    const label = this.#nameOf(ids);
    const tested = known.filter(inTest);
    const examples = known.filter(one => !inTest(one));
    if (tested.length && !examples.length) {
      await this.#relabelTest(tested, ids, revision);
      return;
    }
    const others = examples.filter(({labels}) => labels === null || this.#nameOf(labels) !== label);
    if (examples.length && !others.length) {
      toast(`It is an example of ${label} already.`, 'Nothing changes.');
      return;
    }
    const left = tested.length ? ' Its copy among the test texts stays as it is.' : '';
    const relabelled = others.filter(({labels}) => labels !== null);
    const words = relabelled.length
      ? `Relabelled ${plural(relabelled.length, 'text')}: ${quoted(prediction.text)} is ${label} now.${left}`
      : `Added ${quoted(prediction.text)} as an example of ${label}.${left}`;
    await this.#make({kind: 'add', intents: ids, value: prediction.text}, words, revision);
  }

  // A test text is no example, and its label changes only if the person says so.
  async #relabelTest(tested, ids, seen) {
    const label = this.#nameOf(ids);
    const words = [
      'A text that tests the model cannot be one of its examples.',
      `You can change its label there to ${label} instead.`,
    ].join(' ');
    if (!(await ask('This is a test text', h('p', {}, words), 'Change its test label'))) return;
    const repair = {kind: 'relabel', ids: tested.map(({id}) => id), intents: ids};
    await this.#make(repair, `Relabelled ${plural(tested.length, 'test text')}: ${label}.`, seen);
  }

  // `labels` are the ids of the label that the text has now, as far as the revision `seen`.
  async relabel({id, text, labels, seen}, ids) {
    if (labels !== null && this.#nameOf(labels) === this.#nameOf(ids)) {
      toast(`It is labelled ${this.#nameOf(ids)} already.`, 'Nothing changes.');
      return;
    }
    const words = `${labels === null ? 'Labelled' : 'Relabelled'} 1 text: ${quoted(text)} is ${this.#nameOf(ids)} now.`;
    await this.#make({kind: 'relabel', ids: [id], intents: ids}, words, seen);
  }

  async #alone(act) {
    const {text} = this.#answer.prediction;
    if (this.#busy !== null) {
      // Said where it is no second click of the same hand: the text on the page is another one by now.
      const words = 'The change before is still being saved.';
      if (this.#busy !== text) toast(words, 'Nothing was done: press again.', 'bad');
      return;
    }
    this.#busy = text;
    try {
      await act();
    } finally {
      this.#busy = null;
      this.#drawEffect();
    }
  }

  #make = (repair, words, seen) => this.#alone(() => this.#repair(repair, words, seen));

  // The effect is counted first, because afterwards nothing would change any more.
  async #repair(repair, words, seen) {
    const before = this.#answered;
    const {text} = this.#answer.prediction;
    fill(this.#place, h('p', {class: 'soft small'}, 'Counting the answers that change …'));
    const counted = await this.#count(repair);
    const key = newKey();
    await post(`${this.#base}/review/act`, {key, repair, seen}).catch(error => {
      this.#changed().catch(() => {}); // the message tells of the first error
      throw error;
    });
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
    const broken = ' It gets another answer now: the pin is broken. A pin checks answers, and changes none.';
    const note = `Each new version is checked against it.${keeps ? '' : broken}`;
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
    const {exemplar_id: id, text, intents, outvoted, seen} = voter;
    const odd = outvoted?.length > 0 && h('span', {'data-role': 'outvoted'}, outvotedWords(outvoted));
    const open = ids => {
      this.#relabelled = ids && {id, ids};
      this.#drawRelabelling(place, voter);
    };
    if (this.#relabelled?.id !== id) {
      const start = () => {
        open(outvoted?.length ? this.#idsOf(outvoted) : (this.#chosen ?? this.#idsOf(intents)));
        place.querySelector('select,input')?.focus();
      };
      if (!this.#isDoubtful(voter)) return fill(place);
      const attributes = {class: 'small', 'data-key': `relabel ${id}`};
      fill(place, h('div', {class: 'row tight'}, odd, h('button', {...attributes, onclick: start}, 'Relabel')));
      return undefined;
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
    const save = guarded(() => this.relabel({id, text, labels, seen}, choice.ids));
    return fill(
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
