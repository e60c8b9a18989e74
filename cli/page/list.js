// Instances, newest first: search, filter, page through.

import { duration, el, instanceLink, mark, replace, say, table, time } from "./dom.js";
import { read } from "./server.js";

export const every = 5000;

const STATES = ["Executing", "Ready", "Waiting", "LeaseExpired", "Completed", "Failed", "ContinuedAsNew"];
const COLUMNS = [["Instance", "id"], ["Orchestration", "text"], ["State"], ["Created (UTC)", "time"], ["Age or duration", "number"]];
const TYPING_MS = 250;

export function build(query, go) {
  const wanted = { search: query.get("search") ?? "", state: query.get("state") ?? "", roots: query.get("roots") ?? "" };
  let page = Math.max(1, Number.parseInt(query.get("page") ?? "1", 10) || 1);

  const search = el("input", { type: "search", id: "search", name: "search", maxlength: 400, value: wanted.search });
  const state = el("select", { id: "state", name: "state" }, el("option", { value: "" }, "any"),
    STATES.map((name) => el("option", { value: name, selected: name === wanted.state }, name)));
  const roots = el("input", { type: "checkbox", id: "roots", name: "roots", checked: wanted.roots !== "" });
  const rows = el("div", { id: "rows" });
  const turn = (by) => () => show(page + by);
  const newer = el("button", { type: "button", id: "newer", onclick: turn(-1) }, "Newer");
  const older = el("button", { type: "button", id: "older", onclick: turn(1) }, "Older");
  const where = el("span", { id: "where" });

  let refresh = () => {};
  const show = (nth) => {
    page = Math.max(1, nth);
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ search: search.value, state: state.value, roots: roots.checked ? "true" : "" })) {
      if (value !== "") query.set(name, value);
    }
    if (page > 1) query.set("page", String(page));
    const text = query.toString();
    go(`#/instances${text ? `?${text}` : ""}`);
    refresh();
  };
  let typing;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => show(1), TYPING_MS);
  });
  state.addEventListener("change", () => show(1));
  roots.addEventListener("change", () => show(1));

  const update = async (signal) => {
    const answer = await read("instances", {
      search: search.value, state: state.value, roots: roots.checked ? "true" : "", page,
    }, signal);
    const caption = answer.rows.length === 0 ? "Nothing is like that." : "Newest first.";
    const focused = document.activeElement;
    replace(rows, table(caption, COLUMNS, answer.rows.map((row) => [
      instanceLink(row.instance_id), row.orchestration_name,
      [mark(row.state), row.failure_kind ? ` (${row.failure_kind})` : ""],
      time(row.created_at_utc), duration(row.duration_ms)])));
    newer.disabled = answer.page <= 1;
    older.disabled = !answer.has_next;
    if (focused === older && older.disabled) newer.focus();
    if (focused === newer && newer.disabled) older.focus();
    const from = (answer.page - 1) * 50;
    const text = answer.rows.length === 0 ? "none" : `${from + 1} to ${from + answer.rows.length}`;
    if (where.textContent !== text) {
      where.textContent = text;
      say(`Instances shown: ${text}`);
    }
  };

  const form = el("form", { class: "filter", role: "search", onsubmit: (event) => { event.preventDefault(); clearTimeout(typing); show(1); } },
    el("div", {}, el("label", { for: "search" }, "Search ids and orchestrations (press /)"), search),
    el("div", {}, el("label", { for: "state" }, "State"), state),
    el("label", { for: "roots" }, roots, " only those without a parent"));
  return {
    title: "Instances",
    nodes: [el("h1", {}, "Instances"), form, rows, el("div", { class: "row" }, newer, where, older)],
    update,
    onrefresh: (again) => { refresh = again; },
  };
}
