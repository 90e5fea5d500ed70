// A frame of an episode with the action drawn on it, and the accessibility tree under the mouse.

import { address, get } from "./api.js";
import { h, svg } from "./dom.js";

const KEPT = 24; // decoded frames in memory, each as large as it is shown

class Frames {
  // Frames of one episode, fetched and decoded ahead of where the reader goes, at the width at which they are shown.
  constructor(episode, width) {
    this.episode = episode;
    this.width = width;
    this.kept = new Map();
    this.at = 0;
  }

  get(step) {
    let frame = this.kept.get(step);
    if (frame) this.kept.delete(step);
    else frame = this.load(step);
    this.kept.set(step, frame);
    while (this.kept.size > KEPT) this.drop(this.kept.keys().next().value);
    return frame;
  }

  async load(step) {
    const response = await fetch(address("frame", this.episode, { step }));
    if (!response.ok) {
      this.kept.delete(step);
      throw new Error((await response.json().catch(() => ({}))).error || "no frame");
    }
    const blob = await response.blob();
    const head = new DataView(await blob.slice(16, 24).arrayBuffer()); // width and height of a PNG
    const size = [head.getUint32(0), head.getUint32(4)];
    const shown = this.width();
    const smaller = shown && shown < size[0] ? { resizeWidth: shown, resizeHeight: Math.round((shown * size[1]) / size[0]), resizeQuality: "medium" } : {};
    return { size, bitmap: await createImageBitmap(blob, smaller) };
  }

  drop(step) {
    this.kept.get(step)?.then(({ bitmap }) => bitmap.close(), () => {});
    this.kept.delete(step);
  }

  clear() {
    for (const step of [...this.kept.keys()]) this.drop(step);
  }

  around(step, last) {
    const direction = step >= this.at ? 1 : -1;
    this.at = step;
    for (const ahead of [1, 2, 3, -1]) {
      const wanted = step + ahead * direction;
      if (wanted >= 0 && wanted <= last && !this.kept.has(wanted)) this.get(wanted).catch(() => {});
    }
  }
}

export class Stage {
  constructor(episode) {
    this.episode = episode;
    this.frames = new Frames(episode, () => Math.round(this.element.clientWidth * devicePixelRatio));
    this.trees = new Map();
    this.wanted = 0;
    this.frame = null;
    this.size = [1920, 1080];
    this.last = null;
    this.outlines = false;
    this.canvas = h("canvas", { width: 1920, height: 1080 });
    this.marks = svg("svg", { class: "marks" });
    this.nodes = svg("svg", { class: "nodes" });
    this.tip = h("div", { class: "tip", hidden: true });
    this.message = h("div", { class: "no-frame", hidden: true });
    this.typed = h("div", { class: "typed", hidden: true });
    this.element = h("div", { class: "stage", onmousemove: (event) => this.hover(event), onmouseleave: () => this.leave() },
      this.canvas, this.nodes, this.marks, this.typed, this.message, this.tip);
    this.resized = new ResizeObserver(() => this.redraw());
    this.resized.observe(this.element);
  }

  // Frames are decoded for one width: after a change of it they are decoded again.
  redraw() {
    const width = this.frames.width();
    if (width === this.width) return;
    const first = this.width === undefined;
    this.width = width;
    if (first || !this.last) return;
    this.frames.clear();
    this.show(...this.last);
  }

  // Show a frame with the actions of one step on it; when it is drawn, the element's data-shown is ``name``.
  async show(name, frame, actions, pointer, last) {
    const mine = ++this.wanted;
    this.last = [name, frame, actions, pointer, last];
    let found = null;
    try {
      found = await this.frames.get(frame);
    } catch (error) {
      if (mine === this.wanted) this.fail(error.message);
    }
    if (mine !== this.wanted) return;
    if (found) this.draw(found);
    this.frame = found ? frame : null;
    drawActions(this.marks, this.typed, actions, pointer);
    this.nodes.replaceChildren();
    this.tip.hidden = true;
    if (this.outlines) this.outline();
    this.element.dataset.shown = found ? name : "";
    this.frames.around(frame, last);
  }

