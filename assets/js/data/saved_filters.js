// Filters that the person keeps by name: chips that set the filter, each with a way to delete it.
import {fill, h} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {askToDo, guarded, once, toast} from '../shared/messages.js';
import {call} from '../shared/rest.js';

export class SavedFilters {
  element = h('div', {
    class: 'row tight',
    role: 'group',
    'aria-label': 'Saved filters',
    'data-role': 'saved-filters',
  });
  #path;
  #filter;
  #saved = [];
  #asked = 0; // number of the newest request; older answers are dropped

  constructor(base, filter) {
    this.#path = `${base}/filters`;
    this.#filter = filter;
  }

  async load() {
    await this.#ask(this.#path);
  }

  // Every request is answered with all filters.
  async #ask(path, options = {}) {
    const asked = (this.#asked += 1);
    const saved = await call(path, options);
    if (asked !== this.#asked) return;
    this.#saved = saved;
    this.draw();
  }

  // Marks the chip of the filter that is set; the chip to save one is there if none of them is.
  draw() {
    const now = fingerprint(this.#filter.kept);
    const isSaved = this.#saved.some(one => fingerprint(one.query) === now);
    const isEmpty = now === fingerprint({});
    const save = {class: 'small', 'data-key': 'save filter', onclick: guarded(() => this.#save())};
    fill(
      this.element,
      this.#saved.map(one => this.#chip(one, now)),
      !isEmpty && !isSaved && h('button', save, 'Save this filter'),
    );
  }

  #chip({name, query}, now) {
    const isOn = fingerprint(query) === now;
    const set = () => (isOn ? this.#filter.clear() : this.#filter.set(query));
    const remove = {
      class: 'plain small',
      'aria-label': `Delete the filter ${name}`,
      'data-key': `delete filter ${name}`,
      onclick: once(() => this.#remove({name, query})),
    };
    return h(
      'span',
      {class: 'saved-filter'},
      h(
        'button',
        {class: 'small', 'aria-pressed': String(isOn), 'data-key': `filter ${name}`, onclick: set},
        name,
      ),
      h('button', remove, icon('x')),
    );
  }

  async #save() {
    const field = h('input', {
      name: 'name',
      maxlength: 60,
      required: true,
      'aria-label': 'Name of the filter',
    });
    await askToDo('Save this filter', h('label', {}, 'Name ', field), 'Save', ({name}) => this.#keepAs(name.trim()));
  }

  // The name may be that of another filter, which can be brought back.
  async #keepAs(name) {
    const before = this.#saved.find(one => one.name === name);
    await this.#keep({name, query: this.#filter.kept});
    if (before) toast(`“${name}” was in use: it is this filter now.`, '', 'good', () => this.#keep(before));
  }

  async #keep({name, query}) {
    await this.#ask(this.#path, {method: 'PUT', body: {name, query}});
  }

  async #remove(saved) {
    await this.#ask(`${this.#path}?name=${encodeURIComponent(saved.name)}`, {method: 'DELETE'});
    toast(`Filter “${saved.name}” deleted.`, '', 'good', () => this.#keep(saved));
  }
}

const fingerprint = query => JSON.stringify(Object.entries(query).sort());
