// The list of findings with a filter by kind; one is selected.
import {query, setQuery} from '../shared/address.js';
import {Again} from '../shared/again.js';
import {fill, h, titled} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {failed} from '../shared/skeleton.js';
import {moreWords, number, plural} from '../shared/words.js';
import {CopiesOffer} from './copies.js';
import {COUNTED_AGAIN, FindingView} from './finding.js';
import {keysLine, openKeys} from './keys.js';
import {touches} from './touched.js';

const DOUBT = 'doubt'; // folded, and not counted among the findings
const AT_ONCE = 12;
const MORE = 30;
const MOST_SEEN = 200; // ids of findings that a request names
const SOON_MS = 2000;
const SECOND_MS = 1000;

const KINDS = [
  ['', 'All'],
  ['people', 'Two people’s labels'],
  ['proposal', 'Proposals'],
  ['conflict', 'Conflicting labels'],
  ['tested', 'Examples that are also test texts'],
  ['label', 'Labels to check'],
  ['greedy', 'Harmful examples'],
  ['confusion', 'Mixed-up intents'],
  ['overgrown', 'Too broad intents'],
  ['thin', 'Intents with few examples'],
  ['misleading', 'Misleading names'],
  ['duplicate', 'Duplicates'],
  ['next', 'Worth labelling next'],
  [DOUBT, 'Worth a look if you have time'],
];
const SINGLE = {
  people: 'two people’s labels',
  proposal: 'proposal',
  conflict: 'conflicting labels',
  tested: 'also a test text',
  label: 'check the label',
  greedy: 'harmful example',
  confusion: 'mixed-up intents',
  overgrown: 'too broad',
  thin: 'few examples',
  misleading: 'misleading name',
  duplicate: 'duplicate',
  next: 'worth labelling',
  doubt: 'check the label',
};
const COLOURS = {
  people: 'bad',
  proposal: 'accent',
  conflict: 'bad',
  tested: 'bad',
  label: 'warn',
  greedy: 'warn',
  next: 'accent',
};

const allOf = counts =>
  Object.entries(counts).reduce((sum, [kind, one]) => (kind === DOUBT ? sum : sum + one), 0);

export class FindingsTab {
  #base;
  #isLoading; // whether the model is, at this moment
  #kind = query().get('kind') ?? '';
  #findings = [];
  #order = []; // ids of findings as the user saw them; the list keeps this order while it is worked through
  #settled = new Map(); // findings that went here, by id: an undo brings them back
  #back = null; // one that came back, until the server lists it again
  #counts = {};
  #recounted = 0; // findings that an act has changed, and the server counts again
  #acts = new Set(); // acts of this page that the server may not know yet: `finding` and `repair`
  #at = 0;
  #asked = 0;
  #wanted = null;
  #most = AT_ONCE; // findings that are listed; more on demand
  #again = new Again(SOON_MS, () => this.element.isConnected && this.renew());
  #answered = false; // whether there was a list before
  #filter = h('div', {class: 'row tight', role: 'group', 'aria-label': 'Kinds of findings'});
  #list = h('ul', {class: 'findings', 'data-role': 'findings'});
  #notes = h('div', {class: 'soft small', role: 'status'});
  #beside = h('div', {class: 'beside', hidden: true}); // there is something to look at
  #view;
  #copies; // the acts for all equal texts, and for those nearly the same
  #where = h('span', {class: 'soft small tabular push'}); // place of the finding in the list

