// The whole at a glance, live.

import { el, instanceLink, replace, table, time } from "./dom.js";
import { plot, rates } from "./plot.js";
import { read } from "./server.js";

export const every = 2000;

export function build() {
  const [states, plots, queues] = [el("section", { id: "states" }), el("section", { class: "plots" }), el("section")];
  const update = async (signal) => {
    const { glance, samples } = await read("overview", {}, signal);
    replace(states, tiles(glance.instances));
    replace(plots,
      plot("Instances per second", ["started", "finished"], rates(samples)),
      plot("Work in the queues", ["ready", "held"],
        samples.map(({ at_ms, ready, held }) => ({ at_ms, first: ready, second: held }))));
    replace(queues, work(glance));
  };
  const nodes = [
    el("h1", {}, "Overview"), el("h2", {}, "Instances"), states,
    el("h2", {}, "Throughput"), plots, el("h2", {}, "Queues and workers"), queues,
  ];
  return { title: "Overview", nodes, update };
}

function tiles(rows) {
  if (rows.length === 0) return [el("p", { class: "quiet" }, "There are no instances.")];
  const total = rows.reduce((sum, row) => sum + row.count, 0);
  const tile = (name, count, query) => el("li", {},
    el("a", { href: `#/instances${query}`, "data-key": name },
      el("strong", {}, count.toLocaleString("en")), name));
  return [el("ul", { class: "tiles" }, tile("All", total, ""),
    rows.map((row) => tile(row.state, row.count, `?state=${encodeURIComponent(row.state)}`)))];
}

function work({ queues, workers, oldest_ready: oldest }) {
  const held = (row) => [
    [row.turns_held, "turns"], [row.activities_held, "activities"], [row.sessions_held, "sessions"],
  ].filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`).join(", ");
  return [
    table("Ready waits for a worker, held is being worked on.",
      [["Queue"], ["Tag"], ["Ready", "number"], ["Held", "number"]],
      queues.map((row) => [row.queue, row.tag || "–", row.ready_items, row.held_items])),
    oldest && el("p", {}, "Ready for the longest time: ", oldest.kind, " of ", instanceLink(oldest.instance_id),
      ", since ", time(oldest.visible_at_utc), " UTC."),
    workers.length === 0
      ? el("p", { class: "quiet" }, "No process holds any work right now.")
      : table("Processes that hold work right now.",
        [["Worker"], ["Holds"], ["Expired leases", "number"], ["Oldest claim (UTC)", "time"]],
        workers.map((row) => [
          row.worker_id ?? `session owner ${row.session_owner}`, held(row), row.leases_expired, time(row.oldest_claim_at_utc)])),
  ];
}

