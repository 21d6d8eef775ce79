// The address holds what a page shows, so a link shows another person the same view.

// Before the path of each address of the studio: empty, or what a proxy puts there, such as /intents.
const FILE = new URL(import.meta.url).pathname;
const ROOT = FILE.slice(0, FILE.lastIndexOf('/studio/'));

export const inStudio = path => ROOT + path;

// The name under which the browser keeps something: studios behind one proxy share what it keeps.
export const keptAs = name => (ROOT ? `${ROOT} ${name}` : name);

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
  return inStudio(`/${path}?${values}${part ? `#${part}` : ''}`);
}

// Characters of a text that Try keeps in its address.
export const LONGEST_TRIED = 1000;

// Where Try tells why a text is answered so; null for a text that is too long for an address.
export const whyAddress = (project, text) => (text.length > LONGEST_TRIED ? null : address('try', project, {text}));
