// Draws the points of a scene, by the graphics processor or, where the browser has none, by the CPU.
import {CROSS, RING} from './scene.js';

const TRIANGLE = [[0, -0.8], [0.87, 0.7], [-0.87, 0.7]];
// Of the shapes that have corners, by their places in SHAPES and in parts of the radius.
const CORNERS = {
  3: [[-0.8, -0.8], [0.8, -0.8], [0.8, 0.8], [-0.8, 0.8]],
  4: TRIANGLE,
  5: [[0, -1], [1, 0], [0, 1], [-1, 0]],
  6: TRIANGLE.map(([right, down]) => [right, -down]),
};

const VERTEX = `
  attribute vec2 place; attribute vec4 colour; attribute vec2 look;
  uniform vec4 projection; uniform float ratio;
  varying vec4 paint; varying float shape; varying float size;
  void main() {
    gl_Position = vec4(place * projection.xy + projection.zw, 0.0, 1.0);
    size = look.x * ratio;
    shape = look.y;
    paint = colour;
    gl_PointSize = size;
  }`;
const FRAGMENT = `
  precision mediump float;
  varying vec4 paint; varying float shape; varying float size;
  void main() {
    vec2 at = 2.0 * gl_PointCoord - 1.0;
    float soft = 2.0 / size;
    float far = length(at);
    float kept = 1.0 - smoothstep(1.0 - soft, 1.0, far);
    if (shape > 1.5 && shape < 2.5) kept *= smoothstep(0.75 - soft, 0.75, far);
    else if (shape > 0.5 && shape < 1.5) {
      vec2 arms = 0.7071 * abs(vec2(at.x + at.y, at.x - at.y));
      kept *= 1.0 - smoothstep(0.25, 0.25 + soft, min(arms.x, arms.y));
    }
    if (shape > 2.5) {
      vec2 off = abs(at);
      float up = (shape > 5.5 ? -at.y : at.y) - 0.2;
      float edge = max(off.x, off.y) - 0.8;
      if (shape > 4.5 && shape < 5.5) edge = off.x + off.y - 1.0;
      else if (shape > 3.5) edge = max(up - 0.5, 0.866 * off.x - 0.5 * up - 0.5);
      kept = 1.0 - smoothstep(-soft, 0.0, edge);
    }
    float opacity = paint.a * kept;
    gl_FragColor = vec4(paint.rgb * opacity, opacity);
  }`;

export function painterOn(canvas) {
  const gl = canvas.getContext('webgl', {antialias: false});
  return gl ? new Graphics(canvas, gl) : new Plain(canvas);
}

class Graphics {
  #canvas;
  #gl;
  #parts;
  #scene;
  #xy;

  constructor(canvas, gl) {
    this.#canvas = canvas;
    this.#gl = gl;
    this.#prepare();
    canvas.addEventListener('webglcontextlost', event => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => {
      this.#prepare();
      if (this.#scene) this.load(this.#scene, this.#xy);
    });
  }

  #prepare() {
    const gl = this.#gl;
    const program = gl.createProgram();
    for (const [kind, source] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const uniform = name => gl.getUniformLocation(program, name);
    const buffer = (name, size, type, whole = false) => {
      const made = gl.createBuffer();
      const at = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, made);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, type, whole, 0, 0);
      return made;
    };
    this.#parts = {
      projection: uniform('projection'),
      ratio: uniform('ratio'),
      place: buffer('place', 2, gl.FLOAT),
      colour: buffer('colour', 4, gl.UNSIGNED_BYTE, true),
      look: buffer('look', 2, gl.FLOAT),
    };
  }

  load(scene, xy) {
    this.#scene = scene;
    this.#send('colour', scene.colours);
    this.#send('look', scene.looks);
    this.move(xy);
  }

  // The same points in other places.
  move(xy) {
    this.#xy = xy;
    const {places} = this.#scene;
    const ordered = new Float32Array(2 * places.length);
    places.forEach((place, at) => {
      ordered[2 * at] = xy[2 * place];
      ordered[2 * at + 1] = xy[2 * place + 1];
    });
    this.#send('place', ordered);
  }

  #send(name, values) {
    const gl = this.#gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#parts[name]);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  }

  // `ratio`: pixels of the screen for one of a point's size.
  draw(camera, ratio) {
    const gl = this.#gl;
    gl.viewport(0, 0, this.#canvas.width, this.#canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform4f(this.#parts.projection, ...camera.projection);
    gl.uniform1f(this.#parts.ratio, ratio);
    if (this.#scene) gl.drawArrays(gl.POINTS, 0, this.#scene.places.length);
  }
}

// Slower, for remote desktops and machines without graphics.
class Plain {
  #pen;
  #scene;
  #xy;

  constructor(canvas) {
    this.#pen = canvas.getContext('2d');
  }

  load(scene, xy) {
    this.#scene = scene;
    this.#xy = xy;
  }

  move(xy) {
    this.#xy = xy;
  }

  draw(camera, ratio) {
    const pen = this.#pen;
    const density = pen.canvas.width / camera.width;
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.clearRect(0, 0, camera.width, camera.height);
    const {places, colours, looks} = this.#scene;
    places.forEach((place, at) => {
      const [x, y] = [this.#xy[2 * place], this.#xy[2 * place + 1]];
      if (!camera.sees(x, y)) return;
      const [red, green, blue, opacity] = colours.subarray(4 * at, 4 * at + 4);
      const paint = `rgb(${red} ${green} ${blue} / ${opacity / 255})`;
      const spot = {centre: camera.toPage(x, y), radius: (looks[2 * at] * ratio) / density / 2};
      dab(pen, {...spot, paint, shape: looks[2 * at + 1]});
    });
  }
}

function dab(pen, {centre: [left, top], radius, paint, shape}) {
  pen.beginPath();
  if (shape === CROSS) {
    const arm = 0.7 * radius;
    for (const way of [-1, 1]) {
      pen.moveTo(left - arm, top - way * arm);
      pen.lineTo(left + arm, top + way * arm);
    }
  } else if (CORNERS[shape]) {
    for (const [right, down] of CORNERS[shape]) pen.lineTo(left + right * radius, top + down * radius);
    pen.closePath();
  } else pen.arc(left, top, radius, 0, 2 * Math.PI);
  pen.lineWidth = 2;
  pen.strokeStyle = paint;
  pen.fillStyle = paint;
  if (shape === CROSS || shape === RING) pen.stroke();
  else pen.fill();
}
