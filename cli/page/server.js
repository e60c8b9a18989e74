// Questions to the server that this page came from.

import { el } from "./dom.js";

const TOKEN = "duroxide-sql token";

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, options) {
  const headers = { ...options.headers };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "the page's server does not answer; is duroxide-sql serve running?");
  }
  const answer = await response.json();
  if (response.status === 401) {
    await login();
    return ask(path, options);
  }
  if (!response.ok) throw new Refused(response.status, answer.error);
  return answer;
}

export function read(path, query = {}, signal = undefined) {
  const known = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(known).toString();
  return ask(`/api/${path}${search ? `?${search}` : ""}`, { signal });
}

export function change(path, body) {
  return ask(`/api/${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Duroxide-Sql": "page" },
    body: JSON.stringify(body),
  });
}

// Everybody who needs the token waits for one dialog.
let asking;

function login() {
  asking ??= new Promise((resolve) => {
    const input = el("input", { type: "password", required: true, autocomplete: "off", id: "token" });
    const dialog = el("dialog", { "aria-labelledby": "token-title" },
      el("form", {
        onsubmit: (event) => {
          event.preventDefault();
          sessionStorage.setItem(TOKEN, input.value);
          dialog.close();
        },
      },
      el("h2", { id: "token-title" }, "The page's token"),
      el("label", { for: "token" }, "Whoever started the page knows it"), input,
      el("button", { type: "submit" }, "Open")));
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => {
      dialog.remove();
      asking = undefined;
      resolve();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
  return asking;
}
