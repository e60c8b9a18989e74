// Elements from data. Text goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

// Puts new children into a node and leaves the reader where he was: what has the focus is found
// again by its key.
export function replace(node, ...children) {
  const key = node.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  node.replaceChildren(...children.flat(Infinity).filter((child) => child));
  if (key === undefined) return;
  for (const candidate of node.querySelectorAll("[data-key]")) {
    if (candidate.dataset.key === key) candidate.focus({ preventScroll: true });
  }
}

export function table(caption, columns, rows) {
  const head = columns.map(([title, kind]) => el("th", { scope: "col", class: kind }, title));
  return el("div", { class: "wide" },
    el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, head)),
      el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, nth) => (
        el("td", { class: columns[nth][1] }, cell))))))));
}

// A state in words, with a sign and a colour beside them.
export function mark(state) {
  const tone = {
    Completed: "good", completed: "good",
    Failed: "bad", failed: "bad", LeaseExpired: "bad",
    Executing: "busy", open: "busy",
    Waiting: "idle", Ready: "idle",
  }[state] ?? "over";
  return el("span", { class: `mark ${tone}` }, state.replaceAll("_", " "));
}

export function instanceLink(id) {
  return el("a", { href: `#/instance/${encodeURIComponent(id)}`, "data-key": `instance ${id}` }, id);
}

export function time(text) {
  if (!text) return "";
  return el("time", { datetime: text }, text.replace("T", " ").replace(/(\.\d+)?Z$/, ""));
}

// The two largest units that matter, as the command-line tool writes them.
export function duration(ms) {
  const whole = Math.max(0, Math.floor(ms));
  const [s, m, h, d] = [1000, 60000, 3600000, 86400000].map((unit) => Math.floor(whole / unit));
  if (d > 0) return `${d}d ${h % 24}h`;
  if (h > 0) return `${h}h ${m % 60}m`;
  if (m > 0) return `${m}m ${s % 60}s`;
  if (s >= 10) return `${s}s`;
  if (s > 0) return `${s}.${Math.floor((whole % 1000) / 100)}s`;
  return `${whole}ms`;
}

export function say(text) {
  document.getElementById("said").textContent = text;
}

export function alarm(text) {
  const place = document.getElementById("alert");
  if (place.textContent === text) return;
  place.textContent = text;
  place.hidden = text === "";
}
