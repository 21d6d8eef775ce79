// Texts drawn at random that a person labels as test texts: the fair measure of what a model does not know.
import {query, setQuery} from '../shared/address.js';
import {h} from '../shared/elements.js';
import {ask, toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {call, post} from '../shared/rest.js';
import {undoing} from '../shared/undoing.js';
import {plural} from '../shared/words.js';

const MOST = 100; // texts that the server gives at once
const WHY = [
  'You label them one at a time. No later training learns from them, so they tell how often the model is right.',
  'They are drawn from the unlabelled texts. If you labelled the easy texts first, these are harder, and the model ' +
    'is better than this test shows.',
];
const USE = {
  one: 'Its label checks the model, which never learns from it.',
  many: 'Their labels check the model, which never learns from them.',
};

// Draws as many as the address asks for, if the person agrees, and puts them before all others of the queue. `few`
// counts how far they are.
export async function drawTests(context, queue, {client, few}) {
  const {base} = context;
  const wanted = Number(query().get('tests'));
  setQuery({tests: ''}); // a reload would draw others
  if (!(wanted > 0)) return;
  const asked = new URLSearchParams({client, order: 'random', n: Math.min(wanted, MOST)});
  const {items} = await call(`${base}/queue?${asked}`);
  if (!items.length) {
    toast('No text is left to label.', 'The Data page imports test texts.');
    return;
  }
  const n = items.length;
  const why = [...WHY, ...(await alreadyLearned(base))].map(words => h('p', {}, words));
  const title = `Label ${plural(n, 'text')} at random as ${n === 1 ? 'a test text' : 'test texts'}?`;
  if (!(await ask(title, why, `Draw ${plural(n, 'text')}`))) return;
  const ids = items.filter(({split}) => split !== 'test').map(({id}) => id);
  const takenBack = async () => {
    few.ask(0, false);
    context.refreshSoon();
    await queue.reorder(queue.order);
  };
  if (ids.length) await makeTests(base, ids, takenBack);
  few.ask(n, true);
  const drawn = items.map(item => ({...item, split: 'test'}));
  queue.startWith(drawn, left => `${plural(left, 'test text')} to label, drawn at random.`);
}

// A version that has learned from the pool is tested only by what it has not learned.
async function alreadyLearned(base) {
  const {models} = await call(`${base}/versions`);
  const live = models.find(({champion}) => champion);
  if (!live?.metrics.pool?.n) return [];
  const known = `Version ${live.number} has learned from unlabelled texts, too.`;
  return [`${known} As test texts, these test only the next version.`];
}

async function makeTests(base, ids, then) {
  const key = newKey();
  const filter = {ids, state: 'unlabelled'}; // what somebody has labelled meanwhile stays an example
  await post(`${base}/edits`, {filter, kind: 'move', value: 'test', key, expected: ids.length});
  const said = `${plural(ids.length, 'text is a test text', 'texts are test texts')} now.`;
  toast(said, ids.length === 1 ? USE.one : USE.many, 'good', undoing(base, key, then));
}
