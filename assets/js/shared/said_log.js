// A log of what people said, with times: what an import of it does, in words.
import {h} from './elements.js';
import {number, plural} from './words.js';

const FEW = 5; // sources that are named
const MANY = 20; // sources that the pages tell apart
const TOOLS = {rasa: 'Rasa', 'dialogflow-cx': 'Dialogflow CX'};

export const zoneHere = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

// Number of rows with a text and a time.
const timedIn = ({sources}) => Object.values(sources).reduce((sum, n) => sum + n, 0);

// Number of these that importing would store.
export const freshIn = report => timedIn(report) - report.repeated - (report.left_out ?? 0);

// What importing a log does, of which times without a zone are those of `zone`, in a list.
export function countsOf(report, zone) {
  const {first, last, repeated, added, untimed, examples, textless, misshapen} = report;
  const {sources, masked, tool, times, others, speaker_column: speaker, left_out: full} = report;
  const timed = timedIn(report);
  const named = Object.entries(sources);
  const more = named.length > FEW ? `, and ${plural(named.length - FEW, 'more')}` : '';
  const told = named.slice(0, FEW).map(([name, n]) => `${name} ${number(n)}`);
  const hidden = Object.values(masked ?? {}).reduce((sum, n) => sum + n, 0);
  const lines = [
    tool && `Conversations of ${TOOLS[tool]}: only what users said is read.`,
    timed > 0 && `${plural(timed, 'text')} with a time, said from ${first} to ${last}.`,
    timed > 0 && `By source: ${told.join(', ')}${more}.`,
    named.length > MANY && `${number(named.length)} sources: of so many, the ${MANY} largest are told apart.`,
    times.length > 1 && `Times are those of ${times.map(quoted).join(' and ')} together.`,
    timed > 0 && `Times of the day without a zone are taken as those of ${zone}.`,
    repeated > 0 && `${number(repeated)} of them ${repeated === 1 ? 'is' : 'are'} stored already.`,
    full > 0 && `${number(full)} of them will be left out: their day has a full sample.`,
    added > 0 && `${plural(added, 'text')} ${added === 1 ? 'is' : 'are'} new to the project, to be labelled.`,
    hidden > 0 && `${plural(hidden, 'piece')} of personal data will be masked.`,
    speaker && `Who spoke is told by the column ${quoted(speaker)}.`,
    others > 0 && `${plural(others, 'row')} of a bot, an agent or a system: left out.`,
    untimed > 0 &&
      `${plural(untimed, 'row')} without a time that can be read: left out (${examples.map(quoted).join(', ')}).`,
    textless > 0 && `${plural(textless, 'row')} without a text, or with one that is too long: left out.`,
    misshapen > 0 && `${plural(misshapen, 'row')} with too few or too many cells: left out.`,
  ];
  return h(
    'ul',
    {class: 'listed', 'data-role': 'log-counts'},
    lines.filter(Boolean).map(words => h('li', {}, words)),
  );
}

const quoted = time => (time ? `“${time}”` : 'empty');
