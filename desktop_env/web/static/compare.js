// Two episodes side by side.

import { get } from "./api.js";
import { badge, h, link, number } from "./dom.js";
import { Pane, findings } from "./pane.js";

function parse(text) {
  const parts = (text || "").split("/");
  return { run: parts[0], task: parts.slice(1, -1).join("/"), attempt: Number(parts.at(-1)) };
}

export async function comparePage({ query }, { setTrail }) {
  const keys = [parse(query.left), parse(query.right)];
  setTrail({ text: "Runs", href: "#/" }, { text: keys[0].run, href: link(keys[0].run) }, { text: "side by side" });
  const details = await Promise.all(keys.map((key) => get("episode", key)));
  const panes = keys.map((key, index) => new Pane(key, details[index]));
  await Promise.all(panes.map((pane) => pane.load()));
  let together = true;
  let focused = 0;

  const columns = panes.map((pane, index) => h("div", { class: "column", onpointerdown: () => focus(index) },
    h("div", { class: "verdict" }, badge(details[index]), details[index].score === null ? null : h("span", { class: "score" }, number(details[index].score)),
      h("a", { href: link(keys[index].run, keys[index].task, keys[index].attempt) }, `${keys[index].task} #${keys[index].attempt}`), h("span", { class: "muted" }, ` ${details[index].agent}`)),
    pane.element, findings(details[index].verdict)));

  function focus(index) {
    focused = index;
    columns.forEach((column, i) => column.classList.toggle("focused", !together && i === index));
  }

  const lock = h("button", { class: "on", title: "s", onclick: toggle }, "steps together");
  function toggle() {
    together = !together;
    lock.classList.toggle("on", together);
    focus(focused);
  }

  for (const pane of panes) pane.go(Math.min(1, pane.last));
  return {
    element: h("div", { class: "compare-page" }, h("div", { class: "filters" }, lock, h("span", { class: "muted" }, "Tab changes the side")), h("div", { class: "columns" }, columns)),
    panes,
    keys: [...Pane.keys, ["s", "steps together or each alone"], ["Tab", "the other side"]],
    key(event) {
      if (event.key === "s") toggle();
      else if (event.key === "Tab") focus(1 - focused);
      else if (together) return panes.map((pane) => pane.handle(event)).some(Boolean);
      else return panes[focused].handle(event);
      return true;
    },
  };
}
