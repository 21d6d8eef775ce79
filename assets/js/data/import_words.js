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
  const {added, labelled, relabelled, marked, convention, without, new_intents: names} = report;
  const given = givenIn(report);
  const said = [
    added && `${plural(added, 'new text')}${ofThemLabelled(added, labelled - given)}.`,
    given && `${plural(given, ...words)} a label.`,
    relabelled && `${plural(relabelled, ...words)} another label.`,
    marked && `Values are marked in ${plural(marked, 'text')}.`,
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
