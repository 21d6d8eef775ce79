// What an act changes: while it is on its way to the server, what was counted of it before is not to be acted on.

// Whether a repair changes a text of a finding, or an intent that the finding is about.
export function touches(repair, finding) {
  if (!repair) return false;
  const ids = new Set([...(repair.ids ?? []), ...(repair.parts ?? []).flatMap(part => part.ids)]);
  const says = repair.kind === 'add' ? repair.value.trim() : null;
  if (finding.texts.some(({id, text}) => ids.has(id) || text === says)) return true;
  if (finding.remedies.some(one => one.repair?.ids?.some(id => ids.has(id)))) return true;
  if (['relabel', 'add'].includes(repair.kind)) return false;
  return Boolean(repair.intent) && finding.intents.some(id => id === repair.intent || id === repair.value);
}
