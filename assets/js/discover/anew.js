// How texts are to be grouped, as a person chooses it.
import {field, h} from '../shared/elements.js';
import {ask} from '../shared/messages.js';
import {plural} from '../shared/words.js';

// A box for texts that are out of scope, by their number; none where there are none. `nothing` is what the project
// calls that.
export const outsideBox = (n, nothing) =>
  n > 0 &&
  h(
    'label',
    {class: 'check'},
    h('input', {type: 'checkbox', name: 'outside', 'data-key': 'outside'}),
    `Also ${plural(n, 'text')} labelled “${nothing}”: they leave groups that were taken, ` +
      'and keep their labels until you give them an intent',
  );

// By `bench discover` on BANKING77: 66 of 100 labels right after 100 groups and 121 decisions, 96 after 350 and 398.
const MORE = 'With more groups, each is more of one kind, and you decide more often.';

// Returns how to group anew, or null. `listed` is what the server says of the groups now.
export async function askAnew(listed, nothing) {
  const {waiting, groups, most_groups: allowed, usual_groups: usual, out_of_scope: outside} = listed;
  const most = Math.min(allowed, waiting + outside);
  const isTaken = groups.some(({state}) => state === 'done');
  const gone = isTaken ? 'Groups that were taken stay. All others' : `All ${plural(groups.length, 'group')}`;
  const made = waiting ? `new ones are made of ${plural(waiting, 'text')} without a label` : 'new ones are made';
  const about = `${gone} and their names go, and ${made}. Labels stay.`;
  // How many groups suit the texts that are out of scope, too, the server knows.
  const size = waiting ? {value: usual, required: true} : {placeholder: 'as many as suit'};
  const input = h('input', {type: 'number', name: 'n', min: 1, max: most, ...size});
  const given = await ask(
    'Group anew',
    [
      h('p', {}, about),
      h('p', {}, 'There is no Undo: names that were typed and groups for later do not come back.'),
      outsideBox(outside, nothing),
      field('Number of groups; more groups are smaller', input),
      h('p', {class: 'soft small'}, MORE),
    ],
    'Group anew',
  );
  if (!given) return null;
  const isUsual = 'outside' in given && Number(given.n) === usual;
  const count = isUsual ? null : Number(given.n) || null;
  return {n_groups: count, anew: true, out_of_scope: 'outside' in given};
}
