// What helps a project most now, and the button that leads there: on Home, and on the pages that serve to look.
import {address} from './address.js';
import {fill, h} from './elements.js';
import {call} from './rest.js';

// Pages without a task of their own. What waits for a decision stands here, and not in their header.
export const LOOKING = ['data', 'slots', 'map', 'history'];

export const nextOf = (project, {action, reason, page, query, kind}, look) =>
  h(
    'div',
    {class: 'next', 'data-role': 'next', 'data-kind': kind},
    h('p', {class: 'small'}, reason),
    h('a', {class: `button ${look}`, href: address(page, project, query), 'data-key': `next ${project}`}, action),
  );

const STALE = 30_000; // milliseconds after which what helps most is asked anew: labels to check are counted meanwhile

// Keeps the line up to date; `onStatus` calls with each status of the project. What is done on `here`, the page itself,
// stands there already.
export function nextLine(context, here) {
  const {base, project} = context;
  const line = h('div', {class: 'next-line'});
  let known = '';
  let at = 0; // when it was asked for
  let newest = 0; // number of the newest request; older answers are dropped
  context.onStatus(async status => {
    const {revision, champion, candidate, model, job} = status;
    const state = JSON.stringify([revision, champion, candidate, model, job?.id]);
    if (state === known && Date.now() - at < STALE) return;
    known = state;
    at = Date.now();
    const asked = (newest += 1);
    const step = await call(`${base}/next`).catch(() => null); // the header shows the error
    if (asked !== newest) return;
    if (!step) known = ''; // the next status asks again
    const isHere = step?.page === here && !Object.keys(step.query).length;
    fill(line, step && !isHere && [h('span', {class: 'soft small'}, 'Next:'), nextOf(project, step, 'small')]);
  });
  return line;
}
