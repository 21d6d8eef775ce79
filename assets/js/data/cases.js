// What an import would do with every row of a file, and what the person chooses for each case.
import {field, fill, h, select} from '../shared/elements.js';
import {capital, number, plural} from '../shared/words.js';

const rowsAre = (n, one, many) => `${plural(n, 'text')} ${n === 1 ? one : many}`;

// By kind of case: its words, and for a case with a choice its name and options.
const CASES = {
  given: [n => `${rowsAre(n, 'is', 'are')} here without a label and ${n === 1 ? 'gets' : 'get'} the file's label.`],
  same: [n => `${rowsAre(n, 'is', 'are')} here already, with the same label.`],
  unlabelled: [n => `${rowsAre(n, 'has', 'have')} a label here and none in the file. Your labels stay.`],
  otherwise: [
    n => `${rowsAre(n, 'has', 'have')} another label here.`,
    'otherwise',
    [
      ['mine', 'Keep my label'],
      ['file', "Take the file's label"],
    ],
  ],
  'in-test': [
    n => `${rowsAre(n, 'is here as a test text', 'are here as test texts')}.`,
    'across',
    [
      ['skip', 'Leave out'],
      ['add', 'Add as an example as well'],
    ],
  ],
  'in-training': [
    n => `${rowsAre(n, 'is', 'are')} here, and not for testing.`,
    'across',
    [
      ['skip', 'Leave out'],
      ['add', 'Add for testing as well'],
    ],
  ],
  repeated: [n => `${rowsAre(n, 'repeats', 'repeat')} an earlier row of the file.`],
  contradicted: [
    n => `${rowsAre(n, 'repeats', 'repeat')} an earlier row, and the labels differ.`,
    'contradicted',
    [
      ['first', 'Take the first label'],
      ['last', 'Take the last label'],
      ['unlabelled', 'Leave unlabelled'],
    ],
  ],
  'other-values': [n => `${rowsAre(n, 'has', 'have')} other values here. Your values stay.`],
  empty: [n => `${plural(n, 'row')} without text ${n === 1 ? 'is' : 'are'} left out.`],
  'too-long': [n => `${plural(n, 'row')} too long for a text ${n === 1 ? 'is' : 'are'} left out.`],
};
const TAUGHT = 'A model that learns from a test text is no longer tested on it fairly.';

const CHOSEN = {class: 'soft small'}; // of the line that says what stands without an answer

// What is asked about a name, and its first texts: a name alone does not tell what its rows are.
const asked = (question, texts) => {
  const items = texts.map(text => h('li', {}, h('div', {class: 'cut', dir: 'auto'}, text)));
  return h('div', {class: 'asked'}, question, h('ul', {class: 'soft small'}, items));
};

// What all questions have for an answer, in one list: on a screen two of them were in sight.
const allOf = lists =>
  h(
    'details',
    {'data-role': 'choices', 'data-key': 'choices'},
    h('summary', {}, `All ${number(lists.length)} choices made for you`),
    h(
      'ul',
      {class: 'small'},
      lists.map(list => h('li', {dir: 'auto'}, `${nameOf(list)}: `, h('b', {}, list.selectedOptions[0].text))),
    ),
  );
const nameOf = list => list.getAttribute('aria-label') ?? list.closest('.field').firstChild.textContent;

// Rows of each case, as the server compares them when it imports.
export const countsOf = report => Object.fromEntries(report.cases.map(({kind, rows}) => [kind, rows]));

export class Cases {
  element = h('div', {class: 'stack', 'data-role': 'cases'});
  #choices;
  #exceptions;
  #meanings;
  #renamed; // the project's intent by the name in the file
  #nothing;
  #changed;
  #ticked;

  // Calls `changed` when the counts are to be asked for again, `ticked` when single rows were chosen.
  constructor(report, {chosen, nothing, changed, ticked}) {
    const {otherwise = 'mine', across = 'skip', contradicted = 'first'} = chosen;
    this.#choices = {otherwise, across, contradicted};
    this.#exceptions = new Set(chosen.exceptions ?? []);
    this.#meanings = {...chosen.meanings};
    this.#renamed = {...chosen.renamed};
    this.#nothing = nothing;
    this.#changed = changed;
    this.#ticked = ticked;
    if (report) this.#draw(report);
  }

  // A list for each question.
  get lists() {
    return this.element.querySelectorAll('select');
  }

