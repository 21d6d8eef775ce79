// What was done to a finding, in words.
export const LONGEST_NAMED = 80; // characters of a text in a message

// The first words of remedies once they are done: "Label it" below a tick read like an instruction.
const DONE = {
  They: 'Kept both, as they',
  Keep: 'Kept',
  Take: 'Took',
  Skip: 'Skipped',
  Decline: 'Declined',
  Delete: 'Deleted',
  Merge: 'Merged',
  Rename: 'Renamed',
  Describe: 'Described',
  Make: 'Made',
  Move: 'Moved',
  Add: 'Added',
};

export const asLabelled = (text, name) => `Labelled “${text.slice(0, LONGEST_NAMED)}” as ${name}`;

// What was done, and to which text, where it was done to one; `nameOf` names labels.
export function deedOf({words, repair, textOfMany}, {texts}, nameOf) {
  const [id, ...others] = repair?.ids ?? [texts[0]?.id];
  const text = textOfMany || (!others.length && texts.find(one => one.id === id)?.text);
  if (text && repair?.kind === 'relabel') return asLabelled(text, nameOf(repair.intents));
  const named = text ? `: “${text.slice(0, LONGEST_NAMED)}”` : '';
  const done = words.replace(/: keep both$|(?<=^Decline): .*/, '').replace(/^\w+/, first => DONE[first] ?? first);
  return `${done.replace(' …', '')}${named}`;
}
