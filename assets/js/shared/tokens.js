// Splits a text into words. Positions count Unicode characters, as the server does, not UTF-16 units.

// Signs of Japanese, Chinese, Thai, Lao, Burmese and Khmer: no white space parts words there, so each sign with its
// marks is one. `core/text.py` has the same rule, and the same punctuation around words.
const ALONE = [
  '\\u3005-\\u3007\\u3040-\\u3098\\u309b-\\u30ff\\uff66-\\uff9d',
  '\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{323af}',
  '\\u0e01-\\u0e30\\u0e32\\u0e40-\\u0e46',
  '\\u0e81-\\u0eb0\\u0eb2\\u0ebd\\u0ec0-\\u0ec6\\u0edc-\\u0edf',
  '\\u1000-\\u102a\\u103f\\u1050-\\u1055\\u105a-\\u105d\\u1061\\u1065\\u1066\\u106e-\\u1070\\u1075-\\u1081\\u108e',
  '\\u1780-\\u17b3\\u17d7\\u17dc',
].join('');
const MARKS = '\\p{M}\\u200c\\u200d\\u0e33\\u0eb3\\uff9e\\uff9f';
const WORD = new RegExp(`[${ALONE}](?:[\\u1039\\u17d2][${ALONE}]|[${MARKS}])*|[^\\s${ALONE}]+`, 'gu');

const EDGES = new Set(
  [
    '.?!,;:…¿¡"\'`()',
    '\u00ab\u00bb\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2039\u203a',
    '\u3001\u3002\u300c\u300d\u300e\u300f\u060c\u061b\u061f\u06d4\u0964\u0965',
    '\u055c\u055d\u055e\u0589\u05c3\u1362\u1363\u1364\u1365\u1366\u1367\u104a\u104b\u17d4\u17d5',
    '\uff01\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff61\uff62\uff63\uff64',
  ].join(''),
);

// Words without surrounding punctuation; `start` and `end` count characters from 0.
export function wordsOf(text) {
  const words = [];
  let [at, units] = [0, 0]; // in characters and in UTF-16 units
  for (const {0: word, index} of text.matchAll(WORD)) {
    at += [...text.slice(units, index)].length;
    const signs = [...word];
    words.push(bare(signs, at));
    at += signs.length;
    units = index + word.length;
  }
  return words;
}

export const part = (text, start, end) => [...text].slice(start, end).join('');

// A word of punctuation only is kept.
function bare(signs, at) {
  let [first, last] = [0, signs.length];
  while (first < last && EDGES.has(signs[first])) first += 1;
  while (last > first && EDGES.has(signs[last - 1])) last -= 1;
  return first < last ? {start: at + first, end: at + last} : {start: at, end: at + signs.length};
}
