// Chooses another label of a text of a finding: one intent or none, or in a multi-label project the whole set.
import {h} from '../shared/elements.js';
import {IntentFinder} from '../shared/finder.js';
import {LabelChoice} from '../try/label_choice.js';

// `now` are the ids of the intents that the text has; `label` names the field, `pick` is called with ids. Returns the
// element, and `open`, which brings the keyboard to it.
export const otherLabel = (intents, about) => (intents.multi ? severalOf(intents, about) : oneOf(intents, about));

function oneOf(intents, {label, pick}) {
  const nothing = {id: '', name: intents.nothing, number: 0, color: ''};
  const finder = new IntentFinder({
    intents: () => [nothing, ...intents.open],
    label,
    pick: intent => pick(intent.id ? [intent.id] : []),
  });
  return {element: finder.element, open: () => finder.open()};
}

function severalOf(intents, {label, now, pick}) {
  const hears = ids => {
    take.disabled = !ids;
  };
  const choice = new LabelChoice(intents, now, {words: 'Its intents', name: label, key: 'other label', hears});
  const take = h(
    'button',
    {class: 'small', 'data-key': 'take other label', disabled: !now, onclick: () => pick(choice.ids)},
    'Show what it changes',
  );
  const element = h('div', {class: 'stack'}, choice.element, take);
  return {element, open: () => element.querySelector('input').focus()};
}
