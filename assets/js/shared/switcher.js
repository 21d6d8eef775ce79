// The project's name in the header; opened, it lists the other projects.
import {address, inStudio} from './address.js';
import {fill, h} from './elements.js';
import {icon} from './icons.js';
import {guarded} from './messages.js';
import {call} from './rest.js';

export class Switcher {
  #name;
  #page;
  #summary = h('summary', {'data-role': 'project'});
  #list = h('ul', {});

  // `page` is the one on which another project is opened.
  constructor(page) {
    this.#page = page;
    this.element = h(
      'details',
      {
        class: 'switcher',
        hidden: true,
        ontoggle: guarded(() => this.element.open && this.#load()),
        onkeydown: event => event.key === 'Escape' && this.#close(event),
        onfocusout: event => {
          if (event.relatedTarget && !this.element.contains(event.relatedTarget)) this.element.open = false;
        },
      },
      this.#summary,
      this.#list,
    );
    document.addEventListener('click', event => {
      if (!this.element.contains(event.target)) this.element.open = false;
    });
  }

  // Names the project; null hides the switcher.
  show(name) {
    this.#name = name;
    this.element.hidden = name === null;
    this.element.open = false;
    this.#summary.setAttribute('aria-label', `Project: ${name}`);
    this.#summary.title = 'Switch to another project';
    fill(this.#summary, h('b', {dir: 'auto'}, name ?? ''), icon('chevrons-up-down'));
  }

  async #load() {
    const names = await call('/project-names');
    fill(
      this.#list,
      names.map(name => h('li', {}, this.#link(name))),
      h('li', {class: 'last'}, h('a', {href: inStudio('/')}, 'All projects')),
    );
  }

  #link(name) {
    const here = name === this.#name ? 'true' : null;
    return h('a', {href: address(this.#page, name), 'aria-current': here, dir: 'auto'}, name);
  }

  // Escape closes the list only, and not what the page has open.
  #close(event) {
    if (!this.element.open) return;
    event.stopPropagation();
    this.element.open = false;
    this.#summary.focus();
  }
}
