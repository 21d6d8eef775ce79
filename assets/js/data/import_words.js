// What an import does, in sentences: for its preview, and for the message after it.
import {number, plural} from '../shared/words.js';

const NAMED = 8; // new intents

// Unlabelled texts of the project that get a label.
export const givenIn = ({cases}) => cases.find(({kind}) => kind === 'given')?.rows ?? 0;

// How a text of the project is told of, one and many, before and after an import.
const BEFORE = ['text that is here already gets', 'texts that are here already get'];
export const AFTER = ['text that was here got', 'texts that were here got'];

// A sentence for each kind of change.
export function summary(report, words = BEFORE) {
  const {added, labelled, relabelled, marked, completed, convention, without, new_intents: names} = report;
  const given = givenIn(report);
  const said = [
    added && `${plural(added, 'new text')}${ofThemLabelled(added, labelled - given)}.`,
    given && `${plural(given, ...words)} a label.`,
    relabelled && `${plural(relabelled, ...words)} another label.`,
    marked && `Values are marked in ${plural(marked, 'text')}.`,
    completed && `${plural(completed, ...words)} a language, ids or other fields of the file.`,
    convention && without && `${plural(without, 'label means', 'labels mean')} no intent.`,
    names.length && newIntents(names),
  ];
  return said.filter(Boolean).join(' ') || 'Nothing new in this file.';
}

function ofThemLabelled(added, labelled) {
  if (!labelled) return ', without a label';
  if (labelled < added) return `, ${number(labelled)} of them labelled`;
  return added === 1 ? ', labelled' : ', all labelled';
}

function newIntents(names) {
  const more = names.length > NAMED ? ` and ${number(names.length - NAMED)} more` : '';
  return `${plural(names.length, 'new intent')}: ${names.slice(0, NAMED).join(', ')}${more}.`;
}

// Where rows go; a file of test texts was learned from, because nothing said so.
const DESTINATIONS = {
  train: 'The model learns from them.',
  test: 'They become test texts: they check the model, which never learns from them.',
  pool: 'They wait for a label.',
};
const BY_LABEL = 'The model learns from labelled rows; the others wait for a label.';

// `split` is what was said of all rows; the file may say it of each.
export function whereTo(split, report) {
  const {train = 0, test = 0, pool = 0} = report.added_to;
  if (test && (train || pool)) return bySet(train, test, pool);
  if (test) return DESTINATIONS.test;
  // Of rows that go by their labels, some may wait; where all have one, none does.
  const learned = report.labelled - givenIn(report) < report.added ? BY_LABEL : DESTINATIONS.train;
  return split === 'train' ? learned : (DESTINATIONS[split] ?? learned);
}

function bySet(train, test, pool) {
  const said = [
    train && `${plural(train, 'text becomes an example', 'texts become examples')}: the model learns from them.`,
    `${plural(test, 'text becomes a test text', 'texts become test texts')}: they check the model, ` +
      'which never learns from them.',
    pool && `${plural(pool, 'text waits', 'texts wait')} for a label.`,
  ];
  return said.filter(Boolean).join(' ');
}

// There is no third set here: what it is for is done with the examples themselves.
export const validationWords = n =>
  `${plural(n, 'row is', 'rows are')} marked for validation. There is no such set here: ` +
  'with a label they become examples, else they wait for one.';
