// What is most likely right for a group, of the texts that are still ticked.
import {h} from '../shared/elements.js';
import {number, plural} from '../shared/words.js';

const MOST_TOLD = 3; // intents
const SECOND = 0.2; // share of the texts from which on a second intent is no chance answer

// Returns the ticked typical texts of a group, given the ids of those that were unticked.
const ticked = ({typical}, without) => typical.filter(({id}) => !without.has(id));

const knowsAnswers = ({typical}) => typical.some(({answer}) => answer !== null);

// The id of the intent that the group most likely is, or ''. Without answers by a version, what the whole group is
// like says nothing about its smaller half.
export function likeliest(group, without) {
  const {typical, intents, same, fits} = group;
  const left = ticked(group, without);
  if (left.length === typical.length) return same;
  if (!knowsAnswers(group)) return 2 * left.length > typical.length ? same : '';
  const count = id => left.filter(({answer}) => answer === id).length;
  const answered = new Set([...intents, ...left.map(({answer}) => answer)].filter(Boolean));
  const [best] = [...answered].toSorted((one, other) => count(other) - count(one));
  return best && left.length && count(best) >= fits * left.length ? best : '';
}

// The ids of at most two intents that are offered: the likeliest, and what is near by meaning.
export function offered(group, without) {
  const same = likeliest(group, without);
  return !same || group.intents.includes(same) ? group.intents : [same, ...group.intents.slice(0, 1)];
}

// How many of the ticked texts the version in use answers with no intent, and how many are ticked.
function refusedOf(group, without) {
  const left = ticked(group, without);
  const {refused, typical} = group;
  if (left.length === typical.length || !knowsAnswers(group)) return {refused, of: typical.length};
  return {refused: left.filter(({answer}) => answer === '').length, of: left.length};
}

// Texts that the version in use answers with no intent are a new intent or out of scope: a person says which.
export function isRefused(group, without) {
  const {refused, of} = refusedOf(group, without);
  return 2 * refused > of;
}

// `nothing` is what the project calls out of scope.
export function refusedWords(group, without, nothing) {
  const {refused, of} = refusedOf(group, without);
  const n = of - refused;
  const some = n ? `only ${number(n)} of ${number(of)} typical texts` : 'none of these';
  return `The version in use answers ${some} with an intent: a new intent, or ${nothing}?`;
}

// Says how many of the ticked texts the version in use answers with an intent; nothing where it is not known, or where
// the page tells it with the several kinds of the group.
export function answeredLine(group, without) {
  const {refused, of} = refusedOf(group, without);
  if (!of || !knowsAnswers(group) || kindsOf(group)) return null;
  const n = of - refused;
  const words = `The version in use answers ${n ? number(n) : 'none'} of ${plural(of, 'typical text')} with an intent.`;
  return h('p', {class: 'soft small', 'data-role': 'answered'}, words);
}

// By intent, how many typical texts it answers, the most first; null where the group is of one kind.
function kindsOf({typical, same}) {
  const count = new Map();
  for (const {answer} of typical) if (answer) count.set(answer, (count.get(answer) ?? 0) + 1);
  const most = [...count].sort(([, one], [, other]) => other - one);
  const [, second] = most;
  const answered = answeredBy(most);
  const isOne = same || !second || second[1] < SECOND * typical.length || 2 * answered < typical.length;
  return isOne ? null : most;
}

const answeredBy = kinds => kinds.reduce((sum, [, n]) => sum + n, 0);

// Says that a group is of several kinds, where the version in use answers its typical texts by several intents.
export function answeredApart(group, intents) {
  const kinds = kindsOf(group);
  if (!kinds) return null;
  const [answered, of] = [answeredBy(kinds), group.typical.length];
  const which = answered < of ? `${number(answered)} of its ${number(of)}` : 'its';
  const told = kinds
    .slice(0, MOST_TOLD)
    .map(([id, n], at) => [at ? ', ' : '', `${number(n)} as `, intents.labels([id])]);
  const said = `It may be of several kinds: the version in use answers ${which} typical texts with `;
  return [said, `${plural(kinds.length, 'intent')}, `, told, '. '];
}
