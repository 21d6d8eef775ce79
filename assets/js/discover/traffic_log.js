// A log of what people said: its rows are counted, and stored when the person says so.
import {field, fill, h, optionsOf} from '../shared/elements.js';
import {deleteOnLeaving} from '../shared/leaving.js';
import {ask, complain, guarded} from '../shared/messages.js';
import {call, post, upload} from '../shared/rest.js';
import {countsOf, freshIn, zoneHere} from '../shared/said_log.js';
import {number, plural} from '../shared/words.js';

const KINDS = '.csv,.tsv,.txt,.json,.jsonl,.ndjson,.gz,.xlsx,.parquet,.vtt,.srt';
const PARTS = [
  ['text', 'Texts', 'Choose a column'],
  ['time', 'Times', 'Choose a column'],
  ['source', 'Source, such as the channel', 'No column'],
  ['second_source', 'Beside it, such as the language', 'No second column'],
  ['speaker', 'Who speaks', 'No column: users said all of it'],
];
const UNNAMED = ['source_name', 'Source of rows without one'];
const PARTS_OF_TALK = [['speaker', 'The customer', 'By the names, where they tell']]; // of a transcript

// A button; `imported` is called with what was done in words, a sentence about it, and what takes it back.
export function logImport(base, imported) {
  const picker = h('input', {
    type: 'file',
    class: 'hidden-text',
    'aria-label': 'Log to import',
    accept: KINDS,
    onchange: guarded(async ({target}) => {
      const [file] = target.files;
      target.value = ''; // so that the same file can be chosen again
      if (!file) return;
      button.setAttribute('aria-disabled', 'true'); // a second log would open a dialog over that of the first
      await bringIn(base, file, imported).finally(() => button.removeAttribute('aria-disabled'));
    }),
  });
  const choose = () => button.hasAttribute('aria-disabled') || picker.click();
  const button = h('button', {'data-key': 'import-log', onclick: choose}, 'Import a log…');
  return h('span', {}, button, picker);
}

async function bringIn(base, file, imported) {
  const zone = zoneHere();
  const at = `${base}/traffic/logs`;
  const looked = new LookedAt(at, zone, await upload(`${at}?zone=${encodeURIComponent(zone)}`, file));
  const {key, name} = looked.log;
  const stays = deleteOnLeaving(`${at}/${key}`);
  const given = await ask(`Import “${name}”`, looked.element, looked.verb);
  stays();
  const isStored = given && looked.fresh;
  if (!isStored) {
    await call(`${at}/${key}`, {method: 'DELETE'});
    return;
  }
  const done = await post(`${at}/${key}?${looked.query}`);
  const full = done.left_out ? `${number(done.left_out)} are left out: their day has a full sample.` : '';
  await imported(`${plural(done.kept, 'text')} of “${name}” stored`, full, async () => {
    const {stay} = await post(`${at}/${key}/undo`);
    const verb = stay === 1 ? 'stays' : 'stay';
    return stay ? `${plural(stay, 'text')} ${verb}: changed since, or said elsewhere, too.` : '';
  });
}

// What is to be imported: by which columns it is read, and how many rows become what.
class LookedAt {
  #at;
  #zone;
  #asked = 0; // number of the newest look; what earlier ones find is not shown
  #counts = h('div', {role: 'status'});
  log;
  element;

  constructor(at, zone, log) {
    this.#at = at;
    this.#zone = zone;
    this.log = log;
    const select = ([part, words, none]) =>
      field(
        words,
        h('select', {name: part, onchange: guarded(() => this.#look())}, [
          optionsOf([['', none], ...log.names.map(name => [name, name])], log.columns[part] ?? ''),
        ]),
      );
    const choices = this.#isTalk ? PARTS_OF_TALK : log.names.length > 0 ? PARTS : [];
    const parts = [...choices.map(select), ...(this.#isTalk ? this.#ofTalk() : [this.#written(...UNNAMED)])];
    const columns = h('div', {class: 'row end', 'data-role': 'log-columns'}, parts);
    this.element = h('div', {class: 'stack'}, columns, this.#counts);
    this.#draw();
  }

  // Whether it is a transcript, whose times count from its beginning.
  get #isTalk() {
    return this.log.columns.began !== null;
  }

  #ofTalk() {
    const looks = guarded(() => this.#look());
    return [
      field('When it began', h('input', {type: 'datetime-local', name: 'began', onchange: looks})),
      this.#written('source', 'Source'),
    ];
  }

  // A field for a source that a person writes.
  #written(name, words) {
    const onchange = guarded(() => this.#look());
    return field(words, h('input', {type: 'text', name, placeholder: 'the file’s name', maxlength: 200, onchange}));
  }

  // Where the file's name is the source of some rows, each file is one: the same traffic would count twice.
  get #unnamed() {
    const n = this.log.report.sources[this.log.name] ?? 0;
    const told = `${plural(n, 'text')} ${n === 1 ? 'has' : 'have'} the file’s name as source.`;
    const why = ' A file of other days would be another source, and a text in both would count twice.';
    return n > 0 && h('p', {class: 'note', 'data-role': 'unnamed'}, told, why, ' Write one name for all such files.');
  }

  // Number of texts that importing would store.
  get fresh() {
    return this.log.report ? freshIn(this.log.report) : 0;
  }

  get verb() {
    return this.fresh ? `Store ${plural(this.fresh, 'text')}` : 'Nothing to store';
  }

  // The columns as they are chosen, for the address of a request; no choice of a text or a time leaves it to its name.
  get query() {
    const chosen = new URLSearchParams({zone: this.#zone});
    for (const {name, value} of this.element.querySelectorAll('select, input'))
      if (value || name === 'source' || name === 'speaker') chosen.set(name, value);
    return chosen;
  }

  async #look() {
    const asked = (this.#asked += 1);
    this.#button.disabled = true; // what it says is not counted yet
    try {
      const log = await call(`${this.#at}/${this.log.key}?${this.query}`);
      if (asked === this.#asked) this.log = log;
    } catch (error) {
      complain(error);
    }
    if (asked === this.#asked) this.#draw();
  }

  get #button() {
    return this.element.closest('form')?.querySelector('button[value=yes]') ?? h('button');
  }

  #draw() {
    const {report, problem, hint} = this.log;
    this.#button.textContent = this.verb;
    this.#button.disabled = false;
    const choose = !this.#isTalk && 'Choose the columns above. ';
    const told = h('p', {class: 'note bad'}, choose, problem, ' ', hint);
    fill(this.#counts, ...(report ? [countsOf(report, this.#zone), this.#unnamed] : [told]));
  }
}
