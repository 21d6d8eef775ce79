// The key of an act, by which the server knows it again: a UUID of version 4. `crypto.randomUUID` would make one, but
// browsers offer it by https and on this machine alone.
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40; // the version
  bytes[8] = (bytes[8] & 0x3f) | 0x80; // the variant
  const hex = [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
