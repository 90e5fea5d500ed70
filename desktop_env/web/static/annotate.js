// What a person says of a failed episode.

import { annotate } from "./api.js";
import { h } from "./dom.js";

const ALIAS = "deskgym-annotator";

export function annotationForm({ run, task, attempt }, detail, at, saved) {
  const alias = h("input", { name: "annotator", placeholder: "your alias", maxLength: 40, value: localStorage.getItem(ALIAS) || "", oninput: () => { localStorage.setItem(ALIAS, alias.value.trim()); showMine(); } });
  const note = h("textarea", { name: "note", rows: 2, placeholder: "note", maxLength: 4000 });
  const step = h("input", { name: "step", type: "number", min: 0, max: 1000000 });
  const problem = h("p", { class: "problem", hidden: true, role: "alert" });
  let label = null;
  let stepChosen = false;
  step.addEventListener("input", () => (stepChosen = true));
  const buttons = Object.entries(detail.labels).map(([name, meaning], index) =>
    h("button", { type: "button", class: "label", title: `${meaning} (${index + 1})`, value: name, onclick: () => choose(index) }, name));
  const save = h("button", { class: "save", onclick: () => send(label) }, "Save");
  const withdraw = h("button", { class: "quiet", type: "button", onclick: () => send(null) }, "Take back");

  const mine = () => detail.annotations.find((each) => each.annotator === alias.value.trim());

  function showMine() {
    const own = mine();
    label = own?.label ?? null;
    note.value = own?.note ?? "";
    stepChosen = Boolean(own && own.step !== null);
    step.value = stepChosen ? own.step : at();
    withdraw.hidden = !own;
    show();
  }

  function show() {
    for (const button of buttons) button.classList.toggle("on", button.value === label);
    save.disabled = !label || !alias.value.trim();
  }

  function choose(index) {
    if (!buttons[index]) return;
    label = buttons[index].value;
    if (!stepChosen) step.value = at();
    stepChosen = true;
    show();
    if (!alias.value.trim()) alias.focus();
  }

  async function send(value) {
    try {
      await annotate(run, { task, attempt, annotator: alias.value.trim(), label: value, step: step.value === "" ? null : Number(step.value), note: note.value });
      await saved();
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
  }

  const others = detail.annotations.filter((each) => each.annotator !== alias.value.trim());
  const element = h("section", { class: "annotate" }, h("h3", {}, "Why it failed"),
    h("div", { class: "labels" }, buttons),
    h("div", { class: "fields" }, h("label", {}, "at step ", step), alias), note,
    h("div", { class: "fields" }, save, withdraw), problem,
    others.map((each) => h("p", { class: "said-of-it" }, h("b", {}, each.annotator), ` ${each.label}${each.step === null ? "" : ` at step ${each.step}`}`, each.note ? h("span", { class: "muted" }, ` — ${each.note}`) : null)));
  showMine();
  return { element, choose, setStep(value) { if (!stepChosen) step.value = value; } };
}
