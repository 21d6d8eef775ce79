// What is drawn, in which order and how: unlabelled points small and underneath, dimmed ones lowest of all.

export const SHAPES = ['disc', 'cross', 'ring', 'square', 'triangle', 'diamond', 'wedge'];
export const [DISC, CROSS, RING] = [0, 1, 2]; // places in SHAPES
const TURNS = [DISC, 3, 4, 5, 6]; // shapes of intents
const APART = 13; // so many intents in their order have clearly different hues
const MANY = 8000; // points that are drawn smaller
const SIZES = {labelled: 8, outside: 9, unlabelled: 5, ring: 16}; // pixels
const SIZES_OF_MANY = {labelled: 6, outside: 7, unlabelled: 3, ring: 14};
const SHOWN = {labelled: 235, outside: 235}; // opacity, of 255
const QUIET = {light: 245, dark: 170}; // of unlabelled points, as much as makes them visible on that ground
const DIMMED = 26;
const SHRUNK = 0.75; // size of a dimmed point
const LAYERS = 4; // dimmed, unlabelled, out of scope, labelled
const GREY = [138, 138, 138];

// Intents of like hues have different shapes; the first ones, and whatever is not labelled, are discs.
export function shapeOf(code, kind) {
  if (kind === 'outside') return CROSS;
  return kind === 'unlabelled' ? DISC : TURNS[Math.floor(code / APART) % TURNS.length];
}

// `codes` and `legend` give each point its colour; `kinds` says which are unlabelled or out of scope; points whose
// code is in `hidden` are left out. If any point is `lit` or any code `glanced` at, all others are dimmed. `marked`
// points get a ring in the colour `ink`.
export function sceneOf({colours, hidden, lit, glanced, marked, ink}) {
  const {codes, legend, kinds} = colours;
  const layers = layersOf({codes, kinds, hidden, lit, glanced});
  const seen = sorted(layers);
  const rings = marked.filter(place => layers[place] < LAYERS);
  const n = seen.length + rings.length;
  const scene = {
    places: new Uint32Array(n), // in the order of drawing, the rings last
    seen: seen.length, // how many of them are points
    colours: new Uint8Array(4 * n),
    looks: new Float32Array(2 * n), // diameter and shape
  };
  const [red, green, blue] = parsed(ink);
  const ground = red + green + blue > 382 ? 'dark' : 'light';
  const shown = {...SHOWN, unlabelled: QUIET[ground]};
  const rgb = legend.map(({colour}) => parsed(colour));
  const sizes = codes.length > MANY ? SIZES_OF_MANY : SIZES;
  scene.places.set(seen);
  for (let at = 0; at < seen.length; at += 1) {
    const place = seen[at];
    const kind = kinds[place];
    const shape = shapeOf(codes[place], kind);
    const opacity = layers[place] ? shown[kind] : DIMMED;
    const size = layers[place] ? sizes[kind] : SHRUNK * sizes[kind];
    put(scene, at, {rgb: rgb[codes[place]] ?? GREY, opacity, size, shape});
  }
  const ring = {rgb: [red, green, blue], opacity: 255, size: sizes.ring, shape: RING};
  rings.forEach((place, at) => {
    scene.places[seen.length + at] = place;
    put(scene, seen.length + at, ring);
  });
  return scene;
}

function put({colours, looks}, at, {rgb, opacity, size, shape}) {
  colours.set(rgb, 4 * at);
  colours[4 * at + 3] = opacity;
  looks[2 * at] = size;
  looks[2 * at + 1] = shape;
}

// The layer of each point; LAYERS itself for those that are not drawn.
function layersOf({codes, kinds, hidden, lit, glanced}) {
  const layer = {unlabelled: 1, outside: 2, labelled: 3};
  const chooses = lit.size > 0 || glanced.size > 0;
  const stands = place => lit.has(place) || glanced.has(codes[place]);
  return Uint8Array.from(codes, (code, place) => {
    if (hidden.has(code)) return LAYERS;
    return chooses && !stands(place) ? 0 : layer[kinds[place]];
  });
}

function sorted(layers) {
  const starts = new Uint32Array(LAYERS + 2);
  for (const layer of layers) starts[layer + 1] += 1;
  for (let layer = 0; layer < LAYERS; layer += 1) starts[layer + 1] += starts[layer];
  const places = new Uint32Array(starts[LAYERS]);
  layers.forEach((layer, place) => {
    if (layer < LAYERS) places[starts[layer]++] = place;
  });
  return places;
}

function parsed(colour) {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour)?.[1];
  if (hex) return [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16));
  return colour.match(/\d+/g)?.slice(0, 3).map(Number) ?? GREY;
}
