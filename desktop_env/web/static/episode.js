// One episode, step by step, with its verdict and what people say of it.

import { get } from "./api.js";
import { annotationForm } from "./annotate.js";
import { badge, count, dollars, factText, h, link, number, seconds } from "./dom.js";
import { Pane, findings, section } from "./pane.js";
import { stepText } from "./stage.js";

export async function episodePage({ run, task, attempt, query }, { setTrail, setLive }) {
  setTrail({ text: "Runs", href: "#/" }, { text: run, href: link(run) }, { text: `${task} #${attempt}` });
  const key = { run, task, attempt };
  let detail = await get("episode", key);
  const list = h("ol", { class: "steps", tabIndex: -1 });
  const side = h("aside", { class: "side" });
  const pane = new Pane(key, detail, moved);
  let following = detail.running;
  let form = null;
  let noting = null;
  let here = location.hash;

  function moved(step) {
    list.querySelector(".chosen")?.classList.remove("chosen");
    const item = list.children[step];
    item?.classList.add("chosen");
    if (item && item.isConnected) {
      const [top, height] = [item.offsetTop - list.offsetTop, list.clientHeight];
      if (top < list.scrollTop || top + item.offsetHeight > list.scrollTop + height) list.scrollTop = top - height / 2;
    }
    form?.setStep(step);
    clearTimeout(noting);
    noting = setTimeout(note, 250);
  }

  function note() {
    if (location.hash !== here) return; // a key has led elsewhere, which has yet to open
    history.replaceState(null, "", link(run, task, attempt, pane.at));
    here = location.hash;
  }

  function showList() {
    const facts = new Map(detail.facts.filter((fact) => fact.step).map((fact) => [fact.step, fact]));
    const from = list.children.length;
    const items = [];
    for (let index = from; index <= pane.steps.length; index += 1) {
      const step = pane.steps[index - 1];
      const fact = facts.get(index);
      items.push(h("li", { onclick: () => pane.go(index), class: step?.error ? "error" : fact ? "fact" : "", title: fact ? factText(fact) : "" },
        h("span", { class: "n" }, String(index)), h("span", { class: "what" }, step ? stepText(step) : "start")));
    }
    list.append(...items);
  }

  function showSide() {
    const { verdict } = detail;
    form = detail.passed === false ? annotationForm(key, detail, () => pane.at, refresh) : null;
    form?.setStep(pane.at);
    pane.below.replaceChildren(...(form ? [form.element] : []));
    side.replaceChildren(...[
      h("div", { class: "verdict" }, badge(detail), detail.score === null ? null : h("span", { class: "score" }, number(detail.score)),
        h("span", { class: "muted" }, [`${detail.steps || pane.last}${detail.budget ? ` of ${detail.budget}` : ""} steps`, seconds(detail.seconds), detail.ended_by && `ended by ${detail.ended_by}`].filter(Boolean).join(" · "))),
      detail.error ? h("p", { class: "problem" }, detail.error) : null,
      detail.facts.length ? section("Failure facts", h("ul", { class: "plain" }, detail.facts.map((fact) =>
        h("li", {}, fact.step ? h("a", { href: link(run, task, attempt, fact.step) }, `step ${fact.step}`) : null, fact.step ? " " : null, factText(fact), fact.when ? h("span", { class: "muted" }, ` (${fact.when})`) : null)))) : null,
      findings(verdict),
      section("Task", h("p", { class: "instruction" }, detail.instruction || "not recorded")),
      section("Figures", h("p", { class: "muted" }, [
        ...Object.entries(detail.timings).map(([name, value]) => `${name} ${seconds(value)}`),
        detail.input_tokens !== null && `tokens ${count(detail.input_tokens)} in, ${count(detail.output_tokens)} out`,
        detail.cost !== null && dollars(detail.cost), detail.seed !== null && `seed ${detail.seed}`,
        detail.evaluator && `evaluator ${detail.evaluator}${detail.rescored ? " (scored again)" : ""}`].filter(Boolean).join(" · "))),
      detail.recording ? section("Recording", h("video", { controls: true, preload: "none", src: `/api/recording?${new URLSearchParams(key)}` })) : null,
    ].filter(Boolean));
  }

  async function refresh() {
    detail = await get("episode", key);
    pane.detail = detail;
    pane.drawTimeline();
    setLive(detail.running);
    showSide();
  }

  async function follow() {
    if (document.hidden || !detail.running) return;
    const atEnd = pane.at >= pane.last;
    const more = await pane.load();
    if (more) showList();
    if (more && atEnd && following) pane.go(pane.last);
    const now = await get("episode", key);
    if (now.running !== detail.running) await refresh();
  }

  await pane.load();
  showList();
  showSide();
  setLive(detail.running);
  pane.go(query.step === undefined ? (detail.running ? pane.last : Math.min(1, pane.last)) : Number(query.step));
  const timer = setInterval(() => follow().catch(() => setLive(false)), 1000);
  const neighbour = (name) => detail[name] && (location.hash = `#/run/${encodeURIComponent(run)}/${detail[name]}`);
  return {
    element: h("div", { class: "episode" }, list, pane.element, side),
    pane,
    keys: [...Pane.keys, ["n p", "next, previous episode"], ["1 … 6", "label a failed episode"], ["f", "follow a live episode"]],
    key(event) {
      if (event.key === "n") neighbour("next");
      else if (event.key === "p") neighbour("previous");
      else if (event.key === "f") following = !following;
      else if (/^[1-9]$/.test(event.key) && form) form.choose(Number(event.key) - 1);
      else return pane.handle(event);
      return true;
    },
    update(values) {
      if (values.run !== run || values.task !== task || values.attempt !== attempt) return false;
      here = location.hash;
      if (values.query.step !== undefined) pane.go(Number(values.query.step));
      return true;
    },
    shown() { moved(pane.at); },
    close() { clearInterval(timer); clearTimeout(noting); setLive(false); },
  };
}
