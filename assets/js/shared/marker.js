// Marks values in one utterance: select words by mouse or arrow keys, then name their slot.
import {fill, h} from './elements.js';
import {guarded} from './messages.js';
import {newKey} from './new_key.js';
import {call} from './rest.js';
import {part, wordsOf} from './tokens.js';
import {Turns} from './turns.js';

const MOST_NAMED = 9; // slots with a digit as their key
const HUES = 137; // degrees on the colour circle from one slot to the next; neighbours differ clearly
const NOTHING = {text: '', slots: [], proposals: []};

export class Marker {
  #base;
  #names; // names of the project's slots
  #left;
  #saved;
  #shown = NOTHING; // the utterance as the server returned it last
  #signs = []; // of its text: a draw that parts a long text for each word takes half a second
  #words = [];
  #saves = new Turns();
  #anchor = 0; // the word where the selection began, and the one where it ends
  #at = 0;
  #dragging = false;
  #line;
  #input;
  #naming = h('div', {class: 'row tight', role: 'group', 'aria-label': 'What the chosen words are'});
  #note = h('p', {class: 'small soft', 'aria-live': 'polite'});

  // `names` are the names of the project's slots, loaded or not; Escape calls `left`, each saved change `saved`.
  constructor({base, names, left, saved = () => {}}) {
    this.#base = base;
    this.#names = names;
    this.#left = left;
    this.#saved = saved;
    this.#line = h('p', {
      class: 'marking',
      dir: 'auto',
      tabindex: 0,
      role: 'group',
      'aria-label': 'Text, word by word',
      'aria-describedby': 'marking-keys',
      onkeydown: event => this.#onKey(event),
      onpointerdown: event => this.#press(event),
      onpointerover: event => this.#drag(event),
    });
    this.#input = h('input', {
      type: 'text',
      'aria-label': 'Name of a slot',
      maxlength: 60,
      size: 14,
      onkeydown: event => this.#onName(event),
    });
    this.element = h('div', {class: 'stack'}, this.#line, this.#naming, this.#note, keysLine());
    window.addEventListener('pointerup', () => {
      this.#dragging = false;
    });
  }

  // Shows an utterance with all saved marks. Keys do nothing until marks and slot names are loaded.
  // If answers arrive out of order, the newest request is shown.
  async show(id) {
    const shown = {path: `${this.#base}/utterances/${id}/slots`};
    this.#shown = shown;
    this.#anchor = this.#at = 0;
    this.#note.textContent = '';
    this.#take(shown, NOTHING);
    await this.settled;
    await this.#names.load();
    if (shown === this.#shown) this.#take(shown, await call(shown.path));
  }

  focus() {
    this.#line.focus();
  }

  // Resolves when all marks are saved or refused.
  get settled() {
    return this.#saves.ended;
  }

  #take(shown, found) {
    Object.assign(shown, found);
    if (shown !== this.#shown) return;
    this.#signs = [...shown.text];
    this.#words = wordsOf(shown.text);
    const last = Math.max(0, this.#words.length - 1);
    [this.#anchor, this.#at] = [Math.min(this.#anchor, last), Math.min(this.#at, last)];
    this.#draw();
  }

  get #first() {
    return Math.min(this.#anchor, this.#at);
  }

  get #last() {
    return Math.max(this.#anchor, this.#at);
  }

  // The selected characters: start and end.
  get #chosen() {
    return {start: this.#words[this.#first].start, end: this.#words[this.#last].end};
  }

  #under(marks) {
    return this.#words.length ? marks.filter(mark => overlap(mark, this.#chosen)) : [];
  }

  #part(start, end) {
    return this.#signs.slice(start, end).join('');
  }

  // ---- changes ----

  // `change` returns the new marks from the old ones, or null for no change. Each change waits for the previous
  // one and starts from the server's answer to it. A refused change does not block later ones.
  #save = guarded((change, {done, idle = ''}) => {
    const shown = this.#shown;
    const {text} = shown; // where it was edited meanwhile, other words stand at these places
    return this.#saves.take(async () => {
      const slots = text === shown.text ? change(shown.slots) : null;
      if (slots) await this.#put(shown, slots);
      if (shown === this.#shown) this.#note.textContent = slots ? done : idle;
    });
  });

  async #put(shown, slots) {
    const seen = {text: shown.text, slots: bare(shown.slots)};
    const body = {slots: bare(slots), key: newKey(), seen};
    const found = await call(shown.path, {method: 'PUT', body}).catch(async error => {
      if (error.status === 409) this.#take(shown, await call(shown.path)); // as somebody else has left it
      throw error;
    });
    this.#names.add(found.slots);
    this.#take(shown, found);
    this.#saved();
  }

  // Marks the selected words as a value; marks that overlap it are removed.
  #name(name) {
    const said = name.trim();
    if (!said || !this.#words.length) return;
    const chosen = this.#chosen;
    const done = `“${this.#part(chosen.start, chosen.end)}” is ${said} now.`;
    this.#save(slots => [...apart(slots, chosen), {...chosen, name: said}], {done});
  }

  #unmark() {
    const chosen = this.#chosen;
    const change = slots => {
      const kept = apart(slots, chosen);
      return kept.length < slots.length ? kept : null;
    };
    this.#save(change, {done: 'The mark is gone.', idle: 'Nothing is marked there.'});
  }

  // Proposals that overlap a mark are dropped.
  #accept(proposals) {
    const change = slots => {
      const free = proposals.filter(one => !slots.some(slot => overlap(slot, one)));
      return free.length ? [...slots, ...free] : null;
    };
    const done = `${proposals.map(one => one.name).join(', ')} accepted.`;
    this.#save(change, {done, idle: 'Nothing is proposed for this text.'});
  }

  // ---- keys and mouse ----

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.#meant(event);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.#words.length || event.key === 'Escape') act();
  }

  #meant({key, shiftKey}) {
    const right = getComputedStyle(this.#line).direction === 'rtl' ? -1 : 1; // which way the words go on
    const step = {ArrowLeft: -right, ArrowRight: right, Home: -Infinity, End: Infinity}[key];
    if (step) return () => this.#move(step, shiftKey);
    if (/^[1-9]$/.test(key)) return () => this.#name(this.#names.all[Number(key) - 1] ?? '');
    const proposals = this.#under(this.#shown.proposals);
    const acts = {
      Enter: () => (proposals.length ? this.#accept(proposals) : this.#input.focus()),
      n: () => this.#input.focus(),
      a: () => this.#accept(this.#shown.proposals.filter(one => !one.noisy)),
      Delete: () => this.#unmark(),
      Backspace: () => this.#unmark(),
      Escape: () => this.#left(),
    };
    return acts[key.length === 1 ? key.toLowerCase() : key];
  }

  #move(step, extends_) {
    const last = this.#words.length - 1;
    this.#at = Math.max(0, Math.min(last, this.#at + step));
    if (!extends_) this.#anchor = this.#at;
    this.#draw();
  }

  #press(event) {
    const word = wordAt(event);
    if (word === null) return;
    // Touch has no Shift key: a tap on an adjacent word extends the selection.
    const beside = event.pointerType === 'touch' && (word === this.#last + 1 || word === this.#first - 1);
    if (beside && word < this.#first) this.#anchor = this.#last;
    else if (beside) this.#anchor = this.#first;
    else if (!event.shiftKey) this.#anchor = word;
    this.#at = word;
    this.#dragging = event.pointerType === 'mouse';
    event.preventDefault(); // otherwise the browser's text selection covers this one
    this.#line.focus();
    this.#draw();
  }

  #drag(event) {
    const word = wordAt(event);
    if (!this.#dragging || word === null || word === this.#at) return;
    this.#at = word;
    this.#draw();
  }

  #onName(event) {
    event.stopPropagation();
    if (event.key === 'Escape') this.#line.focus();
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    const {value} = this.#input;
    this.#input.value = '';
    this.#line.focus();
    this.#name(value);
  }

  // ---- drawing ----

  #draw() {
    fill(this.#line, this.#pieces());
    const names = this.#names.all;
    const marked = this.#under(this.#shown.slots);
    const proposed = this.#under(this.#shown.proposals);
    fill(
      this.#naming,
      proposed.map(one => proposalButton(one, () => this.#accept([one]))),
      names.slice(0, MOST_NAMED).map((name, place) => nameButton(name, place + 1, () => this.#name(name))),
      this.#input,
      marked.length > 0 &&
        h(
          'button',
          {class: 'small', 'data-key': 'unmark', onclick: () => this.#unmark()},
          'Take the mark away',
        ),
    );
    this.#input.placeholder = names.length ? 'Another slot' : 'A slot, such as city';
    fillNames(this.#input, names);
  }

  #pieces() {
    const pieces = [];
    let at = 0;
    this.#words.forEach((word, place) => {
      pieces.push(at < word.start && this.#gap(at, word.start), this.#word(word, place));
      at = word.end;
    });
    return [...pieces, h('span', {}, this.#part(at, Infinity))];
  }

  // The space between two words of one value belongs to the value.
  #gap(start, end) {
    const mark = this.#shown.slots.find(slot => slot.start < start && slot.end > end);
    const style = mark ? {'--hue': hueOf(mark.name, this.#names.all)} : {};
    return h('span', {class: mark ? 'word slot' : null, style}, this.#part(start, end));
  }

  #word(word, place) {
    const slot = this.#shown.slots.find(mark => overlap(mark, word));
    const proposal = slot ? null : this.#shown.proposals.find(mark => overlap(mark, word));
    const mark = slot ?? proposal;
    const ends = mark && mark.end <= word.end;
    const chosen = place >= this.#first && place <= this.#last;
    const kind = slot ? 'slot' : proposal ? `proposal${proposal.noisy ? ' noisy' : ''}` : '';
    return h(
      'span',
      {
        class: `word ${kind} ${chosen ? 'chosen' : ''}`,
        style: mark ? {'--hue': hueOf(mark.name, this.#names.all)} : {},
        'data-word': place,
        'aria-current': place === this.#at ? 'true' : null,
      },
      this.#part(word.start, word.end),
      ends && h('small', {dir: 'auto'}, mark.name + (proposal ? '?' : '')),
    );
  }
}

const bare = marks => marks.map(({start, end, name}) => ({start, end, name}));
const overlap = (one, other) => one.start < other.end && one.end > other.start;
const apart = (marks, from) => marks.filter(mark => !overlap(mark, from));

export const hueOf = (name, names) => String((Math.max(0, names.indexOf(name)) * HUES + 210) % 360);

// The values of an utterance, listed after its text: slot name and value.
export const slotChips = (text, slots, names = []) =>
  slots.map(({start, end, name}) =>
    h(
      'span',
      {class: 'slot-chip', style: {'--hue': hueOf(name, names)}},
      part(text, start, end),
      h('small', {}, name),
    ),
  );

function wordAt({target}) {
  const word = target.closest?.('[data-word]');
  return word ? Number(word.dataset.word) : null;
}

const nameButton = (name, digit, act) =>
  h('button', {class: 'small', 'data-key': `slot ${name}`, onclick: act}, name, ' ', h('kbd', {}, digit));

const proposalButton = ({name, noisy}, act) =>
  h(
    'button',
    {class: 'small primary', 'data-key': `proposal ${name}`, onclick: act},
    `Yes, ${name}${noisy ? ' (unsure)' : ''}`,
    ' ',
    h('kbd', {}, '↵'),
  );

function fillNames(input, names) {
  const id = 'slot-names';
  const list = document.getElementById(id) ?? h('datalist', {id});
  fill(
    list,
    names.map(name => h('option', {value: name})),
  );
  if (!list.isConnected) input.after(list);
  input.setAttribute('list', id);
}

const keysLine = () =>
  h(
    'p',
    {class: 'small soft', id: 'marking-keys'},
    'Drag over the words. ',
    h(
      'span',
      {class: 'for-keys'},
      'Or move with ',
      h('kbd', {}, '←'),
      ' ',
      h('kbd', {}, '→'),
      ' and hold Shift for more than one; a digit or ',
      h('kbd', {}, 'N'),
      ' says what they are, ',
      h('kbd', {}, 'Del'),
      ' takes a mark away, ',
      h('kbd', {}, 'A'),
      ' accepts what is proposed.',
    ),
  );
