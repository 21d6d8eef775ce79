// The five points that a small circle around one of them holds, and no other point.
() => {
  const plot = document.querySelector('.map'), {xaxis, yaxis} = plot._fullLayout;
  const {x, y} = plot.data[0], box = plot.getBoundingClientRect();
  const points = Array.from(x, (_, i) => [xaxis.l2p(x[i]) + xaxis._offset, yaxis.l2p(y[i]) + yaxis._offset]);
  const inside = ([a, b]) => a > 90 && b > 90 && a < box.width - 90 && b < box.height - 90;
  let best = null;
  for (const [a, b] of points.filter(inside)) {
    const far = points.map(([c, d]) => Math.hypot(a - c, b - d)).sort((p, q) => p - q);
    const gap = far[5] - far[4];
    if (far[4] > 6 && far[5] < 60 && (!best || gap > best.gap)) best = {gap, x: box.x + a, y: box.y + b, radius: (far[4] + far[5]) / 2};
  }
  return best;
}
