// One instance: its facts, its timeline, its children, its key-values, its history.

import { duration, el, instanceLink, mark, replace, say, table, time } from "./dom.js";
import { Refused, change, read } from "./server.js";
import { timeline } from "./timeline.js";

export const every = 1000;

const EVENTS_MAX = 200;

export function build(id, about) {
  const section = (name) => el("section", { id: name });
  const [facts, actions, bars, children, values, history] = ["facts", "actions", "bars", "children", "key-values", "history"].map(section);
  const state = { id, execution: undefined, allBars: false, allEvents: false, payloads: new Map(), refresh: () => {} };
  const memory = new Map();
  // What has not changed is left alone, with whatever the reader has opened or marked in it.
  const put = (node, data, make) => {
    const text = JSON.stringify(data);
    if (memory.get(node) === text) return;
    memory.set(node, text);
    replace(node, make());
  };
  const update = async (signal) => {
    let story;
    try {
      story = await read("instance", { id, execution: state.execution }, signal);
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      replace(facts, el("p", {}, "There is no instance of this id."));
      for (const node of [actions, bars, children, values, history]) replace(node);
      return { isOver: true };
    }
    const isOver = ["Completed", "Failed"].includes(story.instance?.state);
    const again = () => { state.refresh(); };
    put(facts, [story.instance, story.payloads, story.waiting, story.turns.length, story.payloads_hidden], () => summary(story));
    put(actions, [isOver, about.allow_changes], () => (about.allow_changes && !isOver ? buttons(id, again) : []));
    put(bars, [story.bars, isOver ? 0 : story.now_ms, state.allBars], () => [
      el("h2", {}, "Timeline"), executions(story, state, again),
      timeline(story.bars, story.now_ms ?? 0, state.allBars, () => { state.allBars = true; again(); })]);
    put(children, story.children, () => family(story.children));
    put(values, story.key_values, () => keyValues(story));
    put(history, [story.history.length, state.execution, state.allEvents, [...state.payloads]], () => recorded(story, state, again));
    return { isOver };
  };
  return {
    title: id,
    nodes: [el("h1", {}, id), facts, actions, bars, children, values, history],
    update,
    onrefresh: (refresh) => { state.refresh = refresh; },
  };
}

function summary({ instance, payloads, waiting, turns, payloads_hidden: hidden }) {
  const lines = [];
  const line = (title, ...value) => lines.push(el("dt", {}, title), el("dd", {}, ...value));
  if (instance) {
    line("State", mark(instance.state), instance.failure_kind ? ` (${instance.failure_kind})` : "");
    line("Orchestration", instance.orchestration_name, instance.orchestration_version ? ` ${instance.orchestration_version}` : "");
    if (instance.parent_instance_id) line("Parent", instanceLink(instance.parent_instance_id));
    line("Created", time(instance.created_at_utc), " UTC");
    if (instance.completed_at_utc) line("Ended", time(instance.completed_at_utc), " UTC");
  } else {
    line("State", "never started; messages wait for it");
  }
  if (turns.length > 0) {
    const workers = new Set(turns.map((turn) => turn.worker_id).filter((worker) => worker));
    line("Turns", `${turns.length}${workers.size > 0 ? ` by ${workers.size} ${workers.size === 1 ? "process" : "processes"}` : ""}`);
  }
  if (payloads?.custom_status) line("Says", payloads.custom_status);
  if (payloads?.output) line(instance?.status === "Failed" ? "Error" : "Output", el("pre", {}, payloads.output));
  if (hidden) line("Payloads", "not for this login: ", hidden);
  for (const row of waiting) {
    const what = [row.waits_for, row.name].filter((word) => word).join(" ");
    line("Waits for", `${what}: ${row.reason.replaceAll("_", " ")}`);
  }
  return [el("dl", { class: "facts" }, lines)];
}

function executions({ executions: rows, instance }, state, again) {
  if (rows.length < 2) return [];
  const current = state.execution ?? instance?.current_execution_id;
  const select = el("select", { id: "execution", "data-key": "execution", onchange: () => { state.execution = Number(select.value); again(); } },
    rows.map((row) => el("option", { value: row.execution_id, selected: row.execution_id === current }, `${row.execution_id} (${row.status})`)));
  return [el("div", { class: "row" }, el("label", { for: "execution" }, "Execution"), select)];
}

