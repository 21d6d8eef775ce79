// A placeholder from the project: one of its own examples, so that it speaks of what the project is about.
import {call} from './rest.js';

const LOOKED_AT = 50;
const MOST = 30; // signs that the narrowest field shows behind "For example:"

const WORDS = 4; // as many as say what somebody wants
const wordsOf = text => text.split(/\s+/).length;
const longest = texts => texts.toSorted((a, b) => b.length - a.length)[0];

// A field cuts off what is too long, which leaves a quotation mark open; so a short text without one is taken.
export async function placeExample(base, field) {
  const {rows} = await call(`${base}/utterances?split=train&size=${LOOKED_AT}&order=text`);
  const texts = rows.map(row => row.text).filter(text => !/["“”„«»‘]|^'/.test(text));
  const short = texts.filter(text => text.length <= MOST);
  const example = short.find(text => wordsOf(text) >= WORDS) ?? longest(short) ?? texts.map(cut).find(Boolean);
  if (example) field.placeholder = `For example: ${example}`;
}

// The first words that fit.
function cut(text) {
  const end = text.lastIndexOf(' ', MOST);
  return end > 0 ? `${text.slice(0, end)} …` : '';
}
