// Two intents that are mixed up, in colours that the eye parts at once.

const FAR = 150; // of two colours, as red, green and blue
const OTHERS = ['#2b7bba', '#d5482c', '#b5820c']; // as far apart for those who are blind to red or green

const parts = colour => [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
const distance = (one, other) => Math.hypot(...parts(one).map((value, at) => value - parts(other)[at]));

// Colours by name: those of two intents, but another one for the second where they are near.
export function apart([first, second]) {
  if (!first || !second) return new Map(); // one was renamed meanwhile
  const far = colour => distance(first.color, colour);
  const [farthest] = OTHERS.toSorted((one, other) => far(other) - far(one));
  const own = far(second.color) >= FAR ? second.color : farthest;
  return new Map([
    [first.name, first.color],
    [second.name, own],
  ]);
}

// The colours of a map with those of a pair; without one as they are.
export function tinted(colours, tints) {
  if (!tints) return colours;
  const legend = colours.legend.map(entry => ({...entry, colour: tints.get(entry.name) ?? entry.colour}));
  return {...colours, legend};
}
