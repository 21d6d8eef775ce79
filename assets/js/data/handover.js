// The whole project as a platform or a tool keeps it: choose one, see what has no place, download.
import {inStudio} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {examplesOf, INTO_AGENT, listOf, problemOf, refusedDownload, refusedOf} from './package.js';

export class HandoverSheet {
  element = h('section', {class: 'sheet', 'aria-label': 'For a platform', hidden: true});
  #base;
  #choice = h('select', {
    'aria-label': 'Platform or tool',
    'data-key': 'target',
    onchange: () => this.#look(),
  });
  #report = h('div', {role: 'status'});
  #asked = 0; // the newest of the reports that were asked for

  #toAgent;

  // `toAgent` opens the sheet that takes labels back into an agent.
  constructor(context, toAgent) {
    this.#base = `${context.base}/handovers`;
    this.#toAgent = toAgent;
  }

  // Opens the sheet, and shows the report of the platform that was chosen last.
  open = guarded(async () => {
    this.element.hidden = false;
    if (!this.#choice.options.length) {
      const targets = await call(this.#base).catch(error => {
        this.element.hidden = true; // an empty box would stand there
        throw error;
      });
      fill(
        this.#choice,
        targets.map(({target, title}) => h('option', {value: target}, title)),
      );
      this.#draw();
    }
    await this.#look();
    this.element.scrollIntoView({block: 'nearest'});
    this.#choice.focus();
  });

  #draw() {
    const close = () => (this.element.hidden = true);
    fill(
      this.element,
      h(
        'div',
        {class: 'row'},
        h('h2', {class: 'grow'}, 'The whole project for a platform'),
        h('button', {class: 'plain', 'aria-label': 'Close', onclick: close}, icon('x')),
      ),
      h('label', {class: 'row'}, 'Platform or tool', this.#choice),
      this.#report,
    );
  }

  #look = guarded(async () => {
    const asked = ++this.#asked;
    const path = `${this.#base}/${this.#choice.value}`;
    fill(this.#report, h('p', {class: 'soft'}, 'Counting …'));
    try {
      const report = await call(path);
      if (asked === this.#asked) this.#show(report, path);
    } catch (error) {
      if (asked === this.#asked) fill(this.#report, problemOf(error));
      else throw error;
    }
  });

  #show({words, left_out: leftOut, losses, refusals, files, warning}, path) {
    const href = inStudio(`/api${path}/file`);
    const save = refusals.length
      ? refusedDownload()
      : h('a', {class: 'button primary', href, download: true, 'data-key': 'download-handover'}, 'Download');
    fill(
      this.#report,
      words.map(one => h('p', {class: 'below'}, one)),
      warning && this.#warn(warning),
      refusals.map(refusedOf),
      leftOut.map(one => examplesOf('Left out', one)),
      losses.map(one => examplesOf('Not carried', one)),
      files.length > 1 && h('details', {}, h('summary', {}, 'Files'), listOf(files)),
      h('div', {class: 'row below'}, save),
    );
  }

  #warn(words) {
    const open = () => {
      this.element.hidden = true;
      this.#toAgent();
    };
    const back = h('button', {'data-key': 'to-agent', onclick: open}, INTO_AGENT);
    const lead = 'To bring your labels into that agent, with all else as it is:';
    return h(
      'div',
      {class: 'note warn row', 'data-role': 'warning'},
      h('div', {class: 'grow'}, words, h('div', {class: 'small'}, lead)),
      back,
    );
  }
}