function family(children) {
  if (children.length === 0) return [];
  return [el("h2", {}, "Children"), table("Each child below its parent.", [["Instance", "id"], ["Orchestration", "text"], ["State"], ["Duration", "number"]],
    children.map((child) => [
      el("div", { class: `depth-${Math.min(4, child.depth)}` }, instanceLink(child.instance_id)),
      child.orchestration_name, mark(child.state), duration(child.duration_ms)]))];
}

function keyValues({ key_values: rows }) {
  if (!rows || rows.length === 0) return [];
  return [el("h2", {}, "Key-values"), table("As a client sees them.", [["Key", "id"], ["Value", "text"], ["Changed (UTC)", "time"]],
    rows.map((row) => [row.kv_key, el("pre", {}, row.kv_value), time(row.updated_at_utc)]))];
}

function recorded(story, state, again) {
  if (story.history.length === 0) return [];
  const shown = state.allEvents ? story.history : story.history.slice(-EVENTS_MAX);
  const rest = story.history.length - shown.length;
  const keyOf = (row) => `${row.execution_id}/${row.event_id}`;
  const open = async (row) => {
    if (state.payloads.delete(keyOf(row))) return again();
    let text;
    try {
      text = (await read("event", { id: state.id, execution: row.execution_id, event: row.event_id })).payload;
    } catch (error) {
      text = error.message;
    }
    state.payloads.set(keyOf(row), text);
    return again();
  };
  const rows = shown.map((row) => {
    const payload = state.payloads.get(keyOf(row));
    return [
      row.event_id, time(row.event_at_utc), row.event_kind ?? "unreadable", row.name ?? row.child_instance_id ?? "",
      [el("button", {
        type: "button", "data-key": `payload ${keyOf(row)}`, "aria-expanded": String(payload !== undefined),
        "aria-label": `Payload of event ${row.event_id}`, onclick: () => open(row),
      }, `${row.payload_bytes} bytes`), payload === undefined ? "" : el("pre", {}, payload)],
    ];
  });
  return [
    el("h2", {}, "History"),
    rest > 0 && el("button", { type: "button", "data-key": "all-events", onclick: () => { state.allEvents = true; again(); } }, `Show ${rest} earlier events`),
    table(story.is_cut ? "Only the beginning is shown: the history is very long." : "Every recorded event.",
      [["Event", "number"], ["When (UTC)", "time"], ["What"], ["Name", "text"], ["Payload", "text"]], rows),
  ];
}

function buttons(id, again) {
  return [el("div", { class: "row" },
    el("button", { type: "button", id: "cancel", "data-key": "cancel", onclick: () => ask("Cancel this instance", [["reason", "Reason, for the instance's error", "cancelled by an operator"]], "Cancel it",
      async ({ reason }) => { await change("cancel", { instance_id: id, reason }); say("The instance is asked to stop."); again(); }) }, "Cancel…"),
    el("button", { type: "button", id: "raise", "data-key": "raise", onclick: () => ask("Raise an event", [["name", "Name of the event", ""], ["data", "What it carries; typed orchestrations expect JSON", ""]], "Raise it",
      async ({ name, data }) => { await change("raise", { instance_id: id, name, data }); say("The event is on its way."); again(); }) }, "Raise an event…"))];
}

function ask(title, fields, verb, act) {
  const inputs = fields.map(([name, , value]) => el("input", { id: `ask-${name}`, name, value, required: name === "name" }));
  const wrong = el("p", { role: "alert" });
  const dialog = el("dialog", { "aria-labelledby": "ask-title" },
    el("form", {
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await act(Object.fromEntries(inputs.map((input) => [input.name, input.value])));
          dialog.close();
        } catch (error) {
          wrong.textContent = error.message;
        }
      },
    },
    el("h2", { id: "ask-title" }, title),
    fields.map(([name, label], nth) => [el("label", { for: `ask-${name}` }, label), inputs[nth]]).flat(),
    wrong,
    el("div", { class: "row" }, el("button", { type: "submit", id: "ask-yes" }, verb),
      el("button", { type: "button", onclick: () => dialog.close() }, "Do nothing"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
