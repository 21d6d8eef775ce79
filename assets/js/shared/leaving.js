// What was uploaded and waits for a person's word may hold personal data: it goes as the page is left. The server
// deletes what is left behind even so within a day.
import {call} from './rest.js';

// Returns what ends that: the file was imported, or is deleted already.
export function deleteOnLeaving(path) {
  const leave = () => call(path, {method: 'DELETE', keepalive: true}).catch(() => {});
  window.addEventListener('pagehide', leave);
  return () => window.removeEventListener('pagehide', leave);
}
