// Texts drawn at random that a person labels as test texts: the fair measure of what a model does not know.
import {query, setQuery} from '../shared/address.js';
import {h} from '../shared/elements.js';
import {ask, toast} from '../shared/messages.js';
import {call, post} from '../shared/rest.js';
import {undoing} from '../shared/undoing.js';
import {plural} from '../shared/words.js';

const MOST = 100; // texts that the server gives at once
const WHY = [
  'You label them one at a time. The model never learns from them, so they tell how often it is right.',
  'They are drawn from the unlabelled texts. If you labelled the easy texts first, these are harder, and the model ' +
    'is better than this test shows.',
  'A version that has learned from them, unlabelled, is not tested by them. The one that you train next is.',
];

// Draws as many as the address asks for, if the person agrees, and puts them before all others of the queue. `few`
// counts how far they are.
export async function drawTests({base, refreshSoon}, queue, {client, few}) {
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
  const why = WHY.map(words => h('p', {}, words));
  if (!(await ask(`Label ${n} texts at random as test texts?`, why, `Draw ${plural(n, 'text')}`))) return;
  const ids = items.filter(({split}) => split !== 'test').map(({id}) => id);
  if (ids.length) await makeTests(base, ids, refreshSoon);
  few.ask(n, true);
  const drawn = items.map(item => ({...item, split: 'test'}));
  queue.startWith(drawn, left => `${plural(left, 'test text')} to label, drawn at random.`);
}

async function makeTests(base, ids, then) {
  const key = crypto.randomUUID();
  const filter = {ids, state: 'unlabelled'}; // what somebody has labelled meanwhile stays an example
  await post(`${base}/edits`, {filter, kind: 'move', value: 'test', key, expected: ids.length});
  const said = `${plural(ids.length, 'text is a test text', 'texts are test texts')} now.`;
  toast(said, 'Their labels check the model, which never learns from them.', 'good', undoing(base, key, then));
}
