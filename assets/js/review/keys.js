// The keys of remedies: one act has one key in every finding. Digits give labels, so a digit never deletes.
const FIRST_INTO_SECOND = 'M';
const SECOND_INTO_FIRST = 'B';
const OF_KIND = {move: 'V', split: 'O', rename: 'R', describe: 'E'};

// The keys of a finding's remedies, in their order.
export function keysOf(remedies, finding) {
  const several = remedies.filter(one => one.repair?.kind === 'delete').length > 1;
  let labels = 0;
  return remedies.map(one => {
    if (!one.repair) return one.label_ids?.length ? 'L' : 'N';
    if (one.asks === 'intent') return 'A';
    switch (one.repair.kind) {
      case 'relabel':
        return String((labels += 1));
      case 'delete':
        return several ? keyOfDelete(one.repair, finding) : 'D';
      case 'merge':
        return one.repair.value === finding.intents[1] ? FIRST_INTO_SECOND : SECOND_INTO_FIRST;
      default:
        return OF_KIND[one.repair.kind];
    }
  });
}

// Of two copies the first or the second, wherever their remedies stand.
const keyOfDelete = ({ids}, {texts: [first]}) => (ids.includes(first.id) ? 'F' : 'S');
