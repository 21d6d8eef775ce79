// The Discover page: what people talk about, by groups of texts without a label.
import {askAnew, outsideBox} from './discover/anew.js';
import {GroupView} from './discover/group.js';
import {keysLine, openKeys} from './discover/keys.js';
import {GroupList, isPutAside, mostlyLabelled, noneLeft} from './discover/list.js';
import {askTarget} from './discover/merging.js';
import {TrafficTab} from './discover/traffic.js';
import {address, query, setQuery} from './shared/address.js';
import {Behind} from './shared/behind.js';
import {fill, h, progressBar} from './shared/elements.js';
import {emptyPage, firstAct} from './shared/first_act.js';
import {Intents} from './shared/intents.js';
import {dialogIsOpen, guarded, once, toast} from './shared/messages.js';
import {newKey} from './shared/new_key.js';
import {Newest, whenLabelsCount} from './shared/newest.js';
import {call, post} from './shared/rest.js';
import {failed, skeleton} from './shared/skeleton.js';
import {Turns} from './shared/turns.js';
import {Unheard} from './shared/unheard.js';
import {duration, number, plural} from './shared/words.js';
import {frame} from './studio.js';

const LEAD =
  'What your texts are about, in groups of similar ones. Give a group an intent: what stays ticked gets that label.';

const SOON = 300; // milliseconds; what takes longer says that it is under way: D was pressed twice

export const mount = view =>
  frame(view, 'discover', 'Discover', LEAD, context => new DiscoverPage(context).start());

class DiscoverPage {
  #context;
  #intents;
  #list;
  #group;
  #groups = null; // as the server listed them
  #open = null; // number of the group that is shown
  #wanted = null; // of the one to show when the list is there
  #isBusy = false; // while an act is saved and the next group comes, keys do nothing: nobody has seen it
  #isComing = false; // the group that is marked is not shown yet, and keys would act on the one before
  #shows = 0; // number of the newest request for a group; older answers are dropped
  #unheard = new Unheard(n => [`${plural(n, 'press', 'presses')} came before the next group: nothing was done.`, '']);
  #behind;
  #turns = new Turns(); // an undo waits for the act before it
  #waits = false; // for the job that groups the texts
  #begun = 0; // when the server had taken it; what was asked for before does not know it
  #newest = new Newest(act => this.#takeBack(act));
  #note = h('div', {class: 'row grouping', role: 'status', 'data-role': 'grouping', hidden: true});
  #working = h('span', {class: 'soft', role: 'status', 'data-role': 'working'});
  #place = h('div', {'data-role': 'place'});
  #columns;
  #traffic;
  #isTraffic = query().get('tab') === 'traffic'; // whether that is looked at, and not the groups
  #switch = h('div', {class: 'tabs', role: 'group', 'aria-label': 'What to look at'});
  #part = h('div');
  #asked = 0;
  #finds = once(how => this.#find(how)); // by any button
  #asksAnew = once(() => this.#askAnew());

