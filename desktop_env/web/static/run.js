// One run: its figures, and its episodes with filters.

import { get } from "./api.js";
import { badge, count, dollars, factText, h, link, number, percent, seconds } from "./dom.js";
import { statusTags } from "./runs.js";

const RESULTS = { "": "all results", passed: "passed", failed: "failed", error: "errors", open: "running or pending" };
const has = (episode, result) =>
  !result ||
  (result === "passed" && episode.passed) ||
  (result === "failed" && episode.passed === false) ||
  (result === "open" && ["running", "pending"].includes(episode.status)) ||
  (result === "error" && !["scored", "running", "pending"].includes(episode.status));

export async function runPage({ run, query }, { setTrail, setLive }) {
  setTrail({ text: "Runs", href: "#/" }, { text: run });
  const filters = { text: "", result: "", category: "", difficulty: "", fact: "", label: "", ...query };
  const head = h("div");
  const bar = h("div", { class: "filters" });
  const body = h("tbody");
  const shownCount = h("span", { class: "muted" });
  const marked = new Set();
  let content = null;
  let version = null;
  let visible = [];
  let chosen = 0;

  async function load() {
    const now = (await get("version", { run })).version;
    if (now === version) return;
    version = now;
    content = await get("run", { run });
    setLive(content.running);
    showHead();
    showFilters();
    showRows();
  }

  function showHead() {
    const { settings } = content;
    const total = (key) => content.episodes.reduce((sum, each) => (each[key] === null ? sum : (sum ?? 0) + each[key]), null);
    const scored = content.episodes.filter((each) => each.score !== null);
    const mean = (key) => (scored.length ? scored.reduce((sum, each) => sum + (each[key] || 0), 0) / scored.length : null);
    const figure = (name, value, note) => h("div", { class: "card" }, h("h3", {}, name), h("div", { class: "figure" }, value), h("div", { class: "muted" }, note));
    head.replaceChildren(
      h("h1", {}, run),
      h("p", { class: "muted" }, [content.agent, content.suite && `suite ${typeof content.suite === "string" ? content.suite : JSON.stringify(content.suite)}`,
        content.image?.name, settings.seed !== null && `seed ${settings.seed}`, content.started?.slice(0, 19).replace("T", " ") + " UTC"].filter(Boolean).join(" · ")),
      h("div", { class: "figures" },
        figure("Success rate", percent(content.success_rate, 1), content.interval ? `${content.passed} of ${content.scored}; 95 %: ${percent(content.interval[0])} to ${percent(content.interval[1])}` : "nothing scored yet"),
        figure("Mean score", number(content.mean_score), "of scored episodes"),
        figure("Steps", number(mean("steps"), 1), "mean of scored episodes"),
        figure("Time", seconds(mean("seconds")), `${seconds(total("seconds"))} in all`),
        figure("Tokens", `${count(total("input_tokens"))} / ${count(total("output_tokens"))}`, "in / out"),
        figure("Cost", dollars(total("cost")), "in all"),
        h("div", { class: "card" }, h("h3", {}, "Episodes"), h("div", { class: "figure" }, String(content.total)), h("div", { class: "tags" }, statusTags(content.statuses)))),
      people());
  }

  function people() {
    const found = content.annotations;
    if (!found.annotations) return "";
    const labels = found.labels.filter((each) => each.count).map((each) => `${each.label} ${each.count} (${percent(each.share)})`);
    const agreement = found.agreement.map((pair) => `${pair.annotators.join(" and ")}: kappa ${number(pair.kappa, 2)} over ${pair.episodes}`);
    return h("p", { class: "card people" }, h("b", {}, "Labels  "), labels.join(", "), agreement.length ? ` — ${agreement.join("; ")}  ` : "  ",
      h("a", { href: `/api/annotations?${new URLSearchParams({ run })}`, download: `${run}-annotations.json` }, "Export"));
  }

  const choices = (key) => [...new Set(content.episodes.map((each) => each[key]).filter(Boolean))].sort();

  function select(name, options) {
    const element = h("select", { name, title: name, onchange: (event) => { filters[name] = event.target.value; showRows(); } },
      options.map(([value, text]) => h("option", { value }, text)));
    element.value = filters[name];
    return element;
  }

  function showFilters() {
    if (bar.contains(document.activeElement)) return;
    const simple = (key, all) => [["", all], ...choices(key).map((each) => [each, each])];
    const facts = [...new Set(content.episodes.flatMap((each) => each.facts.map((fact) => fact.code)))].sort();
    const labels = [...new Set(content.episodes.flatMap((each) => each.labels.map((said) => said.label)))].sort();
    bar.replaceChildren(
      h("input", { type: "search", name: "text", placeholder: "Filter tasks  (/)", value: filters.text, oninput: (event) => { filters.text = event.target.value; showRows(); } }),
      select("result", Object.entries(RESULTS)), select("category", simple("category", "all categories")),
      select("difficulty", simple("difficulty", "all difficulties")),
      select("fact", [["", "all failure facts"], ...facts.map((each) => [each, each.replaceAll("_", " ")])]),
      select("label", [["", "all labels"], ["none", "failed without a label"], ...labels.map((each) => [each, each])]),
      shownCount, h("span", { class: "grow" }),
      h("button", { class: "compare", disabled: marked.size !== 2, onclick: compare }, "Side by side"));
  }

  const labelled = (each) => !filters.label || (filters.label === "none" ? each.passed === false && !each.labels.length : each.labels.some((said) => said.label === filters.label));

  function showRows() {
    visible = content.episodes.filter((each) =>
      each.task.includes(filters.text.trim()) && has(each, filters.result) &&
      (!filters.category || each.category === filters.category) && (!filters.difficulty || each.difficulty === filters.difficulty) &&
      (!filters.fact || each.facts.some((fact) => fact.code === filters.fact)) && labelled(each));
    shownCount.textContent = `${visible.length} of ${content.episodes.length}`;
    body.replaceChildren(...visible.map(row));
    mark(chosen);
  }

  const name = (each) => `${each.task}/${each.attempt}`;

  const row = (each) => h("tr", { onclick: (event) => { if (!event.target.closest("input, a")) location.hash = link(run, each.task, each.attempt); } },
    h("td", {}, h("input", { type: "checkbox", title: "side by side (x)", checked: marked.has(name(each)), onchange: () => toggle(name(each)) })),
    h("td", { class: "task" }, h("a", { href: link(run, each.task, each.attempt) }, each.task), each.attempt > 1 || content.episodes.some((other) => other.attempt > 1) ? h("span", { class: "muted" }, ` #${each.attempt}`) : null),
    h("td", {}, badge(each)), h("td", { class: "number" }, number(each.score)), h("td", { class: "number" }, String(each.steps)),
    h("td", { class: "number" }, seconds(each.seconds)), h("td", { class: "number" }, dollars(each.cost)),
    h("td", {}, each.difficulty || ""),
    h("td", { class: "facts" }, each.error ? h("span", { class: "muted" }, each.error.slice(0, 120)) : each.facts.map((fact) => h("span", { class: "tag", title: factText(fact) }, fact.code.replaceAll("_", " "))),
      each.labels.map((said) => h("span", { class: "tag person", title: `${said.annotator}: ${said.note}` }, said.label))));

  function toggle(key) {
    if (!marked.delete(key)) marked.add(key);
    while (marked.size > 2) marked.delete(marked.values().next().value);
    for (const [index, tr] of [...body.rows].entries()) tr.querySelector("input").checked = marked.has(name(visible[index]));
    const button = bar.querySelector(".compare");
    button.disabled = marked.size !== 2;
  }

  function compare() {
    if (marked.size !== 2) return;
    const [left, right] = [...marked];
    location.hash = `#/compare?${new URLSearchParams({ left: `${run}/${left}`, right: `${run}/${right}` })}`;
  }

  function mark(index) {
    chosen = Math.max(0, Math.min(visible.length - 1, index));
    [...body.rows].forEach((each, i) => each.classList.toggle("chosen", i === chosen));
    if (index) body.rows[chosen]?.scrollIntoView({ block: "nearest" });
  }

  await load();
  const timer = setInterval(() => document.hidden || load().catch(() => setLive(false)), 1000);
  const columns = ["", "Task", "Result", "#Score", "#Steps", "#Time", "#Cost", "Difficulty", "Failure facts and labels"];
  return {
    element: h("div", { class: "wide" }, head, bar, h("div", { class: "card table" }, h("table", { class: "episodes" },
      h("thead", {}, h("tr", {}, columns.map((each) => h("th", { class: each.startsWith("#") ? "number" : "" }, each.replace("#", ""))))), body))),
    keys: [["j k", "next, previous episode"], ["Enter", "open it"], ["x", "mark it for side by side"], ["c", "the two marked side by side"], ["/", "filter"]],
    key(event) {
      if (event.key === "j" || event.key === "ArrowDown") mark(chosen + 1);
      else if (event.key === "k" || event.key === "ArrowUp") mark(chosen - 1);
      else if (event.key === "Enter" && visible[chosen]) location.hash = link(run, visible[chosen].task, visible[chosen].attempt);
      else if (event.key === "x" && visible[chosen]) toggle(name(visible[chosen]));
      else if (event.key === "c") compare();
      else if (event.key === "/") bar.querySelector("input").focus();
      else return false;
      return true;
    },
    close() { clearInterval(timer); setLive(false); },
  };
}