  draw({ bitmap, size }) {
    const { canvas } = this;
    this.size = size;
    if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
      canvas.width = bitmap.width;
      canvas.height = bitmap.height;
    }
    for (const each of [this.marks, this.nodes]) each.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    canvas.getContext("2d", { alpha: false }).drawImage(bitmap, 0, 0);
    this.message.hidden = true;
  }

  fail(text) {
    this.message.textContent = text;
    this.message.hidden = false;
  }

  tree() {
    const { frame } = this;
    if (frame === null) return Promise.resolve([]);
    if (!this.trees.has(frame)) {
      this.trees.set(frame, get("tree", { ...this.episode, step: frame }).then((found) => found.nodes, () => []));
      if (this.trees.size > 8) this.trees.delete(this.trees.keys().next().value);
    }
    return this.trees.get(frame);
  }

  async hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const scale = this.size[0] / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const { frame } = this;
    const nodes = await this.tree();
    if (frame !== this.frame) return;
    const node = smallest(nodes, x, y);
    this.nodes.querySelector(".hovered")?.remove();
    this.tip.hidden = !node;
    if (!node) return;
    this.nodes.append(rectangle(node, "hovered"));
    this.tip.replaceChildren(h("b", {}, node.role), ` ${node.name}`, node.text && node.text !== node.name ? h("div", { class: "text" }, node.text) : "",
      h("div", { class: "muted" }, `${node.application}  ·  ${node.box.slice(0, 2).join(", ")}  ${node.box.slice(2).join(" × ")}`));
    const side = event.clientX - box.left > box.width * 0.6 ? "right" : "left";
    this.tip.style.left = side === "left" ? `${event.clientX - box.left + 16}px` : "auto";
    this.tip.style.right = side === "right" ? `${box.right - event.clientX + 16}px` : "auto";
    this.tip.style.top = `${Math.min(event.clientY - box.top + 14, box.height - 70)}px`;
  }

  leave() {
    this.tip.hidden = true;
    this.nodes.querySelector(".hovered")?.remove();
  }

  toggleOutlines() {
    this.outlines = !this.outlines;
    if (this.outlines) this.outline();
    else this.nodes.replaceChildren();
  }

  async outline() {
    const { frame } = this;
    const nodes = await this.tree();
    if (frame !== this.frame || !this.outlines) return;
    this.nodes.replaceChildren(...nodes.filter((node) => node.name || node.text).map((node) => rectangle(node, "outline")));
  }
}

function rectangle({ box: [x, y, width, height] }, kind) {
  return svg("rect", { x, y, width, height, class: kind });
}

function smallest(nodes, x, y) {
  let best = null;
  for (const node of nodes) {
    const [left, top, width, height] = node.box;
    if (x < left || y < top || x >= left + width || y >= top + height) continue;
    if (!best || width * height <= best.box[2] * best.box[3]) best = node;
  }
  return best;
}

// Where the pointer is after some actions, if it is known.
export function pointerAfter(actions, pointer) {
  let place = pointer;
  for (const action of actions || []) {
    if (action.type === "Drag" && action.path?.length) place = action.path.at(-1);
    else if (typeof action.x === "number" && typeof action.y === "number") place = [action.x, action.y];
  }
  return place;
}

const chord = (keys) => (keys || []).map((key) => (key.length === 1 ? key : key[0].toUpperCase() + key.slice(1))).join(" + ");

