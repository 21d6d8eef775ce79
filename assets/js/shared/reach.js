// What a bulk act would change. Labelled texts and test texts are counted, and changed only if they are ticked.
import {fill, h} from './elements.js';
import {ask} from './messages.js';
import {post} from './rest.js';
import {number, plural} from './words.js';

export const DECIDES = new Set(['label', 'out-of-scope']);

export class Reach {
  element = h('div', {class: 'reach', 'data-role': 'reach'});
  #base;
  #joins;
  #own;
  #hears;
  #counts = null;
  #revision = null;
  #asked = 0; // number of the newest count; older answers are dropped
  #boxes;

  // With `joins`, a label is added to those that are there. With `own` all texts are of one intent, so that those
  // that are no test texts are what the act is about. `hears` is called when the number may have changed.
  constructor(base, {joins = false, own = false, hears = () => {}} = {}) {
    this.#own = own;
    this.#base = base;
    this.#joins = joins;
    this.#hears = hears;
    const box = name => h('input', {type: 'checkbox', name, 'data-key': `also ${name}`, onchange: hears});
    this.#boxes = {labelled: box('labelled'), test: box('test')};
    this.#boxes.labelled.checked = own;
  }

  // Texts that the act changes as it is ticked now; null while they are counted.
  get number() {
    if (!this.#counts) return null;
    const {free, labelled, test} = this.#counts;
    return free + (this.allows('labelled') ? labelled : 0) + (this.allows('test') ? test : 0);
  }

  // Whether no text stays as it is.
  get takesAll() {
    const {free, labelled, test, same} = this.#counts;
    return same === 0 && this.number === free + labelled + test;
  }

  // Why nothing would change as it is ticked now.
  get untilTicked() {
    return this.#counts.labelled + this.#counts.test > 0 ? 'Tick what may change' : 'Nothing to change';
  }

  allows(name) {
    return Boolean(this.#counts?.[name]) && this.#boxes[name].checked;
  }

  // What an edit must say besides its filter, kind and value.
  get terms() {
    const {free, labelled, test, same} = this.#counts;
    const also = ['labelled', 'test'].filter(name => this.allows(name));
    return {expected: free + labelled + test + same, also, revision: this.#revision};
  }

  // Without a tick again, for another selection.
  reset() {
    this.#asked += 1;
    this.#counts = null;
    for (const box of Object.values(this.#boxes)) box.checked = false;
    fill(this.element, h('span', {class: 'soft small'}, 'Counting …'));
  }

  async count(edit) {
    const asked = (this.#asked += 1);
    const found = await post(`${this.#base}/edits/count`, edit);
    if (asked !== this.#asked) return;
    this.#counts = found.counts;
    this.#revision = found.revision;
    fill(this.element, this.#lines(edit));
    this.#hears();
  }

  #lines({kind, value}) {
    const {free, labelled, test, test_labelled: inTest, same} = this.#counts;
    const decides = DECIDES.has(kind);
    const unlabelled = decides || kind === 'delete';
    const inTestWords = decides && inTest > 0 ? ` (${number(inTest)} of them labelled)` : '';
    return [
      !this.#own && h('span', {}, unlabelled ? `${number(free)} unlabelled` : plural(free, 'text')),
      labelled > 0 && this.#tick('labelled', this.#labelledWords(kind, value, labelled)),
      test > 0 && this.#tick('test', `Also ${plural(test, 'test text')}${inTestWords}`),
      same > 0 && h('span', {class: 'soft small'}, `${plural(same, 'needs', 'need')} no change`),
    ];
  }

  #labelledWords(kind, value, n) {
    if (this.#own) return `${plural(n, 'text')}, not counting test texts`;
    if (kind === 'delete') return `Also ${plural(n, 'labelled text')}`;
    if (kind === 'label' && this.#joins) return `Also add it to ${plural(n, 'labelled text')}`;
    if (kind === 'label' && !value) return `Also relabel ${plural(n, 'labelled text')}`;
    return `Also relabel ${plural(n, 'text')} labelled otherwise`;
  }

  #tick(name, words) {
    return h('label', {class: 'check'}, this.#boxes[name], words);
  }
}

// Counts what an edit changes and asks; null if the user cancels, else what the edit must say. `of` are options of
// `Reach`; `counted`, which is called before it asks; and `doing`, which says on the button what is done to a number of
// texts, and whether these are all.
export async function agree(base, edit, said, {counted = () => {}, doing, ...of} = {}) {
  const confirm = h('span', {'data-role': 'confirm'});
  const words = doing ?? (n => `${said}: ${plural(n, 'text')}`);
  const hears = () => {
    confirm.textContent = reach.number ? words(reach.number, reach.takesAll) : reach.untilTicked;
    const button = confirm.closest('button');
    if (button) button.disabled = reach.number === 0;
  };
  const reach = new Reach(base, {...of, hears});
  await reach.count(edit);
  counted();
  const asked = ask(said, reach.element, confirm, edit.kind === 'delete' ? 'danger' : 'primary');
  confirm.closest('button').disabled = reach.number === 0;
  return (await asked) && reach.terms;
}

// What an edit left as it was, for the message after it.
export function leftWords({labelled, test, meanwhile}) {
  const kept = [
    labelled > 0 && plural(labelled, 'labelled text'),
    test > 0 && plural(test, 'test text'),
    meanwhile > 0 && `${plural(meanwhile, 'text')} that changed meanwhile`,
  ].filter(Boolean);
  return kept.length ? `Left as they were: ${kept.join(', ')}.` : '';
}
