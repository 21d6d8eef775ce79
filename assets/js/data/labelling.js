// The label of one row: a click opens a finder in its place, and a choice changes that text alone.
import {h} from '../shared/elements.js';
import {IntentFinder} from '../shared/finder.js';
import {icon} from '../shared/icons.js';
import {guarded} from '../shared/messages.js';

export class LabelCell {
  element;
  #row;
  #intents;
  #decide;
  #hears;
  #button;

  // Calls `decide` with the kind of edit and the intent's id, `hears` with whether the finder is open.
  constructor(row, intents, {decide, hears}) {
    this.#row = row;
    this.#intents = intents;
    this.#decide = decide;
    this.#hears = hears;
    const isLabelled = row.labels !== null;
    const words = isLabelled ? 'Change the label' : 'Add label';
    this.#button = h(
      'button',
      {
        class: 'plain relabel',
        title: isLabelled && words,
        'aria-label': `${words} ${isLabelled ? 'of' : 'to'} “${row.text.slice(0, 60)}”`,
        'data-key': `label ${row.id}`,
        onclick: () => this.#open(),
      },
      h('span', {class: isLabelled ? null : 'unbroken'}, isLabelled ? intents.labels(row.labels) : words),
      icon('chevrons-up-down'),
    );
    this.element = h('td', {class: 'label-cell'}, this.#button);
  }

  #open() {
    const nothing = {id: '', name: this.#intents.nothing}; // whoever types it finds it, too
    const finder = new IntentFinder({
      intents: () => [...this.#intents.open, nothing],
      pick: guarded(intent => (intent === nothing ? this.#take('out-of-scope') : this.#pick(intent))),
      left: () => this.#button.focus(),
      label: 'Find an intent',
    });
    const keep = event => event.preventDefault(); // the list of the finder would close under the pointer
    const act = (words, kind) =>
      h(
        'button',
        {type: 'button', class: 'small', onmousedown: keep, onclick: guarded(() => this.#take(kind))},
        words,
      );
    const editor = h(
      'div',
      {
        class: 'relabelling',
        onfocusout: event => {
          if (!editor.contains(event.relatedTarget)) this.#close(editor);
        },
        onkeydown: event => {
          if (event.key === 'Escape') this.#button.focus();
        },
      },
      finder.element,
      h(
        'div',
        {class: 'row tight'},
        act(this.#intents.nothing, 'out-of-scope'),
        this.#row.labels !== null && act('no label', 'unlabel'),
      ),
    );
    this.element.append(editor);
    this.#hears(true);
    finder.open();
  }

  #close(editor) {
    if (!editor.isConnected) return;
    editor.remove();
    this.#hears(false);
  }

  // With several intents a text, an intent that it has is taken away, and another one is added.
  #pick(intent) {
    const has = this.#intents.multi && this.#row.labels?.includes(intent.id);
    return this.#take(has ? 'unlabel' : 'label', intent.id);
  }

  async #take(kind, value = '') {
    this.#button.focus();
    await this.#decide(this.#row, kind, value);
  }
}
