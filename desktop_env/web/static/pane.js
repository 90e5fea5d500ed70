// One episode's frame, timeline and step details: the episode page has one, side by side has two.

import { get } from "./api.js";
import { count, dollars, h, seconds } from "./dom.js";
import { Stage, pointerAfter, stepText } from "./stage.js";

const PARTS = ["input", "settle", "frame", "tree", "total"];

export class Pane {
  constructor(key, detail, onmove = () => {}) {
    this.key = key;
    this.detail = detail;
    this.onmove = onmove;
    this.steps = [];
    this.at = 0;
    this.after = false;
    this.stage = new Stage(key);
    this.timeline = h("div", { class: "timeline", title: "steps", onclick: (event) => this.jump(event) });
    this.slider = h("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Step", oninput: (event) => this.go(Number(event.target.value)) });
    this.place = h("span", { class: "place" });
    this.view = h("button", { class: "view", title: "before or after the action (a)", onclick: () => this.toggleAfter() }, "before");
    this.details = h("div", { class: "details" });
    this.below = h("div");
    this.element = h("div", { class: "pane" }, this.stage.element,
      h("div", { class: "controls" },
        h("button", { title: "previous step (←)", onclick: () => this.go(this.at - 1) }, "◀"),
        h("button", { title: "next step (→)", onclick: () => this.go(this.at + 1) }, "▶"),
        this.place, h("div", { class: "track" }, this.timeline, this.slider), this.view),
      this.details, this.below);
  }

  get last() {
    return this.steps.length;
  }

  // Read the steps that are new since the last call; whether there were any.
  async load() {
    const { steps } = await get("steps", { ...this.key, start: this.steps.length });
    if (!steps.length) return false;
    let pointer = this.steps.at(-1)?.pointerAfter ?? null;
    for (const step of steps) {
      step.pointer = pointer;
      pointer = pointerAfter(step.actions, pointer);
      step.pointerAfter = pointer;
    }
    this.steps.push(...steps);
    this.slider.max = this.last;
    this.drawTimeline();
    return true;
  }

  drawTimeline() {
    const facts = new Set((this.detail.facts || []).map((fact) => fact.step));
    const ticks = [];
    for (const [index, step] of this.steps.entries()) {
      const kind = step.error ? "error" : facts.has(index + 1) ? "fact" : null;
      if (!kind) continue;
      const tick = h("i", { class: kind });
      tick.style.left = `${(100 * (index + 1)) / Math.max(1, this.last)}%`;
      ticks.push(tick);
    }
    this.timeline.replaceChildren(...ticks);
  }

  jump(event) {
    const box = this.timeline.getBoundingClientRect();
    this.go(Math.round(((event.clientX - box.left) / box.width) * this.last));
  }

  async go(step) {
    this.at = Math.max(0, Math.min(this.last, step));
    const current = this.steps[this.at - 1];
    this.slider.value = this.at;
    this.place.textContent = this.at === 0 ? `start of ${this.last}` : `step ${this.at} of ${this.last}`;
    this.showDetails(current);
    this.onmove(this.at);
    const frame = this.after || !current ? this.at : this.at - 1;
    await this.stage.show(`${this.at} ${this.after ? "after" : "before"}`, frame, this.after ? [] : current?.actions, current?.pointer, this.last);
  }

  toggleAfter() {
    this.after = !this.after;
    this.view.textContent = this.after ? "after" : "before";
    this.view.classList.toggle("on", this.after);
    return this.go(this.at);
  }

  showDetails(step) {
    if (!step) {
      this.details.replaceChildren(h("p", { class: "muted" }, "The first observation, before any action."));
      return;
    }
    const code = typeof step.action === "string" && !["DONE", "FAIL", "WAIT"].includes(step.action) ? step.action : null;
    this.details.replaceChildren(...[
      h("div", { class: "action" }, stepText(step)),
      step.error ? h("div", { class: "problem" }, step.error_type ? `${step.error_type}: ` : "", step.error) : null,
      step.response ? section("Model", h("div", { class: "said" }, step.response)) : null,
      code ? section("As given", h("pre", {}, code)) : null,
      step.outputs ? section("Output", h("pre", {}, typeof step.outputs === "string" ? step.outputs : JSON.stringify(step.outputs, null, 1))) : null,
      h("div", { class: "facts-line muted" }, this.line(step)),
    ].filter(Boolean));
  }

  line(step) {
    const parts = PARTS.filter((name) => step.timings[name] !== undefined).map((name) => `${name} ${seconds(step.timings[name])}`);
    const thought = moment(step.time) - moment(this.steps[this.at - 2]?.time) - (step.timings.total || 0);
    if (thought > 0.001) parts.unshift(`agent ${seconds(thought)}`);
    const before = this.steps[this.at - 2]?.usage || {};
    const used = (name) => (step.usage?.[name] === undefined ? null : step.usage[name] - (before[name] || 0));
    if (used("input_tokens") !== null) parts.push(`tokens ${count(used("input_tokens"))} in, ${count(used("output_tokens") ?? 0)} out`);
    if (used("cost") !== null) parts.push(dollars(used("cost")));
    if (step.settled === false) parts.push("the screen did not settle");
    if (step.tree_cut) parts.push("the tree was cut");
    return parts.join("  ·  ");
  }

  static keys = [["← →", "previous, next step"], ["Shift ← →", "10 steps"], ["Home End", "first, last step"], ["a", "frame before or after the action"], ["t", "outline the accessibility tree"]];

  handle(event) {
    const far = event.shiftKey ? 10 : 1;
    switch (event.key) {
      case "ArrowRight": case "l": this.go(this.at + far); return true;
      case "ArrowLeft": case "h": this.go(this.at - far); return true;
      case "Home": this.go(0); return true;
      case "End": this.go(this.last); return true;
      case "a": this.toggleAfter(); return true;
      case "t": this.stage.toggleOutlines(); return true;
      default: return false;
    }
  }
}

// Seconds of a step's time stamp (20261130@054757480398), written when the step was over.
function moment(text) {
  const [, year, month, day, hour, minute, second, rest] = /^(\d{4})(\d\d)(\d\d)@(\d\d)(\d\d)(\d\d)(\d+)$/.exec(text || "") || [];
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 + Number(`0.${rest}`);
}

export const section = (title, ...content) => h("section", {}, h("h3", {}, title), ...content);

export function findings(verdict) {
  if (!verdict) return null;
  return h("ul", { class: "findings" }, verdict.findings.map((finding) =>
    h("li", { class: finding.score >= 1 ? "pass" : finding.score > 0 ? "part" : "fail" },
      h("b", {}, finding.name), h("span", { class: "muted" }, finding.score > 0 && finding.score < 1 ? ` ${Math.round(100 * finding.score)} %` : ""), h("div", {}, finding.message))));
}
