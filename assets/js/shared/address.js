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

// A page may be followed by the name of a part of it: "data#conversations".
export function address(page, project, more = {}) {
  const [path, part] = page.split('#');
  const values = new URLSearchParams({...(project ? {project} : {}), ...more});
  return `/${path}?${values}${part ? `#${part}` : ''}`;
}
