// The Label page: one key decides and shows the next card; decisions are kept until they are saved.
import {Ahead} from './label/ahead.js';
import {wayBack} from './label/back.js';
import {decidingOf, foldedOf, othersOf} from './label/buttons.js';
import {Card} from './label/card.js';
import {Deciding} from './label/deciding.js';
import {drawTests} from './label/drawn_tests.js';
import {Decisions} from './label/decisions.js';
import {Few} from './label/few.js';
import {Guidelines} from './label/guidelines.js';
import {Keys} from './label/keys.js';
import {Pinning} from './label/pinning.js';
import {Leases} from './label/leases.js';
import {ordersOf, Queue, STANDARD} from './label/queue.js';
import {ChosenIntents} from './label/chosen.js';
import {resting} from './label/resting.js';
import {SureTexts} from './label/sure.js';
import {Today} from './label/today.js';
import {Tray} from './label/tray.js';
import {Values} from './label/values.js';
import {Why} from './label/why.js';
import {query, setQuery} from './shared/address.js';
import {offerActs} from './shared/command_bar.js';
import {fill, h, select} from './shared/elements.js';
import {IntentFinder} from './shared/finder.js';
import {Intents} from './shared/intents.js';
import {complain, guarded, toast} from './shared/messages.js';
import {whenLabelsCount, WHEN_TESTS_COUNT} from './shared/newest.js';
import {failed} from './shared/skeleton.js';
import {number} from './shared/words.js';
import {frame} from './studio.js';

const PAUSE = 2000; // milliseconds after which counts of intents and of sure texts follow the labels
const JOINING = new Set(['label', 'out-of-scope', 'undo']); // decisions that change what the model says

export const mount = view => frame(view, 'label', 'Label', null, context => new LabelPage(context).start());

class LabelPage {
  #context;
  #multi;
  #chosen = new ChosenIntents(); // intents chosen for the utterances, in a multi-label project
  #intents;
  #decisions;
  #deciding;
  #queue;
  #sure;
  #today;
  #few;
  #finder;
  #card;
  #tray;
  #guidelines;
  #why;
  #values;
  #keys;
  #leases;
  #pinning;
  #ahead;
  #back = null; // leads to the page that chose texts to label first
  #orderNote = h('span', {class: 'soft small order-note'});
  #left = h('span', {class: 'soft small tabular', 'data-role': 'left'});
  #counting = h('p', {class: 'soft small', 'data-role': 'counting'}); // when labels count
  #waiting = 0;
  #recounting = 0;
  #isReady = false; // whether intents are there for the cards
  #savedAt = 0; // when the server had answered the last decision

