// A value over the last two minutes, with its scale.

import { html } from "./vendor/htm-preact.module.js";

const [WIDTH, HEIGHT, SECONDS] = [300, 64, 120];

export function Chart({ title, points, unit }) {
  if (points.length < 2) return html`<figure class="chart"><figcaption>${title}: no figures yet</figcaption></figure>`;
  const last = points.at(-1);
  const top = Math.max(1, ...points.map((point) => point.value));
  const place = ({ now, value }) =>
    `${(WIDTH - ((last.now - now) / SECONDS) * WIDTH).toFixed(1)},${(HEIGHT - (value / top) * (HEIGHT - 4)).toFixed(1)}`;
  const [now, most] = [last.value, top].map((value) => Math.round(value).toLocaleString("en"));
  return html`<figure class="chart">
    <figcaption>${title}: <b>${now}</b> ${unit}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"
      aria-label="${title}: now ${now} ${unit}, at most ${most} in the last two minutes">
      <polyline points=${points.map(place).join(" ")} vector-effect="non-scaling-stroke" />
    </svg>
    <p class="scale"><span>2 min ago</span><span>0 to ${most}</span><span>now</span></p>
  </figure>`;
}
