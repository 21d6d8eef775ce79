// Numbers and times as people read them.

const absent = value => value === null || value === undefined;

export const percent = (share, digits = 1) => (absent(share) ? '–' : `${(100 * share).toFixed(digits)} %`);
export const number = value => Number(value).toLocaleString('en-GB');
export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

export function ago(stamp) {
  const seconds = (Date.now() - Date.parse(stamp)) / 1000;
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.round(seconds / 3600)} h ago`;
  return new Date(stamp).toLocaleDateString('en-GB', {day: 'numeric', month: 'short', year: 'numeric'});
}

export function duration(seconds) {
  if (absent(seconds)) return '';
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s left`;
  return `${Math.round(seconds / 60)} min left`;
}
