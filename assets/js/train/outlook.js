// What a training is for, and what becomes of the version that answers now.
const UNLESS = 'unless it answers worse or breaks a promised answer (pin)';
const WHILE = 'While it runs you may go on labelling, or close this page.';
const WHAT = {
  'single-label':
    'A training makes a new version from the texts that have an intent; those labelled out of scope only check what ' +
    `is refused. ${WHILE}`,
  'multi-label':
    'A training makes a new version from the texts that have a label; from those labelled no intent, too. ' + WHILE,
};

export const GATE_WORDS = `Use the new version automatically, ${UNLESS}`;

// `status` is the project's; `chosen` is the way to train, `isAutomatic` the tick. Of the project, `counted` is what is
// told of the texts, and `pins` how many there are.
export const outlook = (status, chosen, isAutomatic, {counted, pins}) =>
  `${WHAT[status.task]}${counted}${becomes(status, chosen, isAutomatic, pins)}`;

function becomes({champion, candidate}, {why_not: whyNot, makes}, isAutomatic, pins) {
  if (champion === null) return candidate === null && !whyNot ? firstWords(pins) : '';
  const answering = ` Version ${champion} answers meanwhile`;
  if (makes === 'encoder') return `${answering}, and afterwards.`;
  if (isAutomatic) return `${answering}; the new one takes over by itself, ${UNLESS}.`;
  return `${answering}; then you decide which of the two to use.`;
}

// Whatever the tick says, pins alone can hold a first version back.
function firstWords(pins) {
  const unless = pins ? ' If it breaks a promised answer (pin), nothing answers until you use it.' : '';
  return ` The first version answers when it is ready.${unless}`;
}
