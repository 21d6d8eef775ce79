// The model's answers to the rows in view, asked for after the rows are shown.
import {whyAddress} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {post} from '../shared/rest.js';

const REST = 300; // milliseconds that rows stay in view before their answers are asked for: who types sees none
const PART = 10; // rows of one request, so that a request for other rows never waits long behind it
const PAUSE = 1500; // milliseconds before the next try while the model is loading
const TRIES = 20;
const DIFFERS = ['differs', 'Not the label of this text'];
// An example decides its own answer, so its label is checked by what the others say.
const OF_EXAMPLE = 'Try answers just this text as it is labelled. The other examples say otherwise.';

export class Answers {
  #base;
  #intents;
  #asked = 0; // number of the newest request; older answers are dropped
  #project;
  #known = new Map(); // answer by id, of one revision

  constructor({base, project}, intents) {
    this.#base = base;
    this.#project = project;
    this.#intents = intents;
  }

  // A cell that is filled when the answers are there.
  cell(row) {
    const isExample = row.split === 'train' && row.labels?.length > 0;
    const cell = h('td', {class: 'answer-cell', 'data-answer': row.id, 'data-example': isExample});
    cell.dataset.text = row.text;
    this.#fill(cell);
    return cell;
  }

  // Asks for the answers to the rows, from the top, and fills their cells in the table.
  async ask(rows, table) {
    const asked = (this.#asked += 1);
    const known = new Map();
    await pause(REST);
    for (let start = 0; start < rows.length; start += PART) {
      const ids = rows.slice(start, start + PART).map(row => row.id);
      const answers = await this.#answersTo(ids, asked);
      if (!answers) return;
      for (const answer of answers) {
        known.set(answer.id, answer);
        this.#known.set(answer.id, answer);
      }
      for (const id of ids) {
        const cell = table.querySelector(`[data-answer="${CSS.escape(id)}"]`);
        if (cell) this.#fill(cell);
      }
    }
    if (asked === this.#asked) this.#known = known; // forgets rows that are out of view
  }

  // Waits for the model to load; null if there is no answer, or other rows are in view by then.
  async #answersTo(ids, asked) {
    for (let tries = 0; tries < TRIES && asked === this.#asked; tries += 1) {
      const found = await post(`${this.#base}/utterances/answers`, {ids}).catch(() => null);
      if (asked !== this.#asked || !found) return null;
      if (found.ready) return found.answers;
      await pause(PAUSE);
    }
    return null;
  }

  #fill(cell) {
    const answer = this.#known.get(cell.dataset.answer);
    if (!answer) return;
    cell.classList.toggle('differs', answer.differs);
    const said = this.#intents.labels(answer.intents);
    const ofOthers = [h('div', {class: 'soft small', title: OF_EXAMPLE}, 'The other examples say'), said];
    const [words, title] = DIFFERS;
    const differs = [said, h('span', {class: 'badge warn', title}, words)];
    const isExample = 'example' in cell.dataset;
    fill(cell, this.#why(cell.dataset, answer.differs ? (isExample ? ofOthers : differs) : said));
  }

  // The answer leads to Try, which tells why the text gets it.
  #why({text, answer}, ...content) {
    const href = whyAddress(this.#project, text);
    if (!href) return content;
    const title = 'See why on the page Try';
    return h('a', {href, title, class: 'why-answer', 'data-key': `why ${answer}`}, ...content);
  }
}

const pause = time => new Promise(wake => setTimeout(wake, time));
