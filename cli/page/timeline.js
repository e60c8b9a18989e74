// What an instance did, as bars over time. It is a table, so that it can be read without being seen.

import { duration, el, instanceLink, mark, svg } from "./dom.js";

const WIDTH = 1000;
const ROWS_MAX = 500;

export function timeline(bars, nowMs, showAll, onall) {
  if (bars.length === 0) return [el("p", { class: "quiet" }, "Nothing is recorded yet.")];
  const from = Math.min(...bars.map((bar) => bar.begun_ms));
  const until = Math.max(from + 1, ...bars.map((bar) => bar.ended_ms ?? nowMs));
  const shown = showAll ? bars : bars.slice(0, ROWS_MAX);
  const half = (until - from) / 2;
  const scale = el("div", { class: "scale", "aria-hidden": "true" },
    el("span", {}, "0"), el("span", {}, duration(half)), el("span", {}, duration(until - from)));
  const head = el("tr", {}, el("th", { scope: "col" }, "What"), el("th", { scope: "col" }, "Name"),
    el("th", { class: "track", "aria-hidden": "true" }, scale),
    el("th", { scope: "col", class: "number" }, "After"), el("th", { scope: "col", class: "number" }, "Took"),
    el("th", { scope: "col" }, "Outcome"));
  const rest = bars.length - shown.length;
  return [
    el("div", { class: "wide" }, el("table", { class: "bars", id: "timeline" },
      el("caption", {}, "Activities, timers, waits and children in the order of their beginnings."),
      el("thead", {}, head), el("tbody", {}, shown.map((bar) => row(bar, from, until, nowMs))))),
    rest > 0 && el("button", { type: "button", "data-key": "all-bars", onclick: onall }, `Show ${rest} more`),
  ];
}

function row(bar, from, until, nowMs) {
  const end = bar.ended_ms ?? Math.max(nowMs, bar.begun_ms);
  const x = ((bar.begun_ms - from) / (until - from)) * WIDTH;
  // Even what took no time can be seen.
  const width = Math.max(4, ((end - bar.begun_ms) / (until - from)) * WIDTH);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} 16`, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: `bar ${bar.kind} ${bar.outcome}`, x: Math.min(x, WIDTH - 4).toFixed(1), y: 3, width: width.toFixed(1), height: 10, rx: 2 }));
  return el("tr", { "data-event": bar.event_id },
    el("td", {}, bar.kind), el("td", { class: "text" }, name(bar)), el("td", { "aria-hidden": "true" }, picture),
    el("td", { class: "number" }, `+${duration(bar.begun_ms - from)}`),
    el("td", { class: "number" }, duration(end - bar.begun_ms)),
    el("td", {}, mark(bar.outcome), remark(bar, nowMs)));
}

function name(bar) {
  const parts = [];
  if (bar.child_instance_id) parts.push(instanceLink(bar.child_instance_id));
  else parts.push(bar.name || (bar.due_ms ? `of ${duration(bar.due_ms - bar.begun_ms)}` : ""));
  if (bar.attempt > 1) parts.push(` (attempt ${bar.attempt})`);
  if (bar.tag) parts.push(` with tag ${bar.tag}`);
  return parts;
}

function remark(bar, nowMs) {
  if (bar.outcome !== "open") return "";
  const parts = [];
  if (bar.kind === "timer" && bar.due_ms) {
    parts.push(bar.due_ms > nowMs ? `due in ${duration(bar.due_ms - nowMs)}` : "due");
  }
  if (bar.worker_id) parts.push(`with worker ${bar.worker_id}`);
  if (bar.deliveries > 1) parts.push(`taken ${bar.deliveries} times`);
  return parts.length > 0 ? el("div", { class: "quiet" }, parts.join(", ")) : "";
}
