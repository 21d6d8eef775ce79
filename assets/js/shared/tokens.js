// Splits a text into words. Positions count Unicode characters, as the server does, not UTF-16 units.

const EDGES = new Set('.,;:!?"\'()');

// Words without surrounding punctuation; `start` and `end` count characters from 0.
export function wordsOf(text) {
  const characters = [...text];
  const words = [];
  let at = 0;
  while (at < characters.length) {
    let end = at;
    while (end < characters.length && !isSpace(characters[end])) end += 1;
    if (end > at) words.push(bare(characters, at, end));
    at = end + 1;
  }
  return words;
}

export const part = (text, start, end) => [...text].slice(start, end).join('');

const isSpace = character => /\s/u.test(character);

// A word of punctuation only is kept.
function bare(characters, start, end) {
  let [first, last] = [start, end];
  while (first < last && EDGES.has(characters[first])) first += 1;
  while (last > first && EDGES.has(characters[last - 1])) last -= 1;
  return first < last ? {start: first, end: last} : {start, end};
}
