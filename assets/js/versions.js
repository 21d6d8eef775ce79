// The Versions page: what was shipped and what changed; compare, go back, hand over, report.
import {inStudio, query, setQuery} from './shared/address.js';
import {accuracyState} from './shared/accuracy.js';
import {comparisonOf, decisionOf} from './shared/comparison.js';
import {fill, h} from './shared/elements.js';
import {downloadsOf, saveFile} from './shared/evidence.js';
import {ask, guarded, present, toast} from './shared/messages.js';
import {call, post, upload} from './shared/rest.js';
import {Sharing} from './shared/sharing.js';
import {megabytes, nothingFits, plural} from './shared/words.js';
import {frame} from './studio.js';
import {Charts} from './versions/charts.js';
import {dataView, differenceView} from './versions/data.js';
import {handOverView} from './versions/hand_over.js';
import {lineageView, modelsView} from './versions/models.js';

const LEAD =
  'Each version keeps the data it was trained on. Compare two, go back, or hand one over as a file.';

export const mount = view =>
  frame(view, 'versions', 'Versions', LEAD, context => new VersionsPage(context).start());

class VersionsPage {
  #context;
  #base;
  #made = []; // model versions
  #states = {}; // of the versions, by number
  #advised = null; // the waiting version's number, that of the live one, and which to use
  #compared = null; // number of the version whose comparison with the live one is open
  #drawModels = () => {};
  #loading = 0; // how often the list is being asked for
  #isOld = false; // whether another version is live, or waits, than when they were listed
  #coming = null; // the newest request
  #asked = 0; // number of the newest request about them; older answers are dropped
  #models = h('section', {class: 'sheet', 'aria-label': 'Versions'});
  #detail = h('section', {class: 'sheet comparison', hidden: true, 'aria-label': 'Comparison', tabindex: -1});
  #data = h('details', {class: 'sheet', 'data-role': 'data-versions'});
  #charts;
  #picker = h('input', {
    type: 'file',
    accept: '.zip',
    class: 'hidden-text',
    'aria-label': 'File of the version to import',
    onchange: guarded(event => this.#takeIn(event.target.files[0])),
  });

  constructor(context) {
    this.#context = context;
    this.#base = context.base;
    this.#charts = new Charts(context.base);
  }

  async start() {
    this.#context.main.append(this.#models, this.#detail, this.#data, this.#charts.element);
    await this.#load();
    this.#context.onStatus((status, before) => before && this.#onStatus(status, before));
    const [candidate, champion] = ['candidate', 'champion'].map(name => query().get(name));
    if (candidate) await this.#compareLinked(Number(candidate), Number(champion));
  }

  // A version of a link may have been deleted since: that is told where its comparison would stand, below the list.
  async #compareLinked(candidate, champion) {
    try {
      await this.#compare(candidate, champion);
    } catch (error) {
      if (error.status !== 404) throw error;
      setQuery({candidate: '', champion: ''});
      this.#detail.hidden = false;
      fill(this.#detail, h('p', {class: 'note warn', 'data-role': 'gone'}, `${error.message} The others stand above.`));
    }
  }

  // A training may end while the page is open, and another tab may promote a version.
  #onStatus(status, before) {
    this.#isOld ||= status.champion !== before.champion || status.candidate !== before.candidate;
    if (this.#isOld && this.#loading > 0) return; // an act of this page asks already; the next status looks again
    if (this.#isOld) this.#load({isStatusNew: true}).catch(() => {}); // the next status asks again
    else if (accuracyState(status) !== accuracyState(before)) this.#drawModels(); // the accuracy of today has come
  }

  // The status is asked for, too, unless it has just come.
  async #load({isStatusNew = false} = {}) {
    const asked = (this.#asked += 1);
    this.#isOld = false;
    const coming = Promise.all([call(`${this.#base}/versions`), isStatusNew || this.#context.refresh()]);
    this.#loading += 1;
    const [found] = await coming
      .catch(error => {
        this.#isOld = true;
        throw error;
      })
      .finally(() => {
        this.#loading -= 1;
      });
    if (asked !== this.#asked) return;
    this.#made = found.models;
    this.#states = found.states;
    const counts = found.models.length ? null : (await call(`${this.#base}/overview`)).counts;
    if (asked !== this.#asked) return;
    const actions = {
      promote: number => this.#use(number),
      discard: number => this.#act(`models/${number}/discard`, `Version ${number} is not used.`),
      compare: (candidate, champion) => this.#compare(candidate, champion),
      lineage: number => this.#show(this.#lineage(number)),
      report: number => this.#show(this.#report(number)),
      handOver: number => this.#handOver(number),
      remove: number => this.#remove(number),
      rollBack: champion => this.#rollBack(champion, found.previous),
      importBundle: () => this.#picker.click(),
    };
    this.#drawModels = () => {
      const drawn = {...found, counts, advised: this.#advised, compared: this.#compared};
      fill(this.#models, modelsView(this.#context, drawn, actions), this.#picker);
    };
    this.#drawModels();
    guarded(() => this.#advise())();
    this.#data.hidden = !found.data.length;
    fill(
      this.#data,
      dataView(this.#base, found.data, (older, newer) => this.#compareData(older, newer)),
    );
    this.#charts.show(found.models);
  }

  // Says whether to use the version that waits; the comparison takes a moment, and the list does not wait for it.
  async #advise() {
    const {candidate, champion} = this.#context.status;
    const isAdvised = this.#advised?.number === candidate && this.#advised.against === champion;
    if (!candidate || !champion || isAdvised) return;
    const asked = this.#asked;
    const {advice, comparison} = await call(`${this.#base}/compare?candidate=${candidate}&champion=${champion}`);
    if (asked !== this.#asked || !advice) return;
    const {verdict} = comparison;
    this.#advised = {number: candidate, against: champion, advice, verdict, now: answersNow(comparison)};
    this.#drawModels();
  }

  async #rollBack(champion, previous) {
    const again = () => this.#act(`models/${champion}/promote`, `Version ${champion} is live again.`);
    await this.#act('rollback', `Version ${previous} is live again.`, {champion}, again);
  }

  // A refusal may mean that versions have changed, so they are loaded again.
  async #act(path, said, body, undo = null) {
    try {
      await post(`${this.#base}/${path}`, body);
    } catch (error) {
      await this.#load();
      throw error;
    }
    await this.#tell(said, '', undo);
  }

  async #tell(said, hint = '', undo = null) {
    toast(said, hint, 'good', undo);
    await this.#load();
  }

  // Shows the answer to the newest request below the lists; `compared` is the version that it compares with the live
  // one.
  async #show(coming, compared = null) {
    this.#coming = coming;
    this.#detail.hidden = false;
    fill(this.#detail, h('p', {class: 'soft'}, 'One moment …'));
    this.#detail.scrollIntoView({block: 'nearest'});
    this.#detail.focus({preventScroll: true});
    const [found] = await Promise.allSettled([coming]);
    if (coming !== this.#coming) return;
    this.#detail.hidden = Boolean(found.reason);
    this.#opened(found.reason ? null : compared);
    if (found.reason) throw found.reason;
    fill(this.#detail, found.value);
    this.#detail.scrollIntoView({block: 'nearest'});
  }

  // What an open comparison says and offers does not stand in the list a second time.
  #opened(compared) {
    if (compared === this.#compared) return;
    this.#compared = compared;
    this.#drawModels();
  }

  #compare(candidate, champion) {
    setQuery({candidate, champion});
    const isDecided = champion === this.#context.status.champion;
    return this.#show(this.#comparison(candidate, champion), isDecided ? candidate : null);
  }

  async #comparison(candidate, champion) {
    const found = await call(`${this.#base}/compare?candidate=${candidate}&champion=${champion}`);
    const title = h('h2', {}, `Version ${candidate} against version ${champion}`);
    return [title, comparisonOf(found, ...this.#decision([candidate, champion], found.advice))];
  }

  // What can be decided where the comparison stands: to use the version, or to keep the live one.
  #decision([mine, live], advice) {
    if (live !== this.#context.status.champion) return [];
    const waits = this.#states[mine] === 'candidate';
    const act = async (...args) => {
      const shown = this.#coming;
      await this.#act(...args);
      setQuery({candidate: '', champion: ''});
      if (shown !== this.#coming) return; // something else stands there by now
      this.#detail.hidden = true;
      this.#opened(null);
    };
    const use = () => this.#use(mine, act);
    const keep = () => act(`models/${mine}/discard`, `Version ${mine} is not used.`);
    return decisionOf([mine, live], advice, use, waits ? keep : null);
  }

  #use(mine, act = (...args) => this.#act(...args)) {
    const {champion: live} = this.#context.status;
    const back = () => this.#act('rollback', `Version ${live} is live again.`, {champion: mine});
    return act(`models/${mine}/promote`, `Version ${mine} is live.`, undefined, live === null ? null : back);
  }

  #compareData(older, newer) {
    setQuery({older, newer: newer || ''});
    return this.#show(this.#difference(older, newer));
  }

  async #difference(older, newer) {
    const found = await call(`${this.#base}/diff?older=${older}&newer=${newer}`);
    return differenceView(older, newer, found, nothingFits(this.#context.status.task));
  }

  async #lineage(number) {
    const model = this.#made.find(one => one.number === number);
    return lineageView(model, await call(`${this.#base}/models/${number}/lineage`));
  }

  async #handOver(number) {
    const {bundle_bytes: bytes} = await call(`${this.#base}/models/${number}/lineage`);
    const model = this.#made.find(one => one.number === number);
    present(`Hand over version ${number}`, handOverView(this.#context, model, bytes));
  }

  async #report(number) {
    const found = await call(`${this.#base}/models/${number}/report-link`);
    const name = `${this.#context.project}-v${number}-report`;
    const sharing = new Sharing(this.#base, {kind: 'report', target: String(number)}, found);
    const save = kind => saveFile(`${this.#base}/models/${number}/report.${kind}`, `${name}.${kind}`);
    return [
      h('h2', {}, `Report about version ${number}`),
      h('p', {}, 'Ready or not, what changed, and what to do next, for somebody who needs no studio.'),
      h(
        'div',
        {class: 'row'},
        downloadsOf(save),
        h('a', {class: 'button', href: inStudio(found.path), target: '_blank', rel: 'noopener'}, 'Open it here'),
      ),
      (await sharing.start()).element,
    ];
  }

  async #remove(number) {
    const plan = await call(`${this.#base}/models/${number}/deletion`);
    const {forbidden, reasons_against: reasons, bytes_freed: bytes, blobs} = plan;
    if (forbidden) {
      toast(reasons[0], reasons.slice(1).join(' '), 'bad');
      return;
    }
    const frees = `It frees ${megabytes(bytes)} in ${plural(blobs, 'file')}.`;
    const content = [
      reasons.length > 0 && h('div', {class: 'note warn'}, reasons.join(' ')),
      h('p', {}, `${frees} It cannot be undone.`),
    ];
    if (!(await ask(`Delete version ${number}?`, content, 'Delete', 'danger'))) return;
    await call(`${this.#base}/models/${number}?even_so=true`, {method: 'DELETE'});
    await this.#tell(`Version ${number} is deleted.`);
  }

  async #takeIn(file) {
    if (!file) return;
    this.#picker.value = ''; // so that the same file can be chosen again
    const made = await upload(`${this.#base}/bundles`, file);
    const name = made.model.replace(/^.*@/, 'version ');
    await this.#context.refresh().catch(() => {}); // the header shows the error
    // The first version of a project answers at once.
    if (`version ${this.#context.status.champion}` === name) await this.#tell(`Imported: ${name} answers now.`);
    else await this.#tell(`Imported as ${name}.`, `“Use ${name}” lets it answer.`);
  }
}

// What the waiting version answers right today, as `now` of a status; null where the two were not compared so.
function answersNow({basis, moment, after, n, f1}) {
  if (basis !== 'test split' || moment !== 'now') return null;
  return {share: after, right: Math.round(after * n), n, micro_f1: f1 ? f1[1] : null, causes: []};
}
