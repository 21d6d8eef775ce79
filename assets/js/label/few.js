// How far the texts are that another page asked for by number ("Label these 20"), and what to do after them.
import {address, query} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {number} from '../shared/words.js';

export class Few {
  element = h('span', {class: 'small', role: 'status', 'data-role': 'few'});
  #asked = Number(query().get('n'));
  #done = 0;
  #project;

  constructor(project) {
    this.#project = project;
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
    const train = h('a', {href: address('train', this.#project)}, 'Train');
    const words = done < asked ? `${number(done)} of these ${number(asked)}` : [h('b', {}, `${number(asked)} done.`)];
    fill(this.element, words, done >= asked && [' ', train, ', or go on.']);
  }
}
