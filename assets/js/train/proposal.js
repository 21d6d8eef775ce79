// The newest version that does not answer yet is a proposal: compare, then promote or discard.
import {comparisonOf} from '../shared/comparison.js';
import {fill, h} from '../shared/elements.js';
import {guarded, toast} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';

export class Proposal {
  element = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Proposal'});
  #context;
  #drawn = ''; // which comparison is shown: comparing again takes the server a while

  constructor(context) {
    this.#context = context;
  }

  hide() {
    this.element.hidden = true;
  }

  async draw() {
    const {candidate, champion} = this.#context.status;
    const wanted = `${candidate}:${champion}`;
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    this.element.hidden = candidate === null;
    if (candidate === null) return;
    const title = h('h2', {}, `Version ${candidate} waits for your decision`);
    fill(this.element, title, h('p', {class: 'soft'}, 'Comparing it with the champion …'));
    try {
      const asked = new URLSearchParams({candidate, champion});
      const found = await call(`${this.#context.base}/compare?${asked}`);
      fill(this.element, this.#heading(candidate), comparisonOf(found));
    } catch (error) {
      this.element.append(h('p', {class: 'bad'}, error.message));
      this.#drawn = '';
    }
  }

  #heading(candidate) {
    const decide = (path, said) =>
      guarded(async () => {
        await post(`${this.#context.base}/models/${candidate}/${path}`);
        toast(said, '', 'good');
        await this.#context.refresh();
        await this.draw();
      });
    const promote = decide('promote', `Version ${candidate} answers now.`);
    const discard = decide('discard', `Version ${candidate} is discarded.`);
    return h(
      'div',
      {class: 'row'},
      h('h2', {}, `Version ${candidate} waits for your decision`),
      h('span', {class: 'push'}),
      h('button', {class: 'primary', onclick: promote}, `Promote version ${candidate}`),
      h('button', {onclick: discard}, 'Discard'),
    );
  }
}
