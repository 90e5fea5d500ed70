// All runs.

import { get } from "./api.js";
import { h, link, number, percent } from "./dom.js";

export const rateBar = (rate, interval) =>
  h("div", { class: "rate", title: interval ? `95 %: ${percent(interval[0])} to ${percent(interval[1])}` : "nothing scored" },
    h("div", { class: "rate-bar" }, rate === null ? null : bar(rate)),
    h("span", {}, percent(rate)));

function bar(rate) {
  const part = h("i");
  part.style.width = `${100 * rate}%`;
  return part;
}

export const statusTags = (statuses) =>
  Object.entries(statuses).filter(([name]) => name !== "scored").map(([name, n]) => h("span", { class: `badge ${{ running: "running", pending: "idle" }[name] || "error"}` }, `${n} ${name.replaceAll("_", " ")}`));

export async function runsPage(values, { setTrail, setLive }) {
  setTrail({ text: "Runs" });
  const body = h("tbody");
  let chosen = 0;
  let timer = null;
  let shown = "";

  async function load() {
    const { runs } = await get("runs");
    const text = JSON.stringify(runs);
    setLive(runs.some((run) => run.running));
    if (text === shown) return;
    shown = text;
    body.replaceChildren(...runs.map(row));
    mark(chosen);
  }

  const row = (run) => {
    if (run.error) return h("tr", {}, h("td", {}, run.run), h("td", { colSpan: 6, class: "muted" }, run.error));
    return h("tr", { onclick: () => (location.hash = link(run.run)) },
      h("td", {}, h("a", { href: link(run.run) }, run.run)),
      h("td", {}, run.agent),
      h("td", {}, rateBar(run.success_rate, run.interval)),
      h("td", { class: "number" }, number(run.mean_score)),
      h("td", { class: "number" }, `${run.passed}/${run.scored}`),
      h("td", {}, statusTags(run.statuses)),
      h("td", { class: "muted" }, (run.started || "").slice(0, 16).replace("T", " ")));
  };

  function mark(index) {
    const rows = [...body.rows];
    chosen = Math.max(0, Math.min(rows.length - 1, index));
    rows.forEach((each, i) => each.classList.toggle("chosen", i === chosen));
    rows[chosen]?.scrollIntoView({ block: "nearest" });
  }

  await load();
  timer = setInterval(() => document.hidden || load().catch(() => setLive(false)), 2000);
  return {
    element: h("div", { class: "wide" },
      h("div", { class: "card table" }, h("table", {}, h("thead", {}, h("tr", {},
        ["Run", "Agent", "Success", "#Mean score", "#Passed", "", "Started (UTC)"].map((name) => h("th", { class: name.startsWith("#") ? "number" : "" }, name.replace("#", ""))))), body))),
    keys: [["j k", "next, previous run"], ["Enter", "open it"]],
    key(event) {
      if (event.key === "j" || event.key === "ArrowDown") mark(chosen + 1);
      else if (event.key === "k" || event.key === "ArrowUp") mark(chosen - 1);
      else if (event.key === "Enter") body.rows[chosen]?.querySelector("a")?.click();
      else return false;
      return true;
    },
    close() { clearInterval(timer); setLive(false); },
  };
}
