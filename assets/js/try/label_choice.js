// Chooses the label of a text: one intent or out of scope, or any number of intents.
import {field, h, select} from '../shared/elements.js';
import {fitting} from '../shared/finder.js';
import {MANY_INTENTS} from '../shared/intents.js';
import {capital} from '../shared/words.js';

const NOTHING = ''; // value of the option for no intent
const UNCHOSEN = '-'; // value of the option before a label is chosen

export class LabelChoice {
  element;
  #ids;
  #hears;

  // `ids` are the intents chosen at first, or null for no choice yet; `hears` is called with the ids after each change.
  constructor(intents, ids, {words, name, key, hears = () => {}}) {
    this.#ids = ids && ids.filter(id => intents.open.some(intent => intent.id === id));
    this.#hears = hears;
    const said = {words, name, key};
    this.element = intents.multi ? this.#boxes(intents, said) : this.#one(intents, said);
  }

  get ids() {
    return this.#ids;
  }

  #choose(ids) {
    this.#ids = ids;
    this.#hears(ids);
  }

  #one({openSorted: open, nothing}, {words, name, key}) {
    const options = [...open.map(intent => [intent.id, intent.name]), [NOTHING, capital(nothing)]];
    if (!this.#ids) options.unshift([UNCHOSEN, 'Choose …']);
    const attributes = {
      'aria-label': name,
      'data-key': key,
      onchange: ({target}) => {
        if (target.value === UNCHOSEN) this.#choose(null);
        else this.#choose(target.value === NOTHING ? [] : [target.value]);
      },
    };
    const chosen = this.#ids ? (this.#ids[0] ?? NOTHING) : UNCHOSEN;
    return field(words, select(attributes, options, chosen), {class: 'field chosen-label'});
  }

  // The last box says that the text has no intent; it and the others exclude each other.
  #boxes({openSorted: open, nothing}, {words, name, key}) {
    const now = new Set(this.#ids ?? []);
    const box = (id, intent, checked, change) => {
      const attributes = {type: 'checkbox', checked, 'data-key': `${key} ${id}`, onchange: change};
      return h('label', {class: 'check'}, h('input', attributes), intent);
    };
    const boxes = open.map(({id, name: intent}) =>
      box(id, intent, now.has(id), ({target}) => {
        if (target.checked) now.add(id);
        else now.delete(id);
        none.control.checked = false;
        choose(now.size ? [...now] : null);
      }),
    );
    const none = box('none', capital(nothing), this.#ids?.length === 0, ({target}) => {
      now.clear();
      for (const one of boxes) one.control.checked = false;
      choose(target.checked ? [] : null);
    });
    const legend = h('legend', {class: 'soft small'}, tickedWords(words, open, now));
    const choose = ids => {
      legend.textContent = tickedWords(words, open, now);
      this.#choose(ids);
    };
    return h(
      'fieldset',
      {class: 'expected', 'aria-label': name},
      legend,
      open.length > MANY_INTENTS && finderOf(open, boxes, key),
      boxes,
      none,
    );
  }
}

// Of many boxes those that are ticked may be out of sight.
function tickedWords(words, open, ticked) {
  const names = open.filter(({id}) => ticked.has(id)).map(({name}) => name);
  return open.length > MANY_INTENTS && names.length ? `${words}: ${names.join(', ')}` : words;
}

// A field that leaves those of many boxes in sight whose intent fits what is typed, and those that are ticked.
function finderOf(open, boxes, key) {
  const look = event => {
    const found = new Set(fitting(open, event.target.value, ({name}) => name));
    for (const [at, box] of boxes.entries()) box.hidden = !found.has(open[at]) && !box.control.checked;
  };
  const words = 'Find an intent';
  const named = {placeholder: words, 'aria-label': words, 'data-key': `${key} find`};
  return h('input', {type: 'search', ...named, oninput: look});
}