  constructor(context) {
    const {base} = context;
    this.#leases = new Leases(base);
    const {client} = this.#leases;
    this.#few = new Few(context.project);
    this.#context = context;
    this.#multi = context.status.task === 'multi-label';
    this.#intents = new Intents(base, context.status.task);
    this.#guidelines = new Guidelines(base, () => this.#card.tellAbout(this.#queue.first));
    this.#why = new Why(base, this.#intents);
    this.#values = new Values(base, () => document.activeElement?.blur());
    this.#today = new Today(base, () => !this.#decisions.unsaved);
    this.#decisions = new Decisions(context, this.#intents, {
      client,
      sent: operations => this.#sent(operations),
      saved: () => this.#saved(),
      undo: key => this.#deciding.undo(key),
      kept: made => this.#deciding.keep(made),
    });
    this.#queue = new Queue(context, {
      client,
      order: query().get('order') ?? STANDARD,
      multi: this.#multi,
      settled: () => this.#ahead.settled,
      changed: () => this.#draw(),
    });
    this.#tray = new Tray(context, this.#intents, {
      label: (items, how) => this.#deciding.labelAll(items, how),
      back: item => this.#deciding.putBack(item),
      similar: guarded(texts => this.#ahead.similarTo(texts)),
    });
    const parts = {queue: this.#queue, decisions: this.#decisions, chosen: this.#chosen, tray: this.#tray};
    this.#ahead = new Ahead(context, parts);
    this.#deciding = new Deciding(parts, this.#multi, {
      drawn: () => this.#draw(),
      counted: (more, isLabel) => this.#count(more, isLabel),
      labelled: (...decided) => this.#pinning.check(...decided),
    });
    this.#pinning = new Pinning(base, this.#intents, {...parts, undo: key => this.#deciding.undo(key)});
    this.#sure = new SureTexts(base, this.#intents, {
      accepted: (ids, act) => this.#acceptedSure(ids, act),
      undone: n => this.#countSure(-n),
      undo: key => this.#deciding.undo(key),
      doubted: ids => this.#ahead.bring(ids, 'that you judged wrong'),
    });
    this.#makeCard();
  }

  #makeCard() {
    const give = intent => this.#deciding.give(intent);
    const accept = () => this.#deciding.accept();
    const actions = this.#actions();
    const then = act => given => {
      act(given);
      this.#card.showText();
    };
    this.#finder = new IntentFinder({
      intents: () => this.#byLikelihood(),
      pick: then(give),
      create: then(name => this.#deciding.create(name)),
      label: 'Find or create an intent',
    });
    this.#card = new Card({
      project: this.#context.project,
      intents: this.#intents,
      multi: this.#multi,
      decided: this.#decisions.newest,
      guidelines: this.#guidelines.opener,
      enoughOf: id => this.#guidelines.enoughOf(id),
      finder: this.#finder,
      give,
      accept,
      buttons: decidingOf(actions, this.#intents.nothing),
      others: othersOf(actions),
      folded: foldedOf(actions, item => this.#pinWords(item)),
    });
    const numbered = number => this.#giveNumbered(number);
    this.#keys = new Keys({enter: accept, ...actions}, numbered, this.#intents);
  }

  #pinWords(item) {
    const answer = this.#pinning.answerOf(item);
    return answer ? `Pin “${answer.words}” for this text` : 'Pin an answer';
  }

  #actions() {
    const deciding = this.#deciding;
    const outOfScope = () => deciding.decide('out-of-scope');
    // An act on the text of the card, without a decision.
    const about = act => () => {
      const item = deciding.text();
      return item && act(item);
    };
    return {
      '/': about(() => this.#finder.open()),
      u: () => deciding.undo(),
      0: outOfScope,
      o: outOfScope,
      s: () => deciding.decide('skip'),
      f: () => deciding.decide('flag'), // without a note: one that somebody writes meanwhile stays
      m: guarded(about(({text}) => this.#ahead.similarTo([text]))),
      t: () => deciding.intoTray(),
      w: about(item => this.#why.show(item)),
      v: about(item => this.#values.open(item)),
      p: guarded(about(item => this.#pinning.pin(item))),
      g: () => this.#guidelines.focus(),
      a: () => this.#sure.open(),
    };
  }

  async start() {
    this.#layOut();
    const restored = this.#decisions.start(); // what waits is sent at once, whether intents come or not
    await this.#loadIntents();
    await restored;
    this.#isReady = true;
    this.#keys.listen();
    offerActs(['Show the keys of this page', () => this.#keys.open()]);
    this.#tray.restore().catch(complain);
    const cards = this.#queue.refill();
    this.#today.load().then(last => this.#decisions.recall(last), complain);
    await cards;
    await this.#ahead.bringNamed().catch(complain);
    const {client} = this.#leases;
    await drawTests(this.#context, this.#queue, {client, few: this.#few}).catch(complain);
    this.#back = wayBack(this.#context.project);
    this.#draw();
    this.#sure.load();
    this.#pinning.load().catch(complain);
    if (query().get('sure')) this.#sure.open();
    setQuery({sure: ''});
    this.#watchLeaving();
    this.#context.onStatus((status, before) => this.#onStatus(status, before));
  }

  #layOut() {
    const {heading, main} = this.#context;
    const order = select(
      {'aria-label': 'Order of the queue', onchange: event => this.#reorder(event.target.value)},
      ordersOf(this.#multi),
      this.#queue.order,
    );
    const counts = [this.#few.element, this.#today.element, this.#decisions.state, this.#left];
    heading.append(h('div', {class: 'row push'}, counts));
    main.append(
      h(
        'div',
        {class: 'columns'},
        h(
          'div',
          {class: 'stack'},
          h('div', {class: 'row order'}, order, this.#orderNote, h('span', {class: 'push'}), this.#keys.button),
          this.#card.element,
          this.#sure.element, // the other way to begin stands back
          this.#values.element,
          h('section', {class: 'sheet'}, h('h2', {}, 'Last decisions'), this.#counting, this.#decisions.list),
        ),
        h('aside', {class: 'stack'}, this.#why.element, this.#tray.element, this.#guidelines.element),
      ),
    );
  }

  async #loadIntents() {
    await this.#intents.load();
    this.#guidelines.draw(this.#intents.open);
    if (this.#queue.isDone) this.#draw(); // it says how many are done
  }

  #watchLeaving() {
    window.addEventListener('beforeunload', event => {
      if (this.#decisions.unsaved) event.preventDefault();
    });
    this.#leases.giveBackOnLeaving(() => this.#queue.reorder(this.#queue.order));
  }

  #onStatus(status, before) {
    this.#drawCounting();
    const left = status.unlabelled - this.#decisions.unsaved;
    const isNews = !before || this.#isNewsOfLabels(status);
    if (before && isNews && left !== this.#waiting) this.#sure.load(); // labels of another page, say
    if (isNews) this.#countLeft(left);
    if (!before) return;
    // The next act may be another, or a training has begun.
    if (this.#queue.isDone || status.job?.kind !== before.job?.kind) this.#draw();
    if (status.unlabelled && !before.unlabelled && !this.#queue.first) this.#queue.refill(); // an import elsewhere
    if (before.champion !== status.champion) {
      toast(`Version ${status.champion} answers now.`, 'The next cards have its suggestions.', 'good');
      this.#queue.rearrange();
      this.#sure.again();
    }
    if (status.model !== 'ready') return;
    if (this.#queue.isUnsettled) this.#queue.rearrange();
    else if (before.model !== 'ready') this.#queue.suggest();
  }

  // Whether the server knew all decisions when this status was asked for; an older one would set counts back.
  #isNewsOfLabels({asked}) {
    return !this.#decisions.unsaved && asked > this.#savedAt;
  }

  #reorder(order) {
    setQuery({order});
    this.#queue.reorder(order);
  }

  // A number key means what stands beside that number on the card, and nothing else.
  #giveNumbered(number) {
    if (!this.#deciding.text()) return;
    const intent = this.#card.numbered(number);
    if (intent) this.#deciding.give(intent);
    else toast(`The card has no number ${number}.`, 'Press / and type the name of any intent.');
  }

  // The open intents, those first that the model thinks the likeliest for the text on the card.
  #byLikelihood() {
    const {likely = []} = this.#queue.first ?? {};
    const places = new Map(likely.map((number, place) => [number, place]));
    const placeOf = intent => places.get(intent.number) ?? Infinity;
    const ordered = this.#intents.open.map(intent => [placeOf(intent), intent]);
    return ordered.sort(([a], [b]) => (a === b ? 0 : a - b)).map(([, intent]) => intent);
  }

  #acceptedSure(ids, act) {
    this.#queue.drop(ids);
    this.#decisions.addMany(act);
    this.#countSure(act.n);
  }

  // Texts that were labelled at once, or are not any more; all that counts them follows.
  #countSure(n) {
    this.#savedAt = performance.now();
    this.#countLeft(this.#waiting - n);
    this.#today.count(n);
    this.#loadIntents().catch(() => {}); // the next count follows
    this.#context.refreshSoon();
    this.#queue.rearrange();
  }

  // Labels have joined the model. The number and colour of an intent that was created with one come from the server.
  async #sent(operations) {
    if (operations.some(({kind}) => JOINING.has(kind))) this.#queue.renew();
    if (operations.some(operation => operation.create?.length)) await this.#loadIntents().catch(() => {});
  }

  // After the last card, asks the server whether utterances came back or are leased to others.
  #saved() {
    this.#savedAt = performance.now();
    this.#context.refreshSoon();
    this.#today.loadSoon();
    this.#recountSoon();
    if (this.#isReady && !this.#queue.first) this.#queue.refill();
  }

  // After a pause, so that quick decisions leave the server to the next cards; while some are unsaved, not yet.
  #recountSoon() {
    this.#recounting ||= setTimeout(() => {
      this.#recounting = 0;
      if (this.#decisions.unsaved) return;
      this.#loadIntents().catch(() => {}); // the next count follows
      this.#sure.load();
    }, PAUSE);
  }

  // Texts that wait for a label: more, or fewer; with `isLabel` each one is labelled today, or not any more.
  #count(more, isLabel) {
    this.#countLeft(this.#waiting + more);
    this.#sure.count(more);
    if (isLabel) this.#today.count(-more);
    this.#few.count(-more, isLabel);
  }

  // The server sends this count every few seconds; in between it is counted here.
  #countLeft(left) {
    this.#waiting = Math.max(0, left);
    this.#left.textContent = this.#waiting ? `${number(this.#waiting)} wait for a label` : '';
  }

  #draw() {
    const {first, fetching, note, filter} = this.#queue;
    fill(this.#orderNote, (!filter && this.#back) || note); // in its place: one line more would move the card
    this.#values.follow(first);
    this.#why.follow(first);
    const {limit} = this.#sure;
    if (first) this.#card.draw(first, {chosen: this.#chosen, status: this.#context.status, limit});
    else this.#card.rest(fetching ? h('p', {class: 'empty'}, 'Looking for texts …') : this.#done());
    this.#drawCounting();
  }

  // When the label of the text on the card counts.
  #drawCounting() {
    const isTest = this.#queue.first?.split === 'test';
    const words = isTest ? WHEN_TESTS_COUNT : whenLabelsCount(this.#context.status);
    if (this.#counting.textContent !== words) this.#counting.textContent = words;
  }

  #done() {
    const {waiting, trouble} = this.#queue;
    const {unsaved} = this.#decisions;
    const again = () => this.#queue.refill();
    if (trouble) return failed(trouble, again); // nobody knows whether a text is left
    return resting(this.#context.status, this.#intents.counts, {waiting, unsaved, again});
  }
}