export function actionText(action) {
  const at = typeof action.x === "number" ? ` ${action.x}, ${action.y}` : "";
  const held = action.modifiers?.length ? `${chord(action.modifiers)} + ` : "";
  switch (action.type) {
    case "Move": return `move to${at}`;
    case "Click": {
      const times = { 2: "double ", 3: "triple " }[action.count] || "";
      return `${held}${times}${action.button === "left" ? "" : `${action.button} `}click${at}`;
    }
    case "ButtonDown": return `press ${action.button} button`;
    case "ButtonUp": return `release ${action.button} button`;
    case "Drag": return `${held}drag to ${action.path?.at(-1)?.join(", ")}`;
    case "Scroll": return `${held}scroll ${[action.dy && (action.dy > 0 ? `up ${action.dy}` : `down ${-action.dy}`), action.dx && (action.dx > 0 ? `right ${action.dx}` : `left ${-action.dx}`)].filter(Boolean).join(", ")}${at}`;
    case "Type": return `type ${JSON.stringify(action.text)}`;
    case "Press": return `press ${chord(action.keys)}${action.repeat > 1 ? ` × ${action.repeat}` : ""}`;
    case "KeyDown": return `hold ${action.key}`;
    case "KeyUp": return `let go of ${action.key}`;
    case "Hold": return `hold ${chord(action.keys)} ${action.seconds} s`;
    case "Wait": return `wait ${action.seconds} s`;
    case "Shell": return `run ${action.command}`;
    case "Answer": return `answer ${JSON.stringify(action.text)}`;
    case "Done": return "done";
    case "Fail": return `fail${action.reason ? `: ${action.reason}` : ""}`;
    default: return action.type;
  }
}

export function stepText(step) {
  if (step.actions?.length) return step.actions.map(actionText).join("; ");
  return typeof step.action === "string" ? step.action : JSON.stringify(step.action);
}

function drawActions(marks, typed, actions, pointer) {
  const shapes = [];
  const texts = [];
  let place = pointer;
  for (const action of actions || []) {
    const before = place;
    place = pointerAfter([action], place);
    if (action.type === "Drag") shapes.push(...drag(before, action.path || []));
    else if (place && action.type === "Click") shapes.push(...click(place, action));
    else if (place && action.type === "Scroll") shapes.push(...scroll(place, action));
    else if (place && ["Move", "ButtonDown", "ButtonUp"].includes(action.type)) shapes.push(svg("circle", { cx: place[0], cy: place[1], r: 12, class: "ring" }), dot(place));
    if (["Type", "Press", "KeyDown", "KeyUp", "Hold", "Wait", "Shell", "Answer", "Done", "Fail"].includes(action.type)) texts.push(actionText(action));
  }
  marks.replaceChildren(...shapes);
  const text = texts.join("\n");
  typed.hidden = !text;
  typed.textContent = text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

const dot = ([cx, cy]) => svg("circle", { cx, cy, r: 4, class: "dot" });

function click([cx, cy], action) {
  const rings = Array.from({ length: action.count || 1 }, (_, index) => svg("circle", { cx, cy, r: 18 + 10 * index, class: `ring ${action.button}` }));
  return [svg("circle", { cx, cy, r: 18, class: `halo ${action.button}` }), ...rings, dot([cx, cy])];
}

function arrow([x, y], angle) {
  const size = 18;
  const points = [0, 2.6, -2.6].map((turn, index) => {
    const reach = index === 0 ? 0 : size;
    return `${x + reach * Math.cos(angle + turn)},${y + reach * Math.sin(angle + turn)}`;
  });
  return svg("polygon", { points: points.join(" "), class: "arrow" });
}

function drag(from, path) {
  const points = path.length > 1 || !from ? path : [from, ...path];
  if (!points.length) return [];
  const [end, before] = [points.at(-1), points.at(-2) || points.at(-1)];
  return [svg("polyline", { points: points.map((each) => each.join(",")).join(" "), class: "path" }), dot(points[0]),
    arrow(end, Math.atan2(end[1] - before[1], end[0] - before[0]))];
}

function scroll([x, y], action) {
  const end = [x + Math.sign(action.dx || 0) * 60, y - Math.sign(action.dy || 0) * 60];
  return [svg("circle", { cx: x, cy: y, r: 12, class: "ring" }), ...drag([x, y], [end])];
}
