// Labels go back into the file that a platform exported: first what changes, then the file.
import {inStudio} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {guarded} from '../shared/messages.js';
import {call, upload} from '../shared/rest.js';
import {number, plural} from '../shared/words.js';

export const INTO_AGENT = 'Back into an agent …';

// What files are called that platforms and other tools export.
export const PLATFORMS = {
  'dialogflow-es': 'Dialogflow ES',
  'dialogflow-cx': 'Dialogflow CX',
  luis: 'LUIS',
  clu: 'CLU',
  watson: 'Watson Assistant',
  lex: 'Amazon Lex',
  'rasa-json': 'Rasa',
  rasa: 'Rasa',
  lu: 'LUIS (.lu)',
  'cx-csv': 'Dialogflow CX (CSV)',
  'watson-csv': 'Watson Assistant (CSV)',
  humanfirst: 'HumanFirst',
  botpress: 'Botpress',
  'semantic-router': 'semantic-router',
  prodigy: 'Prodigy',
  doccano: 'doccano',
  spacy: 'spaCy',
  'label-studio': 'Label Studio',
  argilla: 'Argilla',
  datasets: 'Hugging Face datasets',
};

export class PackageSheet {
  element = h('section', {class: 'sheet', 'aria-label': 'Back into an agent', hidden: true});
  #base;
  #picker;
  #asked = 0; // number of the newest file; what is told of older ones is dropped

  constructor(context) {
    this.#base = context.base;
    this.#picker = h('input', {
      type: 'file',
      class: 'hidden-text',
      'aria-label': 'File that the platform exported',
      accept: '.zip,.json,.yml,.yaml,.lu,.csv',
      onchange: event => this.#send(event.target.files[0]),
    });
    this.element.append(this.#picker);
  }

  // Says which file is wanted, and lets the person choose it.
  choose(problem = null) {
    const open = () => this.#picker.click();
    const pick = h('button', {class: 'primary', 'data-key': 'pick', onclick: open}, 'Choose the export');
    this.#say(
      this.#heading('Back into an agent', () => this.#say()),
      problem,
      h(
        'p',
        {class: 'below'},
        'Choose the file that the platform exported: the one that you imported here, or a newer one. ' +
          'You see what would change, and get a copy of it with your labels.',
      ),
      h('div', {class: 'row'}, pick),
    );
    this.element.querySelector('[data-key=pick]').focus();
  }

  #send = guarded(async file => {
    if (!file) return;
    const asked = (this.#asked += 1);
    this.#picker.value = ''; // so that the same file can be chosen again
    this.#say(h('p', {class: 'soft', role: 'status'}, `Reading ${file.name} …`));
    try {
      const found = await upload(`${this.#base}/packages`, file);
      if (asked === this.#asked) this.#show(found, false);
    } catch (error) {
      if (asked === this.#asked) this.choose(problemOf(error));
      else throw error;
    }
  });

  // Counts again, with the deleted phrases removed or left.
  #look = guarded(async (key, removes) => {
    const asked = (this.#asked += 1);
    const found = await call(`${this.#base}/packages/${key}/look?remove_missing=${removes}`);
    if (asked === this.#asked) this.#show(found, removes);
  });

  #say(...content) {
    this.element.hidden = !content.length;
    fill(this.element, this.#picker, content);
    if (content.length) this.element.scrollIntoView({block: 'nearest'});
  }

  #heading(words, close) {
    const shut = h('button', {class: 'plain', 'aria-label': 'Close', onclick: close}, icon('x'));
    return h('div', {class: 'row'}, h('h2', {class: 'grow', dir: 'auto'}, words), shut);
  }

  #show({key, name, report, words}, removes) {
    const close = guarded(async () => {
      this.#say();
      await call(`${this.#base}/uploads/${key}`, {method: 'DELETE'});
    });
    const {moved, added, removed} = report;
    this.#say(
      this.#heading(`Your labels in “${name}”, ${PLATFORMS[report.platform]}`, close),
      words.map(one => h('p', {class: 'below'}, one)),
      report.missing > 0 && this.#removal(key, report, removes),
      report.refusals.map(refusedOf),
      report.changes.length > 0 && changesOf(report.changes, moved + added + removed),
      report.losses.map(one => examplesOf('Not carried', one)),
      report.changed.length > 0 &&
        h(
          'details',
          {'data-key': 'files'},
          h('summary', {}, `Files that change (${number(report.changed.length)})`),
          listOf(report.changed),
        ),
      report.changed.length > 0 && this.#download(key, report, removes),
    );
  }

  // Phrases that were deleted here stay in the agent, unless the person asks for their removal.
  #removal(key, {missing}, removes) {
    const box = h('input', {
      type: 'checkbox',
      'data-key': 'remove-missing',
      checked: removes,
      onchange: event => this.#look(key, event.target.checked),
    });
    const which = plural(missing, 'phrase of the agent was', 'phrases of the agent were');
    const words = ` ${which} deleted or reworded here: remove ${missing === 1 ? 'it' : 'them'} from the agent, too`;
    return h('label', {class: 'below'}, box, words);
  }

  #download(key, report, removes) {
    if (report.refusals.length) return h('div', {class: 'row'}, refusedDownload());
    const href = inStudio(`/api${this.#base}/packages/${key}?remove_missing=${removes}`);
    const save = h('a', {class: 'button primary', href, download: true, 'data-key': 'download-package'}, 'Download');
    return h('div', {class: 'row'}, save, h('span', {class: 'soft small'}, 'All other files stay as they are.'));
  }
}

// Stands in a sheet until something else is chosen.
export const problemOf = ({message, hint}) =>
  h('div', {class: 'note bad', role: 'alert'}, message, h('div', {class: 'small'}, hint));

const shown = intent => intent || 'out of scope';

function changeOf({text, before, after}) {
  if (before === null) return `“${text}”: added to ${shown(after)}`;
  if (after === null) return `“${text}”: removed from ${shown(before)}`;
  return `“${text}”: ${shown(before)} → ${shown(after)}`;
}

function changesOf(changes, total) {
  const more = total - changes.length;
  return h(
    'details',
    {'data-key': 'phrases'},
    h('summary', {}, `Phrases that change (${number(total)})`),
    listOf([...changes.map(changeOf), ...(more > 0 ? [`and ${number(more)} more`] : [])]),
  );
}

export const listOf = texts =>
  h(
    'ul',
    {class: 'told'},
    texts.map(text => h('li', {dir: 'auto'}, text)),
  );

const FIRST_CHANGE = 'The platform would refuse it: first change what stands above as refused.';

// What keeps a file from being downloaded: open, for it is to be read.
export const refusedOf = refusal => examplesOf('Refused by the platform', refusal, true);

// The download of a file that the platform would refuse, and why it cannot be pressed.
export const refusedDownload = () => [
  h('button', {class: 'primary', disabled: true}, 'Download'),
  h('span', {class: 'soft small', 'data-role': 'refused'}, FIRST_CHANGE),
];

export const examplesOf = (verb, {what, count, examples, more}, isOpen = false) =>
  h(
    'details',
    {open: isOpen},
    h('summary', {}, `${verb}: ${what} (${number(count)})`),
    listOf(more ? [...examples, `and ${number(more)} more`] : examples),
  );