  get values() {
    const [meanings, renamed] = [this.#meanings, this.#renamed];
    return {...this.#choices, exceptions: [...this.#exceptions], meanings, renamed};
  }

  #draw({cases, doubtful, like_others: alike}) {
    const counted = cases.filter(({kind}) => kind !== 'new');
    fill(
      this.element,
      doubtful.length > 0 && this.#doubts(doubtful),
      alike.length > 0 && this.#names(alike),
      counted.length > 0 &&
        h(
          'ul',
          {class: 'cases'},
          counted.map(one => this.#case(one)),
        ),
      this.#choices.across === 'add' && h('div', {class: 'note warn'}, TAUGHT),
    );
    if (this.lists.length > 1) this.element.prepend(allOf([...this.lists]));
  }

  #case({kind, rows, examples}) {
    const [words, name, options] = CASES[kind];
    const change = event => {
      this.#choices[name] = event.target.value;
      this.#exceptions.clear();
      this.#changed({});
    };
    const label = words(rows);
    const choice =
      name &&
      select(
        {'aria-label': label, 'data-key': `case ${kind}`, onchange: change},
        options,
        this.#choices[name],
      );
    const shown = name && examples.length > 0 && this.#examples(kind, rows, examples);
    return h(
      'li',
      {'data-case': kind},
      h('div', {class: 'row'}, h('span', {}, label), choice && h('span', {class: 'push'}, choice)),
      shown,
    );
  }

  #examples(kind, rows, examples) {
    const more = rows > examples.length ? `Show the first ${number(examples.length)}` : 'Show them';
    return h(
      'details',
      {'data-key': `examples ${kind}`},
      h('summary', {class: 'small'}, more),
      kind === 'otherwise' && h('p', {class: 'soft small'}, "Tick a text to take the file's label for it."),
      h(
        'ul',
        {class: 'compared', tabindex: 0, 'aria-label': 'Examples'},
        examples.map(one => this.#example(kind, one)),
      ),
    );
  }

  #example(kind, {row, text, here, file}) {
    const [one, other] = kind === 'contradicted' ? ['an earlier row', 'this one'] : ['here', 'in the file'];
    const labels = `${one} ${here || 'no label'}, ${other} ${file || 'no label'}`;
    const words = [h('bdi', {}, text), h('span', {class: 'soft small'}, `row ${number(row)}: ${labels}`)];
    if (kind !== 'otherwise') return h('li', {}, words);
    const box = h('input', {
      type: 'checkbox',
      checked: (this.#choices.otherwise === 'file') !== this.#exceptions.has(row),
      'aria-label': `Take the file's label for “${text.slice(0, 60)}”`,
      onchange: () => {
        if (!this.#exceptions.delete(row)) this.#exceptions.add(row);
        this.#ticked();
      },
    });
    return h('li', {}, h('label', {class: 'check'}, box, h('span', {}, words)));
  }

  #doubts(doubtful) {
    return h(
      'fieldset',
      {class: 'doubts', 'data-role': 'doubts'},
      h('legend', {}, 'How shall these rows be read?', h('span', CHOSEN, ' Chosen for you. Change what is wrong.')),
      doubtful.map(one => this.#doubt(one)),
    );
  }

  // A new intent is made unless the person says that an existing one is meant.
  #names(alike) {
    return h(
      'fieldset',
      {class: 'doubts', 'data-role': 'like-others'},
      h('legend', {}, 'New intents, or ones that you have?', h('span', CHOSEN, ' New, if you change nothing.')),
      alike.map(({label, intents, chosen, texts}) => {
        const options = [['', 'A new intent'], ...intents.map(name => [name, `It is ${name}`])];
        const onchange = event => {
          this.#renamed = {...this.#renamed, [label]: event.target.value};
          this.#changed({});
        };
        const choice = select({'data-key': `name ${label}`, onchange}, options, chosen);
        return asked(field(`“${label}”`, choice), texts);
      }),
    );
  }

  #doubt({label, rows, meaning, texts}) {
    const options = [
      ['out-of-scope', capital(this.#nothing)],
      ['unlabelled', 'Unlabelled'],
      ...(label ? [['intent', 'An intent of this name']] : []),
    ];
    const change = event => {
      this.#meanings = {...this.#meanings, [label]: event.target.value};
      this.#changed({});
    };
    const named = label ? `“${label}” (${plural(rows, 'row')})` : `No label (${plural(rows, 'row')})`;
    const choice = select({'data-key': `doubt ${label}`, onchange: change}, options, meaning);
    return asked(field(named, choice), texts);
  }
}
