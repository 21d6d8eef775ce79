// Where a file that is imported has a column of times, its texts may count as traffic, too: the import of a log takes
// the same file. Nothing is counted unless a person ticks the box. An import keeps texts as they are, so the log does
// not mask them either: each text would come in twice, once with its personal data and once without.
import {address} from '../shared/address.js';
import {field, fill, h} from '../shared/elements.js';
import {deleteOnLeaving} from '../shared/leaving.js';
import {guarded} from '../shared/messages.js';
import {call, post, upload} from '../shared/rest.js';
import {countsOf, freshIn, zoneHere} from '../shared/said_log.js';
import {kindsOf, plural} from '../shared/words.js';

const TIMES = /date|time|^when$|^at$|created|sent/i; // names of columns that say when a text was written
const COUNTING = 'Counting its rows …';

export class AlsoTraffic {
  element = h('div', {class: 'stack small', 'data-role': 'times', hidden: true});
  #at;
  #there;
  #file;
  #ticked;
  #columns = null; // that of the texts and that of the times, by which the file is read as a log
  #log = null; // the uploaded log, once it was looked at
  #stays = () => {}; // that log is not deleted any more as the page is left
  #asked = 0; // number of the newest look; what earlier ones find is dropped
  #counts = h('div', {role: 'status'});
  #box = h('input', {type: 'checkbox', 'data-key': 'also traffic', onchange: guarded(() => this.#look())});
  #name = h('input', {
    type: 'text',
    'data-key': 'also source',
    placeholder: 'the file’s name',
    maxlength: 200,
    onchange: guarded(() => this.#look()),
  });
  #source = h('div', {class: 'row', hidden: true}, field('Source of rows without one', this.#name));

  // Calls `ticked` when what an import does besides has changed.
  constructor({base, project}, file, ticked) {
    this.#at = `${base}/traffic/logs`;
    this.#there = h('a', {href: address('discover', project, {tab: 'traffic'})}, 'What people said');
    this.#file = file;
    this.#ticked = ticked;
  }

  // Number of texts that are counted with the import.
  get n() {
    return this.#box.checked && this.#log?.report ? freshIn(this.#log.report) : 0;
  }

  // Whether its rows are being counted: an import would leave them out.
  get isCounting() {
    return this.#box.checked && !this.#log;
  }

  // Offers it for the columns by which the file is read now.
  show({columns, text_column: text, intent_column: intent}) {
    const time = text && columns.find(name => name !== text && name !== intent && TIMES.test(name));
    this.element.hidden = !time;
    const isOther = this.#columns && (this.#columns.text !== text || this.#columns.time !== time);
    this.#columns = time ? {text, time} : null;
    const words = `Also count these texts as traffic, by the column “${time}”`;
    const about = [`Without that “${time}” is not kept. What people say over time stands under `, this.#there, '.'];
    const line = h('div', {class: 'soft'}, about);
    fill(this.element, time && [h('label', {class: 'check'}, this.#box, words), line, this.#source, this.#counts]);
    if (isOther || !time) this.leave().catch(() => {}); // what was counted is of other columns
  }

  // Forgets the log, as the file is imported without it, or not at all.
  async leave() {
    this.#box.checked = false;
    await this.#look();
  }

  // Stores the rows, if the box is ticked; returns what was done in words and what takes it back, else null.
  async store() {
    if (!this.n) return null;
    const {key} = this.#log;
    this.#stays();
    const {kept} = await post(`${this.#at}/${key}?${this.#query}`);
    this.#log = null;
    const words = [` ${plural(kept, 'text')} ${kept === 1 ? 'counts' : 'count'} as traffic: `, this.#there, '.'];
    return {words, undo: () => post(`${this.#at}/${key}/undo`)};
  }

  get #query() {
    const named = this.#name.value && {source_name: this.#name.value};
    return new URLSearchParams({zone: zoneHere(), mask: false, ...this.#columns, ...named});
  }

  async #look() {
    const asked = (this.#asked += 1);
    const before = this.#log;
    this.#log = null;
    this.#stays();
    fill(this.#counts, this.#box.checked && COUNTING);
    this.#source.hidden = !this.#box.checked;
    this.#ticked();
    const forgotten = before && call(`${this.#at}/${before.key}`, {method: 'DELETE'});
    await forgotten?.catch(() => {}); // the server forgets it by itself after a day
    if (!this.#box.checked) return;
    try {
      const log = await upload(`${this.#at}?${this.#query}`, this.#file);
      if (asked !== this.#asked) await call(`${this.#at}/${log.key}`, {method: 'DELETE'});
      else this.#tell(log);
    } catch (error) {
      if (asked === this.#asked) this.#refuse(error.message, error.hint);
    }
  }

  #tell(log) {
    this.#log = log;
    this.#stays = deleteOnLeaving(`${this.#at}/${log.key}`);
    if (!log.report) return this.#refuse(log.problem, log.hint);
    fill(this.#counts, countsOf({...log.report, added: 0}, zoneHere()), this.#unmasked(log.report));
    return this.#ticked();
  }

  // The import adds the texts, and masks nothing.
  #unmasked({unmasked}) {
    const kinds = kindsOf(unmasked);
    if (!kinds.length) return null;
    const words = `An import masks nothing: personal data (${kinds.join(', ')}) is stored as it is in the file. `;
    const there = ['“Import a log” under ', this.#there.cloneNode(true)];
    const about = [words, there, ' masks it; labels are not read there.'];
    return h('div', {class: 'note warn', 'data-role': 'unmasked'}, about);
  }

  #refuse(problem, hint) {
    this.#box.checked = false;
    this.#source.hidden = true;
    fill(this.#counts, h('p', {class: 'note bad'}, problem, ' ', hint));
    this.#ticked();
  }
}
