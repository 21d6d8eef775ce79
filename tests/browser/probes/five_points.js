// The five points that a small circle around one of them holds, and no other point.
() => {
  const {box, points, seen} = document.querySelector('.map').probe();
  const places = seen.map(place => points[place]);
  const inside = ([x, y]) => x > box.x + 90 && y > box.y + 90 && x < box.x + box.width - 90 && y < box.y + box.height - 90;
  let best = null;
  for (const [x, y] of places.filter(inside)) {
    const far = places.map(([a, b]) => Math.hypot(a - x, b - y)).sort((p, q) => p - q);
    const gap = far[5] - far[4];
    if (far[4] > 6 && far[5] < 60 && (!best || gap > best.gap)) best = {gap, x, y, radius: (far[4] + far[5]) / 2};
  }
  return best;
}
