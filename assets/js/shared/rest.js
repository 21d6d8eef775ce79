// The only way to the server. A refusal is thrown with its message and hint.
import {inStudio} from './address.js';
import {untilReleased} from './pressed.js';

const NOT_THE_STUDIO = 'Something between this browser and the studio answered in its place.';
const PERHAPS_LOST = 'What you changed just now, if anything, is perhaps not saved: look, and do it again.';
const LOG_IN = 'Perhaps you have to log in again: load the page anew.';

export class Refused extends Error {
  constructor(status, message, hint) {
    super(message);
    this.status = status; // 0: the studio did not answer
    this.hint = hint;
  }
}

export async function call(path, {body, headers, ...options} = {}) {
  const json = body && !(body instanceof FormData);
  const answer = await reach(path, {
    ...options,
    headers: {...headers, ...(json && {'Content-Type': 'application/json'})},
    body: json ? JSON.stringify(body) : body,
  });
  const found = answer.status === 204 ? null : ofStudio(await answer.text());
  await untilReleased();
  options.signal?.throwIfAborted(); // what was clicked meanwhile asks for something else
  return found;
}

export const post = (path, body, options = {}) => call(path, {method: 'POST', body, ...options});

export function upload(path, file) {
  const form = new FormData();
  form.append('file', file, file.name);
  return post(path, form);
}

export async function binary(path) {
  const content = await (await reach(path)).arrayBuffer();
  await untilReleased();
  return content;
}

async function reach(path, options) {
  const answer = await fetch(inStudio('/api' + path), options).catch(error => unanswered(error, options?.method));
  if (answer.ok) return answer;
  const text = await answer.text();
  const said = parsed(text);
  // JSON of another shape, such as a proxy's, is no message for a person.
  const message = said?.message ?? (said ? `The studio refused it (${answer.status}).` : text.slice(0, 300));
  throw new Refused(answer.status, message || answer.statusText, said?.hint ?? '');
}

// Only the decisions of Label wait in the browser, and that page says so itself; any other act may be lost. A request
// with a method may be a mere question, too.
function unanswered(error, method) {
  if (error.name === 'AbortError') throw error;
  const lost = method ? ` ${PERHAPS_LOST}` : '';
  throw new Refused(0, 'The studio does not answer.', `Is it still running?${lost}`);
}

// What a proxy puts in the studio's place, such as its page to log in, comes with a status of success, too.
function ofStudio(text) {
  const found = parsed(text);
  if (found === null && text.trim() !== 'null') throw new Refused(0, NOT_THE_STUDIO, LOG_IN);
  return found;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
