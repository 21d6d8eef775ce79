// The acts of a page that can be undone. The newest one stays in sight with its Undo: a message would go, and lie over
// what comes next.
import {fill, h} from './elements.js';
import {icon} from './icons.js';
import {dialogIsOpen, guarded, toast} from './messages.js';

export class Newest {
  element = h('div', {class: 'newest small', role: 'status', 'data-role': 'newest', hidden: true});
  #takeBack;
  #made = []; // newest last

  // `takeBack` takes back one act on the server.
  constructor(takeBack) {
    this.#takeBack = takeBack;
  }

  // An act: its `words`, whether it `isSaved`, what it changed for the better or the worse (`gain`: badges), and a
  // sentence `about` it. It stands here at once, so that it can be undone before the server has answered.
  add(act) {
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
    this.drop(act);
    try {
      await this.#takeBack(act);
    } catch (error) {
      if (error.status === 0) this.add(act); // the server did not answer: it can be tried again
      throw error;
    }
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
    this.element.hidden = !act;
    const undo = {class: 'plain small', 'data-key': 'undo newest', onclick: guarded(() => this.undo())};
    fill(
      this.element,
      act && [
        h(
          'div',
          {class: 'row tight'},
          act.isSaved && h('span', {class: 'good', title: 'Saved'}, icon('circle-check')),
          h('span', {class: 'cut', dir: 'auto', title: act.words}, act.words),
          h('button', undo, 'Undo ', h('kbd', {'aria-hidden': 'true'}, 'U')),
        ),
        act.isSaved && act.gain && h('div', {class: 'row tight gain', 'data-role': 'gain'}, act.gain),
        act.isSaved && act.about && h('div', {class: 'soft', 'data-role': 'about-act'}, act.about),
      ],
    );
  }
}

// When labels count, in one sentence for all pages. `joins` is null until the model that answers is there to tell.
export function whenLabelsCount({champion, joins}) {
  if (champion === null) return 'The first training learns from your labels.';
  if (joins === null) return '';
  return joins ? 'Labels count at once, and in the next training.' : 'Labels count from the next training on.';
}

export const WHEN_TESTS_COUNT = 'Counts at once in the share of right answers; no training learns test texts.';
