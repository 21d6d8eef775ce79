// What every page needs: building elements from text, calling REST, and the frame around a view.
// Text of people always becomes a text node, never markup.

export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'style')
      for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
    else if (['value', 'checked', 'disabled', 'selected', 'indeterminate'].includes(name)) node[name] = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat(9).filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

// Puts new content into a node; what is null or false is left out.
export function fill(node, ...content) {
  node.replaceChildren(
    ...content.flat(9).filter(one => one !== null && one !== undefined && one !== false && one !== ''),
  );
}

export class Refused extends Error {
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

export async function call(path, {method = 'GET', body, signal, keepalive} = {}) {
  const form = body instanceof FormData;
  const headers = body && !form ? {'Content-Type': 'application/json'} : {};
  let answer;
  try {
    answer = await fetch('/api' + path, {
      method,
      signal,
      headers,
      keepalive,
      body: body && !form ? JSON.stringify(body) : body,
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refused(
      0,
      'The studio does not answer.',
      'Is it still running? Your labels are kept here until it does.',
    );
  }
  if (answer.status === 204) return null;
  const text = await answer.text();
  let read = null;
  try {
    read = JSON.parse(text);
  } catch {
    read = null;
  }
  if (!answer.ok)
    throw new Refused(
      answer.status,
      read?.message ?? (text.slice(0, 300) || answer.statusText),
      read?.hint ?? '',
    );
  return read;
}

export const percent = (share, digits = 1) =>
  share === null || share === undefined ? '–' : (100 * share).toFixed(digits) + ' %';
export const number = value => Number(value).toLocaleString('en-GB');
export const plural = (n, one, many = one + 's') => `${number(n)} ${n === 1 ? one : many}`;
export const ago = stamp => {
  const seconds = (Date.now() - Date.parse(stamp)) / 1000;
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.round(seconds / 3600)} h ago`;
  return new Date(stamp).toLocaleDateString('en-GB', {day: 'numeric', month: 'short', year: 'numeric'});
};
export const duration = seconds =>
  seconds === null || seconds === undefined
    ? ''
    : seconds < 60
      ? `${Math.max(1, Math.round(seconds))} s left`
      : `${Math.round(seconds / 60)} min left`;

export const query = () => new URLSearchParams(location.search);
export function setQuery(values) {
  const now = query();
  for (const [name, value] of Object.entries(values))
    value === '' || value === null || value === undefined || value === false
      ? now.delete(name)
      : now.set(name, value);
  history.replaceState(null, '', `${location.pathname}?${now}`);
}
export const address = (page, project, more = {}) =>
  `/${page}?${new URLSearchParams({...(project ? {project} : {}), ...more})}`;

export function toast(message, hint = '', kind = '') {
  let place = document.querySelector('.toasts');
  if (!place) {
    place = h('div', {class: 'toasts', role: 'status', 'aria-live': 'polite'});
    document.querySelector('.studio').append(place);
  }
  const node = h(
    'div',
    {class: 'toast ' + kind},
    h('div', {}, h('div', {}, message), hint && h('div', {class: 'soft small'}, hint)),
    h('button', {class: 'plain push', 'aria-label': 'Close this message', onclick: () => node.remove()}, '×'),
  );
  place.append(node);
  setTimeout(() => node.remove(), kind === 'bad' ? 12000 : 5000);
}
export const complain = error => {
  if (error.name !== 'AbortError') toast(error.message, error.hint ?? '', 'bad');
};
export const guarded =
  action =>
  async (...given) => {
    try {
      return await action(...given);
    } catch (error) {
      complain(error);
      return undefined;
    }
  };

export function ask(title, content, confirm, kind = 'primary') {
  return new Promise(resolve => {
    const form = h(
      'form',
      {method: 'dialog'},
      h('h2', {}, title),
      content,
      h(
        'div',
        {class: 'row', style: {'margin-top': '14px', 'justify-content': 'flex-end'}},
        h(
          'button',
          {
            type: 'button',
            onclick: () => {
              dialog.close('');
            },
          },
          'Cancel',
        ),
        h('button', {class: kind, value: 'yes'}, confirm),
      ),
    );
    const dialog = h('dialog', {'aria-label': title}, form);
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes' ? Object.fromEntries(new FormData(form)) : null);
    });
    document.querySelector('.studio').append(dialog);
    dialog.showModal();
  });
}

export function chip(intent, fallback) {
  if (!intent) return h('span', {class: 'chip'}, fallback ?? '?');
  return h(
    'span',
    {class: 'chip', style: {'--dot': intent.color}, title: intent.description || null},
    intent.name,
  );
}
export const outOfScopeChip = () => h('span', {class: 'chip oos'}, 'out of scope');
export const labelChips = (labels, byId) =>
  labels === null
    ? h('span', {class: 'soft small'}, 'no label')
    : labels.length === 0
      ? outOfScopeChip()
      : labels.map(id => chip(byId.get(id), id));

const PAGES = [
  ['data', 'Data'],
  ['label', 'Label'],
  ['map', 'Map'],
  ['train', 'Train'],
  ['try', 'Try'],
  ['versions', 'Versions'],
];

export async function chooseProject() {
  const wanted = query().get('project');
  if (wanted) return wanted;
  const known = (await call('/projects')).map(p => p.name);
  const last = localStorage.getItem('project');
  return known.includes(last) ? last : (known[0] ?? null);
}

// Draws header and heading, keeps the project's status fresh, and hands over to the page.
export async function frame(view, page, title, lead, build) {
  const main = h('div', {class: 'content'});
  const state = h('div', {class: 'state', role: 'status', 'aria-live': 'off'});
  const nav = h('nav', {'aria-label': 'Pages'});
  const heading = h('header', {}, h('h1', {}, title), lead && h('p', {class: 'lead'}, lead));
  fill(
    view,
    h(
      'div',
      {class: 'top'},
      h('a', {class: 'brand', href: '/'}, h('img', {src: '/studio/icon.svg', alt: ''}), 'Intent Studio'),
      nav,
      state,
    ),
    h('div', {class: 'page'}, heading, main),
  );
  let project = null;
  try {
    project = await chooseProject();
  } catch (error) {
    main.append(h('div', {class: 'note bad'}, error.message, ' ', error.hint ?? ''));
    return;
  }
  document.title = `${title} · ${project ?? 'Intent Studio'}`;
  if (project) {
    localStorage.setItem('project', project);
    if (!query().get('project') && page !== 'home') setQuery({project});
    nav.append(
      ...PAGES.map(([path, name]) =>
        h('a', {href: address(path, project), 'aria-current': path === page ? 'page' : null}, name),
      ),
    );
  }
  if (!project && page !== 'home') {
    main.append(
      h(
        'div',
        {class: 'sheet empty'},
        h('h2', {}, 'There is no project yet'),
        h('p', {}, 'Create one, or start with the sample.'),
        h('a', {class: 'button', href: '/'}, 'Go to the projects'),
      ),
    );
    return;
  }
  const context = {
    project,
    main,
    heading,
    status: null,
    listeners: [],
    base: project ? `/projects/${encodeURIComponent(project)}` : '',
  };
  context.onStatus = listener => {
    context.listeners.push(listener);
    if (context.status) listener(context.status, null);
  };
  context.refresh = async () => {
    if (!project) return;
    try {
      const before = context.status;
      context.status = await call(context.base + '/status');
      drawState(state, context.status);
      for (const listener of context.listeners) listener(context.status, before);
    } catch (error) {
      fill(state, h('span', {class: 'bad'}, error.message));
      if (error.status === 404) throw error;
    }
  };
  try {
    if (project && page !== 'home') await context.refresh();
  } catch (error) {
    main.append(
      h(
        'div',
        {class: 'note bad'},
        `${error.message} ${error.hint ?? ''} `,
        h('a', {href: '/'}, 'All projects'),
      ),
    );
    localStorage.removeItem('project');
    return;
  }
  const tick = async () => {
    if (!document.hidden) await context.refresh().catch(() => {});
    const busy = context.status?.job || context.status?.model === 'loading';
    setTimeout(tick, busy ? 1000 : 4000);
  };
  if (page !== 'home') setTimeout(tick, 1000);
  try {
    await build(context);
  } catch (error) {
    complain(error);
    console.error(error);
  }
}

function drawState(place, status) {
  const parts = [];
  if (status.job) {
    parts.push(
      h(
        'a',
        {href: address('train', status.project), 'data-role': 'running-job', title: status.job.stage},
        status.job.state === 'queued'
          ? 'waiting '
          : status.job.kind === 'train'
            ? 'training '
            : status.job.kind + ' ',
        h('b', {class: 'tabular'}, percent(status.job.progress, 0)),
      ),
      h(
        'div',
        {class: 'bar', 'aria-hidden': 'true'},
        h('i', {style: {width: percent(status.job.progress, 0).replace(' ', '')}}),
      ),
    );
  }
  if (status.hot)
    parts.push(
      h(
        'a',
        {
          class: 'badge warn',
          href: address('train', status.project),
          title: 'They vote already; the encoder learns from them at the next training',
        },
        `${plural(status.hot, 'label')} since training`,
      ),
    );
  if (status.candidate)
    parts.push(
      h(
        'a',
        {class: 'badge accent', href: address('train', status.project)},
        `version ${status.candidate} waits`,
      ),
    );
  parts.push(h('span', {'data-role': 'project'}, h('b', {}, status.project)));
  parts.push(
    status.champion === null
      ? h('span', {}, 'no model yet')
      : h(
          'span',
          {'data-role': 'champion', title: status.judged_on},
          `v${status.champion} `,
          h('b', {}, percent(status.accuracy)),
        ),
  );
  fill(place, ...parts);
}