  constructor(context) {
    this.#context = context;
    this.#intents = new Intents(context.base, context.status.task);
    this.#list = new GroupList(
      this.#intents,
      guarded((id, isClicked) => this.#go(id, isClicked)),
    );
    this.#group = new GroupView(this.#intents, {
      take: (card, how) => this.#act(() => this.#take(card, how)),
      rename: (card, name) => this.#turns.take(() => this.#change(card.id, {name})),
      split: group => this.#act(() => this.#split(group.card)),
      merge: group => this.#merge(group),
      later: group => this.#act(() => this.#later(group.card)),
      texts: card => call(`${context.base}/groups/${card.id}/texts`),
    });
    this.#traffic = new TrafficTab(context, this.#intents, {
      opensGroup: id => this.#openTab(false, id),
      opensSorting: () => this.#openSorting(),
      remember: (words, about, back) => this.#newest.add({words, about, back, isSaved: true, isTraffic: true}),
    });
    const back = {class: 'plain', 'data-key': 'back', onclick: () => this.#goBack()};
    const above = h('div', {class: 'row way-back only-narrow'}, h('button', back, 'All groups'));
    const beside = h('div', {class: 'beside'}, above, this.#group.element, keysLine(this.#intents.nothing));
    this.#columns = h('div', {class: 'review'}, this.#list.element, beside);
    this.#behind = new Behind(
      () => this.#isTraffic || this.#isBusy || dialogIsOpen(),
      guarded(() => this.#renew()),
    );
  }

  async start() {
    const above = h('div', {class: 'row above'}, this.#switch, this.#working, this.#newest.element);
    this.#context.main.append(above, this.#part);
    fill(this.#place, h('div', {class: 'sheet'}, skeleton('Looking for groups')));
    document.addEventListener('keydown', event => this.#newest.onKey(event, key => this.#keyed(key)));
    const opened = this.#openTab(this.#isTraffic, Number(query().get('group')) || null);
    await opened.finally(() => this.#context.onStatus((status, before) => this.#onStatus(status, before)));
  }

  // `wanted` is the group to look at, if there is one.
  async #openTab(isTraffic, wanted = null) {
    this.#isTraffic = isTraffic;
    setQuery({tab: isTraffic ? 'traffic' : '', group: ''});
    const button = (name, words, opens) =>
      h(
        'button',
        {
          'aria-pressed': String(opens === isTraffic),
          'data-key': name,
          onclick: guarded(() => this.#openTab(opens)),
        },
        words,
      );
    fill(this.#switch, button('groups', 'Groups', false), button('traffic', 'What people said', true));
    fill(this.#part, isTraffic ? this.#traffic.element : [this.#note, this.#place]);
    this.#list.seek(wanted);
    this.#columns.classList.toggle('opened', wanted !== null);
    await (isTraffic ? this.#traffic.renew() : this.#renew(wanted));
  }

  async #openSorting() {
    await this.#openTab(false);
    const button = this.#part.querySelector('[data-key=sort], .primary[data-key=find]');
    if (button) button.focus();
    else toast('All texts that wait for a label are in groups.');
  }

  #onStatus({job, queued, revision, champion, asked}, before) {
    if (this.#isTraffic) {
      if (before && before.champion !== champion) guarded(() => this.#traffic.renew())();
      return;
    }
    const runs = job?.kind === 'discover' || queued.includes('discover');
    if (runs) this.#follow(job);
    const ended = this.#waits && !runs && asked >= this.#begun;
    if (runs || ended) this.#waits = runs;
    const changed = before && before.revision !== revision && revision !== this.#groups?.revision;
    if (ended || changed) this.#behind.note();
  }

  // A group that was wanted stays so when a newer load overtakes this one.
  async #renew(wanted = null) {
    this.#wanted = wanted ?? this.#wanted;
    const asked = (this.#asked += 1);
    const coming = Promise.all([call(`${this.#context.base}/groups`), this.#intents.load()]);
    const [groups] = await coming.catch(error => this.#fail(error, asked));
    if (asked !== this.#asked) return;
    this.#groups = groups;
    if (!this.#waits) this.#drawNote();
    if (!groups.groups.length) {
      fill(this.#place, this.#nothingYet());
      return;
    }
    if (!this.#columns.isConnected) fill(this.#place, this.#columns);
    const chosen = this.#wanted ?? this.#open;
    this.#wanted = null;
    this.#list.show(groups.groups, chosen);
    const listed = this.#list.listed;
    const next = listed.find(({id}) => id === chosen) ?? listed[0];
    await this.#show(next?.id ?? null);
  }

  // In place of the first list stands the way to ask again.
  #fail(error, asked) {
    const again = h('div', {class: 'sheet'}, failed(error, () => this.#renew()));
    if (asked === this.#asked && !this.#groups) fill(this.#place, again);
    throw error;
  }

  async #show(id) {
    const asked = (this.#shows += 1);
    this.#isComing ||= id !== this.#open;
    this.#open = id;
    this.#list.mark(id);
    const group = id === null ? null : await call(`${this.#context.base}/groups/${id}`);
    if (asked !== this.#shows) return;
    this.#isComing = false;
    this.#group.show(group);
  }

  async #go(id, isClicked = false) {
    await this.#choose(id);
    if (!isClicked) return;
    this.#columns.classList.add('opened');
    if (this.#columns.querySelector('.way-back').offsetParent) this.#columns.scrollIntoView({block: 'start'});
  }

  #goBack() {
    this.#columns.classList.remove('opened');
    this.#list.focus();
  }

  #nothingYet() {
    const {waiting, out_of_scope: outside} = this.#groups;
    const box = outsideBox(outside, this.#intents.nothing);
    const {project} = this.#context;
    const {counts} = this.#intents;
    if (this.#waits)
      return emptyPage('Reading your texts', 'The groups stand here as soon as they are found.', null);
    if (!counts.total)
      return emptyPage(
        'No texts yet',
        'Import some; then see what they are about.',
        firstAct(project, counts),
      );
    if (!waiting) {
      const words = 'Groups are made of texts that wait for a label. Import more to see what is new.';
      const again = {'data-key': 'find', onclick: () => this.#finds({out_of_scope: true})};
      const most = `Group ${plural(outside, 'text')} labelled “${this.#intents.nothing}”`;
      const brings = h('a', {class: 'button primary', href: address('data', project)}, 'Import texts');
      const acts = outside ? h('div', {class: 'row centre'}, brings, h('button', again, most)) : brings;
      return emptyPage('No text waits for a label', words, acts);
    }
    const finds = () => this.#finds({out_of_scope: Boolean(box && box.querySelector('input').checked)});
    const find = {class: 'primary', 'data-key': 'find', onclick: finds};
    const words = `${plural(waiting, 'text')} without a label. Similar ones form groups, and each gets a name.`;
    const button = h('button', find, 'Find groups');
    return emptyPage('What are they about?', words, box ? h('div', {class: 'row centre'}, button, box) : button);
  }

  async #find(how = {}) {
    await post(`${this.#context.base}/groups`, how);
    this.#begun = performance.now();
    this.#waits = true;
    this.#follow(null);
    if (!this.#groups.groups.length) fill(this.#place, this.#nothingYet());
    await this.#context.refresh();
  }

  #follow(job) {
    this.#waits = true;
    this.#note.hidden = false;
    this.#note.classList.add('note');
    const mine = job?.kind === 'discover' ? job : null;
    const turn = job?.kind === 'train' ? 'waiting until the training is over' : 'waiting for its turn';
    const stage = mine?.state === 'running' && mine.stage ? mine.stage : turn;
    const left = mine && duration(mine.eta_seconds);
    fill(
      this.#note,
      h('span', {class: 'grow'}, `Finding groups: ${stage} `, left),
      progressBar(mine?.progress ?? 0),
    );
  }

  // Texts that are in no group yet, and the way to other groups.
  #drawNote() {
    const {ungrouped, groups} = this.#groups;
    this.#note.hidden = !groups.length;
    this.#note.classList.toggle('note', ungrouped > 0);
    const sort = {'data-key': 'sort', onclick: () => this.#finds()};
    const open = groups.filter(({state}) => state === 'open');
    const fresh = open.filter(one => one.is_new).length;
    const others = open.some(one => one.known !== null) ? 'first those that resemble no intent' : 'the largest first';
    const order = fresh ? `${number(fresh)} new ${fresh === 1 ? 'one' : 'ones'} first` : others;
    fill(
      this.#note,
      h(
        'span',
        {class: 'grow'},
        ungrouped
          ? `${plural(ungrouped, 'new text')} ${ungrouped === 1 ? 'is' : 'are'} in no group.`
          : open.length
            ? `${plural(open.length, 'group')} to look at, ${order}.`
            : noneLeft(groups),
        ungrouped ? '' : mostlyLabelled(groups),
      ),
      ungrouped > 0 && h('button', {...sort, class: 'primary'}, ungrouped === 1 ? 'Sort it in' : 'Sort them in'),
      h('button', {'data-key': 'anew', onclick: this.#asksAnew}, 'Group anew…'),
    );
  }

  // Asks the server what would go: the list may still lack an act that was told of already.
  async #askAnew() {
    const how = await askAnew(await call(`${this.#context.base}/groups`), this.#intents.nothing);
    if (how) await this.#find(how);
  }

  // Does something, and opens the group that it returns, or else the next one. Keys do nothing until
  // that one is there, and that is told.
  async #act(does) {
    if (this.#isBusy) {
      this.#unheard.count();
      return;
    }
    this.#unheard.heard();
    this.#isBusy = true;
    this.#columns.setAttribute('aria-busy', 'true');
    const told = setTimeout(() => fill(this.#working, 'Working…'), SOON);
    const at = this.#list.listed.findIndex(({id}) => id === this.#open);
    const next = this.#list.listed[at + 1] ?? this.#list.listed[at - 1];
    try {
      const opens = await this.#turns.take(does);
      await this.#renew(opens ?? next?.id ?? null);
      this.#context.refreshSoon();
    } catch (error) {
      await this.#renew().catch(() => {}); // the message tells of the first error
      throw error;
    } finally {
      this.#isBusy = false;
      clearTimeout(told);
      fill(this.#working);
      this.#columns.removeAttribute('aria-busy');
      this.#behind.catchUp();
    }
  }

  async #take(card, how) {
    const key = newKey();
    const done = await post(`${this.#context.base}/groups/${card.id}/take`, {...how, key});
    await this.#intents.load();
    const label = done.intent ? (this.#intents.byId.get(done.intent)?.name ?? '') : this.#intents.nothing;
    const meanwhile = done.left.meanwhile + done.left.labelled + done.left.test;
    if (meanwhile) toast(`${plural(meanwhile, 'text')} changed meanwhile: left as they are.`);
    this.#remember(`${plural(done.changed, 'text')}: ${label}`, card.id, async () => {
      await post(`${this.#context.base}/undo`, {key});
      const change = this.#change(card.id, {set_aside: card.set_aside, for_later: card.for_later});
      await change.catch(error => error.status === 404 || Promise.reject(error)); // its group may be gone by now
    });
  }

  async #split(card) {
    const {groups} = await post(`${this.#context.base}/groups/${card.id}/split`, {});
    this.#remember(`Split “${card.name}” into ${number(groups.length)}`, card.id, () =>
      Promise.all(groups.map(id => this.#change(id, {merged_into: card.id}))),
    );
    this.#list.seek(groups[0]); // the parts are open, whatever list the whole was in
    return groups[0];
  }

  async #merge({card, groups: near}) {
    const target = await askTarget(card, near, this.#groups.groups);
    if (!target) return;
    await this.#act(async () => {
      await this.#change(card.id, {merged_into: target.id});
      this.#remember(`Merged “${card.name}” into “${target.name}”`, card.id, () =>
        this.#change(card.id, {merged_into: 0}),
      );
      return target.id;
    });
  }

  async #later(card) {
    const isAside = isPutAside(card);
    await this.#change(card.id, {set_aside: isAside ? 0 : card.size});
    const words = isAside ? 'Open again' : 'Later';
    this.#remember(`${words}: “${card.name}”`, card.id, () =>
      this.#change(card.id, {set_aside: card.set_aside, for_later: card.for_later}),
    );
  }

  #change(id, what) {
    return call(`${this.#context.base}/groups/${id}`, {method: 'PATCH', body: what});
  }

  #remember(words, group, back) {
    this.#newest.add({words, group, back, about: whenLabelsCount(this.#context.status), isSaved: true});
  }

  // Returns what `back` returns in words, such as what stays; the page is drawn anew behind that.
  async #takeBack({group, back, isTraffic}) {
    const told = await this.#turns.take(back);
    guarded(() => this.#showAgain(group, isTraffic))();
    return told;
  }

  async #showAgain(group, isTraffic) {
    if (Boolean(isTraffic) !== this.#isTraffic) await this.#openTab(Boolean(isTraffic), group);
    else await (isTraffic ? this.#traffic.renew() : this.#renew(group));
    this.#context.refreshSoon();
  }

  #keyed(key) {
    if (!this.#columns.isConnected) return null;
    const ofGroup = this.#group.onKey(key);
    const action = this.#ofList(key) ?? ofGroup;
    const isLost = this.#isBusy || (this.#isComing && action === ofGroup);
    return action && isLost ? () => this.#unheard.count() : action;
  }

  #ofList(key) {
    if (key === 'j' || key === 'arrowdown') return () => this.#step(1);
    if (key === 'k' || key === 'arrowup') return () => this.#step(-1);
    if (key === 'escape' && this.#columns.classList.contains('opened')) return () => this.#goBack();
    if (key === '?') return () => openKeys(this.#intents.nothing);
    return null;
  }

  async #step(by) {
    const listed = this.#list.listed;
    const at = listed.findIndex(({id}) => id === this.#open) + by;
    if (listed[at]) await this.#choose(listed[at].id);
  }

  // Chosen by hand: a list that is under way does not go back to the group that it was asked for.
  #choose(id) {
    this.#wanted = null;
    return this.#show(id);
  }
}
