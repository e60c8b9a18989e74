// Two lines over time.

import { duration, el, svg } from "./dom.js";

const [WIDTH, HEIGHT] = [600, 150];
const SPAN_MS = 15 * 60 * 1000;

// A round number above all values, so that the scale does not jump with each of them.
function ceiling(values) {
  const highest = Math.max(1, ...values);
  const power = 10 ** Math.floor(Math.log10(highest));
  return [1, 2, 5, 10].map((step) => step * power).find((limit) => limit >= highest);
}

const short = (value) => (value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1));

// points: [{ at_ms, first, second }] in the order of time.
export function plot(title, names, points) {
  const until = points.at(-1)?.at_ms ?? 0;
  const from = Math.max(points[0]?.at_ms ?? 0, until - SPAN_MS);
  const shown = points.filter((point) => point.at_ms >= from);
  const top = ceiling(shown.flatMap((point) => [point.first, point.second]));
  const line = (which) => shown.map((point) => {
    const x = until > from ? ((point.at_ms - from) / (until - from)) * WIDTH : WIDTH;
    return `${x.toFixed(1)},${(HEIGHT - (point[which] / top) * HEIGHT).toFixed(1)}`;
  }).join(" ");
  const last = points.at(-1);
  const [first, second] = last ? [short(last.first), short(last.second)] : ["–", "–"];
  return el("figure", {},
    el("figcaption", {}, el("strong", {}, title),
      el("span", { class: "key first" }, `${names[0]} ${first}`),
      el("span", { class: "key second" }, `${names[1]} ${second}`)),
    el("div", { class: "scale quiet", "aria-hidden": "true" }, el("span", {}, String(top))),
    svg("svg", {
      class: "plot", viewBox: `0 -2 ${WIDTH} ${HEIGHT + 4}`, preserveAspectRatio: "none", role: "img",
      "aria-label": `${title}: ${names[0]} ${first}, ${names[1]} ${second} now; at most ${top}`,
    },
    [0, 0.5, 1].map((part) => svg("line", { x1: 0, x2: WIDTH, y1: part * HEIGHT, y2: part * HEIGHT })),
    svg("polyline", { class: "first", points: line("first") }),
    svg("polyline", { class: "second", points: line("second") })),
    el("div", { class: "scale quiet", "aria-hidden": "true" },
      el("span", {}, shown.length > 1 ? `${duration(until - from)} ago` : "as long as somebody looks"), el("span", {}, "now")));
}

// What two totals grew by per second between two looks; deleting makes them smaller, which is no rate.
export function rates(samples) {
  return samples.slice(1).map((sample, nth) => {
    const before = samples[nth];
    const seconds = Math.max(0.001, (sample.at_ms - before.at_ms) / 1000);
    const rate = (column) => Math.max(0, sample[column] - before[column]) / seconds;
    return { at_ms: sample.at_ms, first: rate("started"), second: rate("finished") };
  });
}
