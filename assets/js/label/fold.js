// Buttons that are used now and then: they are folded, and stay in sight once somebody has unfolded them.
import {h} from '../shared/elements.js';
import {icon} from '../shared/icons.js';

export class Fold {
  opener;
  element;

  constructor(buttons) {
    const turn = () => this.#open(this.element.hidden);
    const onkeydown = event => event.key === 'Escape' && this.#close();
    this.element = h('div', {class: 'row tight others', 'data-role': 'folded', hidden: true, onkeydown}, buttons);
    const about = {class: 'plain small', 'aria-expanded': 'false', 'data-key': 'more actions', onclick: turn};
    this.opener = h('button', about, 'More actions ', icon('chevrons-up-down'));
  }

  #open(opens) {
    this.element.hidden = !opens;
    this.opener.setAttribute('aria-expanded', String(opens));
  }

  #close() {
    this.#open(false);
    this.opener.focus();
  }
}
