// The address holds what a page shows, so a link shows another person the same view.

export const query = () => new URLSearchParams(location.search);

const empty = value => value === '' || value === null || value === undefined || value === false;

export function setQuery(values) {
  const now = query();
  for (const [name, value] of Object.entries(values)) {
    if (empty(value)) now.delete(name);
    else now.set(name, value);
  }
  history.replaceState(null, '', `${location.pathname}?${now}`);
}

export const address = (page, project, more = {}) =>
  `/${page}?${new URLSearchParams({...(project ? {project} : {}), ...more})}`;
