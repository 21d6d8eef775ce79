// Conversation logs: those of the project, and a preview of a new one as it would be stored.
import {address} from '../shared/address.js';
import {field, fill, h} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {deleteOnLeaving} from '../shared/leaving.js';
import {ask, guarded, once, toast} from '../shared/messages.js';
import {newKey} from '../shared/new_key.js';
import {call, post, upload} from '../shared/rest.js';
import {kindsOf, number, plural} from '../shared/words.js';
import {LogReader, talk} from './dialogues.js';

const POOL = 5000; // default number of user turns that are added to the pool
// No element has it as its id: the browser would scroll there whenever the page grows.
const HASH = '#conversations';
const WHAT =
  'What customers say in a log becomes unlabelled texts of your project. The training “Conversations” (on Train, ' +
  'under More ways) learns from whole logs how they speak: it needs no label, and other trainings can start from it.';
const MASK = 'e-mail addresses, phone, card and account numbers';
const FIRST =
  'Start with a file of whole conversations: JSONL, or CSV with the columns conversation id, turn, speaker and text.';
const FOR_A_WHILE = 'Undo in the message that follows brings all of it back. After that the log is gone for good.';
const BEGINNING = 'The beginning of the file, as it is read. All of it is imported.';

export class ConversationSheet {
  #context;
  #intents;
  #rest;
  #base;
  #changed;
  #asked = 0; // number of the newest request; older answers are dropped
  #list = h('div');
  #place = h('div');
  #picker;
  #choose;

