// Pages by what comes after the # of the address; one page at a time, which gets the keys.

import { h } from "./dom.js";
import { comparePage } from "./compare.js";
import { episodePage } from "./episode.js";
import { runPage } from "./run.js";
import { runsPage } from "./runs.js";

const page = document.getElementById("page");
const trail = document.getElementById("trail");
const live = document.getElementById("live");
const keys = document.getElementById("keys");
let current = null;
let opening = 0;

function parse() {
  const [path, text] = location.hash.replace(/^#/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  const query = Object.fromEntries(new URLSearchParams(text || ""));
  if (parts[0] === "run" && parts.length === 2) return { make: runPage, values: { run: parts[1], query } };
  if (parts[0] === "run" && parts.length > 3) {
    const task = parts.slice(2, -1).join("/");
    return { make: episodePage, values: { run: parts[1], task, attempt: Number(parts.at(-1)), query } };
  }
  if (parts[0] === "compare") return { make: comparePage, values: { query } };
  return { make: runsPage, values: { query } };
}

export function setTrail(...items) {
  trail.replaceChildren(
    ...items.flatMap(({ text, href }) => [h("span", { class: "slash" }, "/"), href ? h("a", { href }, text) : h("span", {}, text)]),
  );
  document.title = [...items.map((item) => item.text).reverse(), "deskgym"].join(" · ");
}

async function open() {
  const mine = ++opening;
  const { make, values } = parse();
  if (current && current.make === make && current.page.update && current.page.update(values)) return;
  if (current?.page.close) current.page.close();
  current = null;
  try {
    const made = await make(values, { setTrail, setLive: (on) => (live.hidden = !on) });
    if (mine !== opening) return made.close?.();
    current = { make, page: made };
    page.replaceChildren(made.element);
    page.dataset.ready = location.hash;
    made.shown?.();
  } catch (error) {
    if (mine === opening) page.replaceChildren(h("p", { class: "problem", role: "alert" }, error.message));
  }
}

function showKeys() {
  const rows = [["?", "these keys"], ["Esc", "up: episode, run, all runs"], ...(current?.page.keys || [])];
  keys.replaceChildren(
    h("h2", {}, "Keys"),
    h("table", {}, h("tbody", {}, rows.map(([key, does]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, does))))),
    h("form", { method: "dialog" }, h("button", {}, "Close")),
  );
  keys.showModal();
}

addEventListener("hashchange", open);
addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "Escape" && typing) return typing.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (event.key === "?") return showKeys();
  if (event.key === "Escape") {
    const links = trail.querySelectorAll("a");
    location.hash = links.length ? links[links.length - 1].hash : "#/";
    return;
  }
  if (current?.page.key?.(event)) event.preventDefault();
});
document.getElementById("help").addEventListener("click", showKeys);
open();
