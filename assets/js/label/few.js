// How far the texts are that another page asked for by number ("Label these 20"), and what to do after them.
import {address, query} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {number} from '../shared/words.js';

export class Few {
  element = h('span', {class: 'small', role: 'status', 'data-role': 'few'});
  #asked = Number(query().get('n'));
  #done = 0;
  #areTests = false; // they teach the model nothing, and tell how good it is
  #project;

  constructor(project) {
    this.#project = project;
    this.#draw();
  }

  ask(n, areTests) {
    [this.#asked, this.#done, this.#areTests] = [n, 0, areTests];
    this.#draw();
  }

  // Texts that were decided: more, or fewer.
  count(more) {
    this.#done = Math.max(0, this.#done + more);
    this.#draw();
  }

  #draw() {
    const [asked, done] = [this.#asked, this.#done];
    this.element.hidden = !(asked > 0);
    const [page, what] = this.#areTests ? ['versions', 'See how good the model is'] : ['train', 'Train'];
    const next = h('a', {href: address(page, this.#project)}, what);
    const words = done < asked ? `${number(done)} of these ${number(asked)}` : [h('b', {}, `${number(asked)} done.`)];
    fill(this.element, words, done >= asked && [' ', next, ', or go on.']);
  }
}