  // Calls `changed` after conversations, and perhaps utterances, have changed. `rest` is what the page shows otherwise.
  constructor(context, intents, rest, changed) {
    this.#context = context;
    this.#intents = intents;
    this.#rest = rest;
    this.#base = `${context.base}/dialogues`;
    this.#changed = changed;
    this.#picker = h('input', {
      type: 'file',
      class: 'hidden-text',
      'aria-label': 'Log of conversations to import',
      accept: '.jsonl,.ndjson,.csv,.tsv,.gz',
      onchange: event => this.#send(event.target.files[0]),
    });
    this.#choose = h('button', {type: 'button', onclick: () => this.#picker.click()}, 'Choose a log');
    this.element = h(
      'section',
      {class: 'sheet conversations', tabindex: -1, 'aria-label': 'Conversations', hidden: true},
      h('h2', {}, 'Logs of conversations'),
      h('p', {class: 'soft small'}, WHAT),
      this.#list,
      h('div', {class: 'row after'}, this.#choose, this.#picker),
      this.#place,
    );
  }

  async load() {
    const asked = ++this.#asked;
    const logs = await call(this.#base);
    if (asked !== this.#asked) return;
    const line = log => {
      const remove = {class: 'small push', 'aria-label': `Delete ${log.source}`, onclick: this.#remover(log)};
      const held = `${plural(log.n_dialogues, 'conversation')}${log.masked ? `, ${maskedWords(log.masked)}` : ''}.`;
      const about = h('div', {class: 'soft small'}, `${held} ${heldTexts(log)}`);
      return h(
        'li',
        {},
        h('div', {}, h('b', {dir: 'auto'}, log.source), about, !log.masked && toMask()),
        h('button', remove, icon('trash-2'), 'Delete log …'),
        new LogReader(this.#context, this.#intents, log).element,
      );
    };
    const list = {class: 'logs', 'data-role': 'logs', 'aria-label': 'Logs'};
    const {project} = this.#context;
    const to = (page, words, looks = null) => h('a', {href: address(page, project), class: looks}, words);
    // Their texts are unlabelled; without any of them there is only a training to do.
    const {unlabelled} = this.#context.status;
    const next = h(
      'div',
      {class: 'row', 'data-role': 'after-logs'},
      unlabelled > 0 && to('label', 'Label their texts', 'button primary'),
      to('train', 'Train “Conversations”', `button ${unlabelled > 0 ? '' : 'primary'}`),
      to('data', 'See them on Data'),
    );
    const isEmpty = logs.length === 0;
    this.#choose.className = isEmpty ? 'primary' : '';
    this.#choose.textContent = isEmpty ? 'Choose a log' : 'Add a log';
    fill(this.#list, isEmpty ? h('p', {}, FIRST) : [next, h('ul', list, logs.map(line))]);
  }

  get isAsked() {
    return location.hash === HASH;
  }

  // Stands in place of the texts, and the page bears its name, for who comes by its own entry of the rail.
  showIfAsked() {
    const {isAsked} = this;
    this.element.hidden = !isAsked;
    for (const part of this.#rest) part.hidden = isAsked;
    this.#context.entitle(isAsked ? 'Conversations' : 'Data');
    if (!isAsked) return;
    document.scrollingElement.scrollTop = 0;
    this.element.focus({preventScroll: true});
  }

  // What goes is counted as the dialog opens: the list is as old as the page.
  #remover({id}) {
    return once(async () => {
      const log = (await call(this.#base)).find(one => one.id === id);
      if (!log) {
        await this.load();
        return;
      }
      const given = await ask(`Delete ${log.source}?`, deletion(log), 'Delete log', 'danger');
      if (!given) return;
      const key = newKey();
      const remove = call(`${this.#base}/${log.id}${wishOf(log, given, key)}`, {method: 'DELETE'});
      const {texts_deleted: went} = await remove.catch(error => this.#refuse(error));
      await this.#reload();
      const stay = log.n_texts - went;
      const became = [
        went > 0 && `${plural(went, 'text')} went with it.`,
        stay > 0 && `${plural(stay, 'text')} of it ${stay === 1 ? 'stays' : 'stay'} on Data.`,
      ];
      const back = () => this.#bringBack(log, went > 0 && key);
      toast(`${log.source} is deleted.`, became.filter(Boolean).join(' '), 'good', back);
    });
  }

  #refuse(error) {
    this.#reload().catch(() => {}); // the message tells of the first error
    throw error;
  }

  // The texts come back also where the log cannot, because another one was added since.
  async #bringBack(log, key) {
    const refusal = await post(`${this.#base}/${log.id}/restore`).then(
      () => null,
      error => error,
    );
    try {
      if (key) await post(`${this.#context.base}/undo`, {key});
    } finally {
      await this.#reload();
    }
    if (refusal && key) toast(`The texts of ${log.source} are back.`);
    if (refusal) throw refusal;
    toast(`${log.source} is back.`, '', 'good');
  }

  async #reload() {
    await this.#changed(); // the next act follows the counts
    await this.load();
  }

  #send = guarded(async file => {
    if (!file) return;
    this.#choose.disabled = true;
    fill(this.#place, h('p', {class: 'soft', role: 'status'}, `Reading ${file.name} …`));
    try {
      const waiting = await upload(this.#base, file);
      this.#show({...waiting, ...(await this.#beginning(waiting, true))});
    } catch (error) {
      fill(this.#place);
      throw error;
    } finally {
      this.#choose.disabled = false;
      this.#picker.value = '';
    }
  });

  // What the first conversations say, with or without what would be masked.
  #beginning = ({key}, mask) => call(`${this.#base}/waiting/${key}?mask=${mask}`);

  // Masked unless it is unticked: what was stored once would have to be deleted text by text.
  #show(waiting) {
    const beginning = h('div', {class: 'stack'}, waiting.beginning.map(talk));
    let looks = 0; // number of the newest look at it; older answers are dropped
    const bare = h('div', {role: 'status'});
    const mask = h('input', {
      type: 'checkbox',
      name: 'mask',
      checked: true,
      onchange: guarded(async () => {
        const asked = (looks += 1);
        fill(bare, !mask.checked && bareNote(`${BARE}. Counting it in the whole file …`));
        try {
          const again = await this.#beginning(waiting, mask.checked);
          if (asked !== looks) return;
          fill(beginning, again.beginning.map(talk));
          if (mask.checked) return;
          const found = await call(`${this.#base}/waiting/${waiting.key}/personal`);
          if (asked === looks) fill(bare, notMasked(found));
        } catch (error) {
          if (asked === looks) fill(bare, !mask.checked && bareNote(`${BARE}.`)); // nothing counts it any more
          throw error;
        }
      }),
    });
    const pool = h('input', {type: 'number', name: 'pool', min: 0, max: 1000000, step: 1, value: POOL});
    this.#choose.className = ''; // the page's first act is to import this one
    fill(
      this.#place,
      h(
        'div',
        {class: 'stack after', 'data-role': 'log-preview'},
        h('h3', {}, waiting.name),
        waiting.beginning.length > 0 && h('p', {class: 'soft small'}, BEGINNING),
        waiting.beginning.length
          ? beginning
          : h('p', {class: 'bad'}, 'There is no conversation in this file.'),
        h('label', {class: 'check'}, mask, `Mask ${MASK}`),
        bare,
        field('Customers’ texts to take, at most', pool),
        this.#buttons(waiting, () => ({mask: mask.checked, pool: Number(pool.value) || 0})),
      ),
    );
  }

  #buttons({key, name, beginning}, chosen) {
    const path = `${this.#base}/waiting/${key}`;
    let stays = deleteOnLeaving(path);
    const take = guarded(async () => {
      const wish = chosen();
      stays(); // leaving the page does not stop the import
      const said = h('p', {class: 'soft', role: 'status'}, `Importing ${name} …`);
      const before = [...this.#place.children];
      fill(this.#place, said);
      try {
        const done = await post(`${path}/import`, wish);
        const note = {class: 'note good after', role: 'status'};
        // Another log may have been chosen meanwhile, and stand there.
        if (said.isConnected) fill(this.#place, h('div', note, summary(done)));
        else toast(summary(done), name, 'good');
      } catch (error) {
        stays = deleteOnLeaving(path);
        if (said.isConnected) fill(this.#place, ...before);
        throw error;
      }
      await this.#reload();
    });
    const cancel = guarded(async () => {
      fill(this.#place);
      stays();
      await call(path, {method: 'DELETE'});
      await this.load();
    });
    return h(
      'div',
      {class: 'row'},
      h('button', {class: 'primary', disabled: !beginning.length, onclick: take}, 'Import the log'),
      h('button', {onclick: cancel}, 'Cancel'),
    );
  }
}

// "28 of your texts came from it, 3 of them labelled."
function heldTexts({n_texts: n, n_labelled: labelled}) {
  if (!n) return 'None of your texts came from it.';
  return `${number(n)} of your texts came from it, ${labelled ? number(labelled) : 'none'} of them labelled.`;
}

// What masking a stored log takes: its texts were said in it.
const toMask = () =>
  h('div', {class: 'warn small', 'data-role': 'not-masked'}, `Not masked: ${MASK} stand as they were said. ${TO_MASK}`);
const TO_MASK = 'To mask them, delete the log and its texts, and add it again with the mask ticked.';

// What goes, what stays, and for how long it can be taken back. Labelled texts and test texts go if they are ticked.
function deletion(log) {
  const {n_dialogues: held, n_texts: n, n_labelled: labelled} = log;
  const labels = labelled > 0 ? ` with ${labelled === 1 ? 'its label' : `their ${number(labelled)} labels`}` : '';
  const stay = `${plural(n, 'text')} that came from it ${n === 1 ? 'stays' : 'stay'} on Data${labels}.`;
  return h(
    'div',
    {'data-role': 'deletion'},
    h('p', {}, `No training learns from its ${plural(held, 'conversation')} any more. Versions that did so stay.`),
    n > 0 && [h('p', {}, stay), textsToo(log)],
    h('p', {class: 'soft small'}, FOR_A_WHILE),
  );
}

// What may go with a log. Those that nobody has decided about go first: without them no others do.
function textsToo({n_texts: n, n_labelled, n_tests: tests, n_tests_labelled: both}) {
  const labelled = n_labelled - both;
  const free = n - labelled - tests;
  const box = (name, values) => h('input', {type: 'checkbox', name, ...values});
  const others = ['labelled', 'test'].map(name => box(name, {disabled: free > 0}));
  const allow = ({target: {checked}}) => {
    for (const one of others) [one.disabled, one.checked] = [!checked, checked && one.checked];
  };
  const all = n === 1 ? 'this text' : `these ${number(n)} texts`;
  const line = (tick, words) => h('label', {class: 'check'}, tick, `Delete ${words}, too`);
  return [
    free > 0 && line(box('texts', {onchange: allow}), free === n ? all : plural(free, 'unlabelled text')),
    labelled > 0 && line(others[0], plural(labelled, 'labelled text')),
    tests > 0 && line(others[1], plural(tests, 'test text')),
  ];
}

// How a log is deleted as the dialog was filled in; what was counted there goes along.
function wishOf({n_texts: expected, revision}, given, key) {
  const also = ['labelled', 'test'].filter(name => given[name]);
  if (!given.texts && !also.length) return '';
  const wish = new URLSearchParams({texts: true, key, expected, revision});
  for (const name of also) wish.append('also', name);
  return `?${wish}`;
}

// What is stored as it was said, by what was `found` in the whole file.
function notMasked(found) {
  const pieces = kindsOf(found).join(', ');
  return pieces
    ? bareNote(`${BARE} (${pieces}). ${LATER}`)
    : bareNote('Nothing to mask was found in this file.', 'soft small');
}

const bareNote = (words, looks = 'note warn') => h('div', {class: looks, 'data-role': 'unmasked'}, words);
const BARE = 'Not masked: personal data is stored as it was said';
const LATER = 'Masking it later takes deleting the log and its texts, and adding it again.';

function maskedWords(masked) {
  const found = kindsOf(masked);
  return found.length ? `masked: ${found.join(', ')}` : 'masked: none found';
}

function summary(report) {
  const said = [
    [report.dialogues, `${plural(report.dialogues, 'conversation')} added`],
    [report.repeated, `${number(report.repeated)} here already`],
    [report.too_long, `${number(report.too_long)} too long, left out`],
    [report.pooled, `${plural(report.pooled, 'unlabelled text')} added`],
    [report.masked, report.masked && maskedWords(report.masked)],
  ]
    .filter(([n]) => n)
    .map(([, words]) => words);
  return `${said.join(', ')}.`;
}
