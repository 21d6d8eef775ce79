// The keys of remedies: one act has one key in every finding. No key deletes: a text goes by a press of its button.
const FIRST_INTO_SECOND = 'M';
const SECOND_INTO_FIRST = 'B';
const OF_KIND = {move: 'V', split: 'O', rename: 'R', describe: 'E'};

// The keys of a finding's remedies, in their order.
export function keysOf(remedies, finding) {
  const isConflict = finding.kind === 'conflict';
  let labels = 0;
  return remedies.map(one => {
    if (!one.repair) return one.label_ids?.length ? 'L' : 'N';
    if (one.asks === 'intent') return 'A';
    switch (one.repair.kind) {
      case 'relabel':
        labels += 1;
        return isConflict ? keyOfLabel(one.repair, finding) : String(labels);
      case 'delete':
        return '';
      case 'merge':
        return one.repair.value === finding.intents[1] ? FIRST_INTO_SECOND : SECOND_INTO_FIRST;
      default:
        return OF_KIND[one.repair.kind];
    }
  });
}

// Of two texts with different labels, 1 gives both the label of the first, 2 that of the second, wherever these stand.
const keyOfLabel = ({ids}, {texts: [first]}) => (ids.includes(first.id) ? '2' : '1');

