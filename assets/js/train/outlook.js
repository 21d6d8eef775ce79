// What a training learns from, and what becomes of the version that answers now.
import {number, plural} from '../shared/words.js';

const WHILE = 'While it runs you may go on labelling, or close this page.';
const ALSO = {'single-label': '', 'multi-label': ', from those labelled no intent, too'};

export const GATE_WORDS =
  'Use the new version automatically, unless it answers worse or breaks a promised answer (pin)';

// `status` is the project's; `chosen` is the way to train, `isAutomatic` the tick. Of the project, `has` tells how many
// texts are labelled, how many of these teach, and how many pins there are.
export const outlook = (status, chosen, isAutomatic, has) =>
  `${learnsFrom(chosen, has, ALSO[status.task])} ${WHILE}${becomes(status, chosen, isAutomatic, has.pins)}`;

// The count that the training uses, and what the other labels are for; other pages count all as labelled.
function learnsFrom({makes}, {labelled, examples, tests, outside}, also) {
  if (makes === 'encoder') return 'Makes a start for other trainings.';
  if (!labelled) return 'Learns from the texts that you label.';
  const others = labelled - examples - tests - outside;
  const rest = [
    tests > 0 && plural(tests, 'is a test text', 'are test texts'),
    outside > 0 && `${number(outside)} out of scope, to check what is refused`,
    others > 0 && `${number(others)} in no set, or made of a test text`,
  ].filter(Boolean);
  if (!rest.length) return `Learns from your ${plural(examples, 'label')}${also}.`;
  return `Learns from ${number(examples)} of your ${plural(labelled, 'label')}${also} (${rest.join('; ')}).`;
}

function becomes({champion, candidate}, {why_not: whyNot, makes}, isAutomatic, pins) {
  if (champion === null) return candidate === null && !whyNot ? firstWords(pins) : '';
  const answering = ` Version ${champion} answers meanwhile`;
  if (makes === 'encoder') return `${answering}, and afterwards.`;
  if (isAutomatic) return `${answering}; the new one takes over by itself, as the tick below says.`;
  return `${answering}; then you decide which of the two to use.`;
}

// Whatever the tick says, pins alone can hold a first version back.
function firstWords(pins) {
  const unless = pins ? ' If it breaks a promised answer (pin), nothing answers until you use it.' : '';
  return ` The first version answers when it is ready.${unless}`;
}
