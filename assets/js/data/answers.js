// The model's answers to the rows in view, asked for after the rows are shown.
import {fill, h} from '../shared/elements.js';
import {post} from '../shared/rest.js';

const PAUSE = 1500; // milliseconds before the next try while the model is loading
const TRIES = 20;

export class Answers {
  #base;
  #intents;
  #asked = 0; // number of the newest request; older answers are dropped
  #known = new Map(); // answer by id, of one revision

  constructor(base, intents) {
    this.#base = base;
    this.#intents = intents;
  }

  // A cell that is filled when the answers are there.
  cell(row) {
    const cell = h('td', {class: 'answer-cell', 'data-answer': row.id});
    this.#fill(cell);
    return cell;
  }

  // Asks for the answers to the rows, then fills their cells in the table.
  async ask(rows, table) {
    const asked = (this.#asked += 1);
    for (let tries = 0; rows.length && tries < TRIES; tries += 1) {
      const body = {ids: rows.map(row => row.id)};
      const found = await post(`${this.#base}/utterances/answers`, body).catch(() => null);
      if (asked !== this.#asked || !found) return;
      if (found.ready) {
        this.#known = new Map(found.answers.map(answer => [answer.id, answer]));
        for (const cell of table.querySelectorAll('[data-answer]')) this.#fill(cell);
        return;
      }
      await new Promise(wake => setTimeout(wake, PAUSE));
    }
  }

  #fill(cell) {
    const answer = this.#known.get(cell.dataset.answer);
    if (!answer) return;
    cell.classList.toggle('differs', answer.differs);
    const note =
      answer.differs && h('span', {class: 'badge warn', title: 'Not the label of this text'}, 'differs');
    fill(cell, this.#intents.labels(answer.intents), note);
  }
}
