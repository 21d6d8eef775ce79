// Labels go back into the file that a platform exported: first what changes, then the file.
import {inStudio} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {icon} from '../shared/icons.js';
import {guarded} from '../shared/messages.js';
import {call, upload} from '../shared/rest.js';
import {number} from '../shared/words.js';

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

  // Lets the person choose the file that the platform exported.
  choose() {
    this.#picker.click();
  }

  #send = guarded(async file => {
    if (!file) return;
    const asked = (this.#asked += 1);
    this.#picker.value = ''; // so that the same file can be chosen again
    this.#say(h('p', {class: 'soft', role: 'status'}, `Reading ${file.name} …`));
    try {
      const found = await upload(`${this.#base}/packages`, file);
      if (asked === this.#asked) this.#show(found);
    } catch (error) {
      if (asked === this.#asked) this.#say();
      throw error;
    }
  });

  #say(...content) {
    this.element.hidden = !content.length;
    fill(this.element, this.#picker, content);
    if (content.length) this.element.scrollIntoView({block: 'nearest'});
  }

  #show({key, name, report, words}) {
    const isRefused = report.refusals.length > 0;
    const href = inStudio(`/api${this.#base}/packages/${key}`);
    const save = isRefused
      ? h('button', {class: 'primary', disabled: true}, 'Download')
      : h('a', {class: 'button primary', href, download: true, 'data-key': 'download-package'}, 'Download');
    const close = guarded(async () => {
      this.#say();
      await call(`${this.#base}/uploads/${key}`, {method: 'DELETE'});
    });
    const title = h(
      'h2',
      {class: 'grow', dir: 'auto'},
      `Your labels in “${name}”, ${PLATFORMS[report.platform]}`,
    );
    this.#say(
      h(
        'div',
        {class: 'row'},
        title,
        h('button', {class: 'plain', 'aria-label': 'Close', onclick: close}, icon('x')),
      ),
      words.map(one => h('p', {class: 'below'}, one)),
      report.refusals.map(one => examplesOf('Refused by the platform', one)),
      report.losses.map(one => examplesOf('Not carried', one)),
      report.changed.length > 0 &&
        h('details', {}, h('summary', {}, 'Files that change'), listOf(report.changed)),
      h(
        'div',
        {class: 'row'},
        save,
        !isRefused && h('span', {class: 'soft small'}, 'All other files stay as they are.'),
      ),
    );
  }
}

export const listOf = texts =>
  h(
    'ul',
    {class: 'told'},
    texts.map(text => h('li', {dir: 'auto'}, text)),
  );

export const examplesOf = (verb, {what, count, examples, more}) =>
  h(
    'details',
    {},
    h('summary', {}, `${verb}: ${what} (${number(count)})`),
    listOf(more ? [...examples, `and ${number(more)} more`] : examples),
  );
