// The acts of a page that can be undone. The newest one stays in sight with its Undo: a message would go, and lie over
// what comes next. After an undo it is said what was taken back, in the same place.
import {fill, h} from './elements.js';
import {icon} from './icons.js';
import {dialogIsOpen, guarded, toast} from './messages.js';

const TOLD = 15000; // milliseconds that an undo is told; on a phone the line lies over the page

export class Newest {
  element = h('div', {class: 'newest small', role: 'status', 'data-role': 'newest', hidden: true});
  #takeBack;
  #made = []; // newest last
  #fresh = null; // the act that was made last, until it is taken back
  #back = null; // what was taken back last, until another act is made: `act`, whether it `isDone`, what is left of it

  // `takeBack` takes back one act on the server; returns what stays of it in words, if anything does.
  constructor(takeBack) {
    this.#takeBack = takeBack;
  }

  // An act: its `words`, whether it `isSaved`, what it changed for the better or the worse (`gain`: badges), and a
  // sentence `about` it. It stands here at once, so that it can be undone before the server has answered.
  add(act) {
    this.#fresh = act;
    this.#back = null;
    this.#setMade([...this.#made, act]);
  }

  // The server has refused an act.
  drop(act) {
    this.#setMade(this.#made.filter(other => other !== act));
  }

  saved(act) {
    act.isSaved = true;
    this.#draw();
  }

  // Without an act, the newest one is taken back.
  async undo(act = this.#made.at(-1)) {
    if (!act) {
      toast('Nothing was changed here yet.', 'The Data page undoes older changes.');
      return;
    }
    if (!this.#made.includes(act)) {
      toast('It is taken back already.');
      return;
    }
    this.#fresh = null;
    const back = (this.#back = {act, isDone: false, left: ''});
    this.drop(act);
    try {
      back.left = await this.#takeBack(act);
      back.isDone = true;
    } catch (error) {
      if (this.#back === back) this.#back = null;
      if (error.status === 0) this.add(act); // the server did not answer: it can be tried again
      throw error;
    } finally {
      this.#draw();
    }
    setTimeout(() => this.#forget(back), TOLD);
  }

  #forget(back) {
    if (this.#back !== back) return;
    this.#back = null;
    this.#draw();
  }

  // U takes back the newest act. What another key does, `keyed` finds by its name; what is typed does nothing.
  onKey(event, keyed = () => null) {
    const {key, ctrlKey, metaKey, altKey, isComposing, repeat, target} = event;
    if (isComposing || repeat || altKey || dialogIsOpen()) return;
    if (target.matches?.('input:not([type=checkbox]),textarea,select')) return;
    const [name, isChord] = [key.toLowerCase(), ctrlKey || metaKey];
    const undoes = name === (isChord ? 'z' : 'u');
    const action = undoes ? () => this.undo() : !isChord && keyed(name);
    if (!action) return;
    event.preventDefault();
    guarded(action)();
  }

  #setMade(made) {
    this.#made = made;
    this.#draw();
  }

  #draw() {
    const act = this.#made.at(-1);
    this.element.hidden = !act && !this.#back;
    fill(this.element, act && act === this.#fresh ? this.#ofMade(act) : this.#ofTakenBack(act));
  }

  #ofMade(act) {
    return [
      h(
        'div',
        {class: 'row tight'},
        act.isSaved && h('span', {class: 'good', title: 'Saved'}, icon('circle-check')),
        h('span', {class: 'cut', dir: 'auto', title: act.words}, act.words),
        this.#button('Undo ', ''),
      ),
      act.isSaved && act.gain && h('div', {class: 'row tight gain', 'data-role': 'gain'}, act.gain),
      act.isSaved && act.about && h('div', {class: 'soft', 'data-role': 'about-act'}, act.about),
    ];
  }

  // The act before it, if there is one, was not made just now: only its Undo is offered.
  #ofTakenBack(before) {
    const {act, isDone, left} = this.#back ?? {};
    const words = act && `${isDone ? 'Taken back' : 'Taking back'}: ${act.words}`;
    return [
      h(
        'div',
        {class: 'row tight'},
        act && h('span', {class: 'soft'}, icon('undo-2')),
        act && h('span', {class: 'cut', dir: 'auto', title: words}, words),
        before && this.#button('Undo the one before ', before.words),
      ),
      typeof left === 'string' && left && h('div', {class: 'soft', 'data-role': 'about-act'}, left),
    ];
  }

  #button(words, title) {
    const undo = {class: 'plain small', title, 'data-key': 'undo newest', onclick: guarded(() => this.undo())};
    return h('button', undo, words, h('kbd', {'aria-hidden': 'true'}, 'U'));
  }
}

// When labels count, in one sentence for all pages. `joins` is null until the model that answers is there to tell.
export function whenLabelsCount({champion, joins}) {
  if (champion === null) return 'The first training learns from your labels.';
  if (joins === null) return '';
  return joins ? 'Labels count at once, and in the next training.' : 'Labels count from the next training on.';
}

export const WHEN_TESTS_COUNT =
  'A test text: it counts at once in the share of right answers, and no training learns from it.';
