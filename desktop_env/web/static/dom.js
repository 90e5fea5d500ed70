// Making elements; every text goes in as text, never as HTML.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key in element && key !== "list" && key !== "form") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export const percent = (value, digits = 0) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)} %`);
export const number = (value, digits = 3) => (value === null || value === undefined ? "–" : value.toFixed(digits).replace(/\.?0+$/, ""));
export const dollars = (value) => (value === null || value === undefined ? "–" : `$${value.toFixed(2)}`);
export const count = (value) => {
  if (value === null || value === undefined) return "–";
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)}M`;
  return value >= 1e4 ? `${(value / 1e3).toFixed(0)}k` : String(value);
};
export const seconds = (value) => {
  if (value === null || value === undefined) return "–";
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  return value < 120 ? `${value.toFixed(1)} s` : `${(value / 60).toFixed(1)} min`;
};

export function badge(episode) {
  if (episode.status === "scored")
    return h("span", { class: `badge ${episode.passed ? "pass" : "fail"}` }, episode.passed ? "passed" : "failed");
  const kind = { running: "running", pending: "idle" }[episode.status] || "error";
  return h("span", { class: `badge ${kind}` }, episode.status.replaceAll("_", " "));
}

export const factText = (fact) =>
  `${fact.code.replaceAll("_", " ")}${fact.detail ? `: ${fact.detail}` : ""}`;

export const link = (run, task, attempt, step) =>
  `#/run/${encodeURIComponent(run)}` + (task ? `/${task}/${attempt}` + (step === undefined ? "" : `?step=${step}`) : "");
