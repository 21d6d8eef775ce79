// Chooses the label of a text: one intent or out of scope, or any number of intents.
import {field, h, select} from '../shared/elements.js';
import {capital} from '../shared/words.js';

const NOTHING = ''; // value of the option for no intent

export class LabelChoice {
  element;
  #ids;
  #hears;

  // `ids` are the intents chosen at first; `hears` is called with the ids after each change.
  constructor(intents, ids, {words, name, key, hears = () => {}}) {
    this.#ids = ids.filter(id => intents.open.some(intent => intent.id === id));
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

  #one({open, nothing}, {words, name, key}) {
    const options = [...open.map(intent => [intent.id, intent.name]), [NOTHING, capital(nothing)]];
    const attributes = {
      'aria-label': name,
      'data-key': key,
      onchange: ({target}) => this.#choose(target.value === NOTHING ? [] : [target.value]),
    };
    return field(words, select(attributes, options, this.#ids[0] ?? NOTHING));
  }

  // With none checked, the text has no intent.
  #boxes({open}, {words, name, key}) {
    const now = new Set(this.#ids);
    const box = ({id, name: intent}) => {
      const change = ({target}) => {
        if (target.checked) now.add(id);
        else now.delete(id);
        this.#choose([...now]);
      };
      const attributes = {
        type: 'checkbox',
        checked: now.has(id),
        'data-key': `${key} ${id}`,
        onchange: change,
      };
      return h('label', {class: 'check'}, h('input', attributes), intent);
    };
    return h(
      'fieldset',
      {class: 'expected', 'aria-label': name},
      h('legend', {class: 'soft small'}, `${words}: just these, or none`),
      open.map(box),
    );
  }
}
