// Which page is shown, and when it asks again.

import { alarm, el } from "./dom.js";
import * as instance from "./instance.js";
import * as list from "./list.js";
import * as overview from "./overview.js";
import { read } from "./server.js";

const main = document.getElementById("main");
let about;
let current;

function route() {
  const [path, query] = location.hash.replace(/^#/, "").split("?");
  const one = path.match(/^\/instance\/(.+)$/);
  if (one) return { page: "instances", every: instance.every, view: instance.build(decodeURIComponent(one[1]), about) };
  if (path === "/instances") return { page: "instances", every: list.every, view: list.build(new URLSearchParams(query), go) };
  return { page: "overview", every: overview.every, view: overview.build() };
}

// Notes where the reader is without leaving the page.
function go(hash) {
  history.replaceState(null, "", hash);
}

function show(moveFocus) {
  current?.stop();
  const { page, every, view } = route();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.page === page) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${view.title} – duroxide-sql`;
  main.replaceChildren(...view.nodes);
  if (moveFocus) main.focus();
  current = keep(view, every);
}

// Asks again and again while somebody looks and there is something new to come.
function keep(view, every) {
  let stopped = false;
  let timer;
  let asked = new AbortController();
  const step = async () => {
    clearTimeout(timer);
    asked.abort();
    const mine = new AbortController();
    asked = mine;
    let isOver = false;
    try {
      const result = await view.update(mine.signal);
      isOver = result?.isOver ?? false;
      alarm("");
    } catch (error) {
      if (mine.signal.aborted) return;
      alarm(error.message);
    }
    if (stopped || mine.signal.aborted) return;
    main.dataset.updates = String(Number(main.dataset.updates ?? 0) + 1);
    if (!isOver) timer = setTimeout(() => { if (!document.hidden) step(); }, every);
  };
  view.onrefresh?.(step);
  const seen = () => { if (!document.hidden) step(); };
  document.addEventListener("visibilitychange", seen);
  step();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      asked.abort();
      document.removeEventListener("visibilitychange", seen);
    },
  };
}

document.getElementById("skip").addEventListener("click", () => main.focus());
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, dialog");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const search = document.getElementById("search");
  if (search) search.focus();
  else {
    location.hash = "#/instances";
    addEventListener("hashchange", () => document.getElementById("search")?.focus(), { once: true });
  }
});
addEventListener("hashchange", () => show(true));

async function begin() {
  try {
    about = await read("about");
  } catch (error) {
    main.replaceChildren(el("p", {}, error.message));
    setTimeout(begin, 2000);
    return;
  }
  const may = about.allow_changes ? "" : ", read-only";
  document.getElementById("about").textContent = `Schema ${about.schema}${may}`;
  show(false);
}
begin();
