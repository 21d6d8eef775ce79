// A placeholder from the project: one of its own examples, so that it speaks of what the project is about.
import {call} from './rest.js';

export async function placeExample(base, field) {
  const {rows} = await call(`${base}/utterances?split=train&size=1&order=text`);
  if (rows.length) field.placeholder = `For example: ${rows[0].text}`;
}
