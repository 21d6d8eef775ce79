// How far the texts are that another page asked for by number ("Label these 20"), and what to do after them.
import {address, query} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {number} from '../shared/words.js';

export class Few {
  element = h('span', {class: 'small', role: 'status', 'data-role': 'few'});
  #asked = Number(query().get('n'));
  #done = 0;
  #labelled = 0; // of those; the others were skipped or flagged
  #areTests = false; // they teach the model nothing, and tell how good it is
  #project;

  constructor(project) {
    this.#project = project;
    this.#draw();
  }

  ask(n, areTests) {
    [this.#asked, this.#done, this.#labelled, this.#areTests] = [n, 0, 0, areTests];
    this.#draw();
  }

  // Texts that were decided: more, or fewer; with `isLabel` they got a label.
  count(more, isLabel) {
    this.#done = Math.max(0, this.#done + more);
    if (isLabel) this.#labelled = Math.max(0, this.#labelled + more);
    this.#draw();
  }

  #draw() {
    const [asked, done, labelled] = [this.#asked, this.#done, this.#labelled];
    this.element.hidden = !(asked > 0);
    const [page, what] = this.#areTests ? ['versions', 'See how good the model is'] : ['train', 'Train'];
    const next = h('a', {href: address(page, this.#project)}, what);
    if (done < asked) fill(this.element, `${number(done)} of these ${number(asked)}`);
    else fill(this.element, h('b', {}, this.#doneWords()), labelled > 0 && [' ', next, ', or go on.']);
  }

  #doneWords() {
    const others = this.#done - this.#labelled;
    return others > 0
      ? `${number(this.#labelled)} labelled, ${number(others)} without a label.`
      : `${number(this.#asked)} done.`;
  }
}
