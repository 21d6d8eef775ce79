// Draws a lasso around the given points alone: a small square around each, with paths of no width between them.
places => {
  const map = document.querySelector('.map'), {points} = map.probe(), half = 0.01;
  const corners = [[-half, -half], [half, -half], [half, half], [-half, half], [-half, -half]];
  const [first] = places.map(place => points[place]);
  const outline = places.flatMap(place => {
    const [x, y] = points[place];
    return [...corners.map(([a, b]) => [x + a, y + b]), [first[0] - half, first[1] - half]];
  });
  const send = (type, [clientX, clientY]) =>
    map.dispatchEvent(new PointerEvent(type, {clientX, clientY, pointerId: 1, button: 0, bubbles: true}));
  map.setPointerCapture = () => {};
  send('pointerdown', outline[0]);
  for (const point of [...outline, [first[0] + 40, first[1]], outline[0]]) send('pointermove', point);
  send('pointerup', outline[0]);
}