  constructor(tools) {
    this.#base = tools.base;
    this.#isLoading = tools.isLoading;
    this.#view = new FindingView(tools);
    this.#copies = new CopiesOffer(tools);
    const list = [this.#filter, this.#copies.element, this.#list, this.#notes];
    this.element = h(
      'div',
      {class: 'review'},
      h('section', {class: 'sheet', 'aria-label': 'Findings'}, list),
      this.#beside,
    );
    this.#beside.append(this.#wayBack(), this.#view.element, keysLine());
  }

  // On a narrow screen the list and one finding take turns.
  #wayBack() {
    const back = {class: 'plain', 'data-key': 'back', onclick: () => this.#goBack()};
    const next = {class: 'plain', 'data-key': 'next', onclick: guarded(() => this.#go(this.#at + 1))};
    return h(
      'div',
      {class: 'row way-back only-narrow'},
      h('button', back, 'All findings'),
      this.#where,
      h('button', next, 'Next finding'),
    );
  }

  #goBack() {
    this.#openDetail(false);
    this.#list.children[this.#at]?.firstChild?.focus();
  }

  #openDetail(opens) {
    this.element.classList.toggle('opened', opens);
    if (opens && this.#where.offsetParent) this.element.scrollIntoView({block: 'start'});
  }

  // Loads the list again and selects the finding with this id, or the one selected before.
  async renew(wanted = null) {
    this.#wanted = wanted ?? this.#wanted; // remembered in case a newer load overtakes this one
    const asked = (this.#asked += 1);
    if (!this.#findings.length) fill(this.#list, comparing(this.#isLoading, this.#answered));
    const found = await call(`${this.#base}/review?${this.#asks()}`).catch(error => this.#fail(error, asked));
    if (asked !== this.#asked) return;
    this.#answered = true;
    this.#again.follow(!found.effects || found.recounted > 0);
    const before = this.#view.typedFor ?? this.#wanted ?? this.#findings[this.#at]?.id;
    this.#wanted = null;
    this.#findings = found.findings.map(one => ({...one, seen: found.revision}));
    const known = new Set(this.#order);
    this.#order.push(...this.#findings.map(({id}) => id).filter(id => !known.has(id)));
    this.#keepBack(found.recounted);
    this.#counts = found.counts;
    this.#recounted = found.recounted;
    fill(this.#notes, found.notes.join(' '));
    this.#copies.show(found);
    await this.#drawOpen(before);
  }

  // Nothing is compared any more; a list that stands there stays.
  #fail(error, asked) {
    if (asked === this.#asked && !this.#findings.length)
      fill(this.#list, h('li', {}, failed(error, () => this.renew())));
    throw error;
  }

  #asks() {
    const asked = new URLSearchParams({...(this.#kind && {kind: this.#kind}), limit: this.#most});
    for (const id of this.#order.slice(0, MOST_SEEN)) asked.append('seen', id);
    return asked;
  }

  // Shows a finding at its place again as soon as its act is taken back, and selects it. `one` is the act.
  bringBack(one) {
    this.#acts.delete(one);
    const {finding: id} = one;
    const back = this.#settled.get(id);
    if (!back || this.#findings.some(other => other.id === id)) return;
    this.#settled.delete(id);
    this.#counts[back.kind] += 1;
    this.#back = {...back, waits: one.repair !== null, isComing: true};
    this.#keepBack(1);
    this.#drawOpen(id).catch(() => {}); // each remedy shows its own error
  }

  // It stays until the server has taken the act back, and while it counts the finding again.
  #keepBack(recounted) {
    const isListed = this.#findings.some(({id}) => id === this.#back?.id);
    if (!this.#back || isListed || !(recounted || this.#back.isComing)) {
      this.#back = null;
      return;
    }
    const place = id => this.#order.indexOf(id);
    const before = this.#findings.filter(({id}) => place(id) < place(this.#back.id));
    this.#findings = this.#findings.toSpliced(before.length, 0, this.#back);
  }

  // Draws the findings but those that were settled here; the next one comes to the place of one that went. One whose
  // texts were changed waits: its words and remedies are of before.
  async #drawOpen(chosen = null) {
    const acts = [...this.#acts];
    const gone = this.#findings.filter(({id}) => acts.some(({finding}) => finding === id));
    this.#findings = this.#findings.filter(one => !gone.includes(one));
    for (const one of this.#findings) one.waits ||= acts.some(({repair}) => touches(repair, one));
    for (const one of gone) {
      this.#counts[one.kind] -= 1;
      this.#settled.set(one.id, one);
    }
    const same = this.#findings.findIndex(({id}) => id === chosen);
    if (same >= 0) this.#at = same;
    else if (gone.length) this.#at = this.#nextAt;
    this.#at = Math.min(this.#at, Math.max(0, this.#findings.length - 1));
    this.#drawFilter(this.#counts);
    this.#draw(this.#counts);
    this.#beside.hidden = !this.#findings.length;
    if (this.#beside.hidden) this.#openDetail(false);
    this.#drawWhere();
    await this.#view.show(this.#findings[this.#at] ?? null);
  }

  // What is offered in place of one that went: the next that is not being counted again.
  get #nextAt() {
    const at = this.#findings.findIndex(({waits}, place) => !waits && place >= this.#at);
    return at >= 0 ? at : Math.max(0, this.#findings.findLastIndex(({waits}) => !waits));
  }

  // A finding goes as soon as somebody decides about it, before the server has saved that; others wait.
  leaveOut(act) {
    this.#acts.add(act);
    this.#copies.show(null); // they are counted again
    if (!this.#findings.some(one => act.finding === one.id || touches(act.repair, one))) return;
    this.#drawOpen().catch(() => {}); // each remedy shows its own error
    if (act.finding && this.element.classList.contains('opened')) this.#openDetail(true); // from its beginning
  }

  // The server has saved the act, or refused it: the next list is true.
  takeIn(act) {
    this.#acts.delete(act);
    if (this.#back?.id === act.finding) this.#back.isComing = false;
  }

  onKey(key) {
    if (key === '?') return openKeys;
    if (key === 'j' || key === 'arrowdown') return () => this.#go(this.#at + 1);
    if (key === 'k' || key === 'arrowup') return () => this.#go(this.#at - 1);
    if (key === 'escape' && this.element.classList.contains('opened')) return () => this.#goBack();
    return this.#view.onKey(key);
  }

  #drawWhere() {
    this.#where.textContent = `${number(this.#at + 1)} of ${number(this.#total)}`;
  }

  // All findings of the kind that is chosen, listed or not.
  get #total() {
    return Math.max(this.#findings.length, this.#kind ? (this.#counts[this.#kind] ?? 0) : allOf(this.#counts));
  }

  async #go(at) {
    if (at >= this.#findings.length && this.#total > this.#findings.length) {
      this.#most += MORE;
      await this.renew();
    }
    this.#at = Math.min(Math.max(0, at), Math.max(0, this.#findings.length - 1));
    this.#drawWhere();
    [...this.#list.children].forEach((item, place) => this.#mark(item, place));
    await this.#view.show(this.#findings[this.#at] ?? null);
  }

  #mark(item, place) {
    if (item.className === 'fold') return;
    item.firstChild?.setAttribute?.('aria-pressed', String(place === this.#at));
    if (place === this.#at) item.scrollIntoView({block: 'nearest'});
  }

  #drawFilter(counts) {
    const all = allOf(counts);
    const shown = KINDS.filter(([kind]) => !kind || kind === this.#kind || (counts[kind] && kind !== DOUBT));
    fill(
      this.#filter,
      shown.map(([kind, words]) => this.#choice(kind, words, kind ? counts[kind] : all)),
    );
  }

  #opens(kind) {
    return guarded(async () => {
      this.#kind = kind;
      this.#findings = [];
      this.#copies.show(null);
      this.#order = [];
      this.#back = null;
      this.#at = 0;
      this.#most = AT_ONCE;
      setQuery({kind});
      await this.renew();
    });
  }

  #choice(kind, words, count) {
    const attributes = {
      class: 'kind',
      'aria-pressed': String(kind === this.#kind),
      'data-key': `kind ${kind}`,
      onclick: this.#opens(kind),
    };
    return h('button', attributes, words, h('span', {class: 'soft tabular'}, number(count)));
  }

  #draw(counts) {
    const total = this.#total;
    const alike = new Set(this.#findings.map(({kind}) => kind)).size < 2; // the filter above says which
    const rows = this.#findings.map((finding, place) => this.#row(finding, place, alike));
    const more = total > rows.length && this.#more(rows.length, total);
    const isEnd = !rows.length || !this.#kind || this.#kind === 'label'; // of what comes before the doubts
    const folded = isEnd && this.#kind !== DOUBT && counts[DOUBT] > 0 && this.#folded(counts[DOUBT]);
    fill(this.#list, rows.length ? rows : this.#none(allOf(counts), folded), more, folded);
  }

  // In place of a list without findings; `all` findings of other kinds wait, and `folded` doubts stand below.
  #none(all, folded) {
    const others = {'data-key': 'others', onclick: this.#opens('')};
    const left = [h('h2', {}, 'None left of this kind'), h('button', others, `Show ${plural(all, 'other finding')}`)];
    return h('li', {class: 'empty'}, this.#recounted ? RECOUNTING : all ? left : folded ? DOUBTS_LEFT : NOTHING);
  }

  #more(shown, total) {
    const show = guarded(async () => {
      this.#most += MORE;
      await this.renew();
    });
    return h(
      'li',
      {class: 'fold'},
      h('button', {'data-key': 'more', onclick: show}, moreWords(shown, total, MORE)),
    );
  }

  // Labels that the model would give otherwise, beyond those that are probably wrong.
  #folded(count) {
    const words = `${plural(count, 'more label')} worth a look if you have time`;
    return h('li', {class: 'fold'}, h('button', {'data-key': 'folded', onclick: this.#opens(DOUBT)}, words));
  }

  #row(finding, place, alike) {
    const {kind, title, measure, texts, waits} = finding;
    const below =
      kind !== 'next' && texts.length > 0 && h('span', {class: 'soft small cut', dir: 'auto'}, texts[0].text);
    const what = h('span', {class: 'what', dir: 'auto'}, kind === 'next' ? texts[0].text : titled(title));
    const badge = h('span', {class: `badge ${COLOURS[kind] ?? ''}`}, SINGLE[kind]);
    const amount = h('span', {class: `soft small tabular ${alike ? '' : 'push'}`}, waits ? COUNTED_AGAIN : measure);
    const attributes = {
      class: waits ? 'waits' : null,
      'aria-pressed': String(place === this.#at),
      'data-key': finding.id,
      onclick: guarded(() => {
        this.#openDetail(true);
        return this.#go(place);
      }),
    };
    return h(
      'li',
      {},
      h(
        'button',
        attributes,
        !alike && h('span', {class: 'row tight'}, badge, amount),
        what,
        alike && amount,
        below,
      ),
    );
  }
}

const NOTHING = [h('h2', {}, 'Nothing to mend'), 'Label more texts, or look again after the next training.'];
const DOUBTS_LEFT = [h('h2', {}, 'The likely faults are done'), 'Some of the labels below may still be wrong.'];
const RECOUNTING = [h('h2', {}, 'Counting again'), 'The texts of the last findings have just been changed.'];
const LOADING = ['Loading the model', 'Your examples are compared as soon as it is there.'];
const COMPARING = [
  'Comparing your examples',
  'Each with all the others, and with what the model answers. The first look takes longest.',
];
const AGAIN = ['Looking again', 'With the newest labels and answers.'];

// A look takes seconds, and counts them; `again` once there was a list. `isLoading()`: whether the model loads.
function comparing(isLoading, again) {
  const began = Date.now();
  const [title, about] = [h('h2'), h('p')];
  const spent = h('p', {class: 'soft small tabular'});
  const say = () => {
    const [words, more] = isLoading() ? LOADING : again ? AGAIN : COMPARING;
    fill(title, words);
    fill(about, more);
  };
  const tick = setInterval(() => {
    if (!spent.isConnected) clearInterval(tick);
    say();
    fill(spent, `${plural(Math.round((Date.now() - began) / SECOND_MS), 'second')} so far`);
  }, SECOND_MS);
  say();
  return h('li', {class: 'empty', 'data-role': 'comparing'}, title, about, spent);
}
