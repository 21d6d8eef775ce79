// Ranks replies to a conversation: typed replies, or turns drawn from the project's logs.
import {field, fill, h, table} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {placeExample} from '../shared/placeholder.js';
import {post} from '../shared/rest.js';
import {chainWords, plural, points} from '../shared/words.js';

const TITLE = 'Which reply fits a conversation?';
const LEAD =
  'This uses your conversations, not your intents. Type what was said so far, one message a line, whoever said it. ' +
  'You see which reply fits best as the next message.';
const CHOICE = 'Leave it empty to rank every reply in your conversations.';
const BARE = 'No training has learned from these conversations yet, so the order is a rough one.';

const lines = box =>
  box.value
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean);

export class ReplySheet {
  #base;
  #said = h('textarea', {rows: 3, maxlength: 100000});
  #hasExample = false;
  #asked = 0; // number of the newest request; older answers are dropped
  #candidates = h('textarea', {
    rows: 3,
    maxlength: 1000000,
    'aria-describedby': 'replies-to-rank',
  });
  #found = h('div', {'aria-live': 'polite', 'data-role': 'replies'});

  constructor(base) {
    this.#base = base;
    const rank = h('button', {disabled: true, onclick: () => this.#rank()}, 'Rank replies');
    const hasWords = () => (rank.disabled = !lines(this.#said).length); // there is nothing to rank for
    this.#said.addEventListener('input', hasWords);
    this.element = h(
      'section',
      {class: 'sheet', hidden: true, 'aria-label': TITLE},
      h(
        'details',
        {},
        h('summary', {}, h('h2', {style: {display: 'inline'}}, TITLE)),
        h(
          'div',
          {class: 'stack'},
          h('p', {class: 'soft small'}, LEAD),
          field('Conversation so far', this.#said),
          h(
            'div',
            {},
            field('Replies to choose from, one a line (optional)', this.#candidates),
            h('p', {id: 'replies-to-rank', class: 'soft small'}, CHOICE),
          ),
          h('div', {class: 'row'}, rank),
          this.#found,
        ),
      ),
    );
  }

  // Shown if the project has conversations; before a training nothing on the page can tell good from bad.
  show({conversations, champion}) {
    this.element.hidden = conversations === 0 || champion === null;
    if (this.element.hidden || this.#hasExample) return;
    this.#hasExample = true;
    placeExample(this.#base, this.#said).catch(() => {}); // the field works without
  }

  #rank = guarded(async () => {
    const asked = (this.#asked += 1);
    fill(this.#found, h('p', {class: 'soft'}, 'Ranking …'));
    try {
      const body = {turns: lines(this.#said), candidates: lines(this.#candidates)};
      const found = await post(`${this.#base}/replies`, body);
      if (asked === this.#asked) this.#draw(found);
    } catch (error) {
      if (asked !== this.#asked) return;
      fill(this.#found, h('div', {class: 'note bad'}, error.message, h('div', {class: 'small'}, error.hint)));
    }
  });

  #draw({encoder, trained, contexts, candidates, drawn, best}) {
    const from = drawn
      ? `${plural(candidates, 'reply', 'replies')} from your conversations`
      : plural(candidates, 'reply', 'replies');
    const reads = contexts
      ? `, which reads up to ${plural(contexts, 'earlier turn')}`
      : ', which reads the last turn';
    const rows = best.map(({text, cosine}) => [text, h('td', {class: 'number'}, points(cosine))]);
    const by = chainWords([encoder]); // “version 1 of shop”; another encoder by its name
    const fit = h('th', {class: 'number'}, 'Fit, of 100');
    fill(
      this.#found,
      h('p', {class: 'small soft', 'data-role': 'ranked-by'}, `The best of ${from}, by ${by}${reads}.`),
      !trained && h('div', {class: 'note warn'}, BARE),
      table(['Reply', fit], rows),
    );
  }
}
