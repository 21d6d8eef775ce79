// Asks which group another one joins.
import {field, h} from '../shared/elements.js';
import {ask, toast} from '../shared/messages.js';
import {number, plural} from '../shared/words.js';

// Returns the card of the group that was chosen, or null. `near` has the numbers of the groups that are most alike.
export async function askTarget(card, near, cards) {
  const others = cards.filter(({id, state}) => id !== card.id && state !== 'done');
  if (!others.length) {
    toast('There is no other group.');
    return null;
  }
  const option = ({id, name, size}) => h('option', {value: id, dir: 'auto'}, `${name} (${number(size)})`);
  const nearest = near.map(id => others.find(one => one.id === id)).filter(Boolean);
  const byName = others.toSorted((one, other) => one.name.localeCompare(other.name));
  const joins = card.size === 1 ? 'Its text joins' : `Its ${plural(card.size, 'text')} join`;
  const words = `${joins} another group; no label changes.`;
  const into = h(
    'select',
    {name: 'into'},
    h('optgroup', {label: 'Most alike'}, nearest.map(option)),
    h('optgroup', {label: 'All others'}, byName.filter(one => !nearest.includes(one)).map(option)),
  );
  const given = await ask(`Merge “${card.name}”`, [h('p', {}, words), field('Into', into)], 'Merge');
  return given ? others.find(({id}) => String(id) === given.into) : null;
}
