// Zoom and pan for the timeline. Without this script the timeline is complete, but static.
//
// The report draws the timeline once; this script only moves its shapes.
// It creates nothing from text of the page, so that the content of a record can never become markup.
(() => {
  "use strict";
  const plot = document.getElementById("plot");
  const view = document.getElementById("line-view");
  const bar = document.getElementById("zoom");
  const status = document.getElementById("range");
  const help = document.getElementById("zoom-help");
  const ticks = document.getElementById("ticks");
  if (!plot || !view || !bar || !status || !help || !ticks) return;

  const SVG = plot.namespaceURI;
  const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600];
  const end = Number(plot.dataset.end);
  const margin = Number(plot.dataset.margin);
  const width = plot.viewBox.baseVal.width;
  const height = plot.viewBox.baseVal.height;
  const inner = width - 2 * margin;
  const closest = Math.min(end, Math.max(end / 500, 0.02));
  let from = 0;
  let to = end;

  const number = (element, name) => Number(element.getAttribute(name));
  const whole = () => from === 0 && to === end;
  const place = (x) => margin + ((x - margin) / inner * end - from) / (to - from) * inner;

  // The original geometry of what was drawn.
  const boxes = [...plot.querySelectorAll("g > rect[x]")].map((element) => {
    const drawn = number(element, "width");
    const real = element.dataset.w === undefined ? drawn : Number(element.dataset.w);
    return { element, x: number(element, "x"), drawn, real };
  });
  const boxOf = new Map(boxes.map((box) => [box.element, box]));
  const flows = [...plot.querySelectorAll(".flow")];
  const texts = [...plot.querySelectorAll("text[data-in], text.label")].map((element) => ({
    element,
    box: boxOf.get(element.parentNode.querySelector("rect")),
    x: number(element, "x"),
    needed: element.hasAttribute("data-in") ? 6.3 * element.textContent.length + 10 : 0,
    was: element.getAttribute("visibility"),
  }));
  const points = [...plot.querySelectorAll("[data-x]:not(.label)")].map((element) => ({
    element,
    x: Number(element.dataset.x),
  }));
  // The count of a mark is shown only if the next mark in its lane leaves room.
  const lanes = new Map();
  for (const point of points) {
    const text = point.element.querySelector(".many");
    const lane = point.element.querySelector(".hazard, .finding");
    if (!lane) continue;
    const y = lane.getAttribute("d").split(" ")[1].split("l")[0];
    if (!lanes.has(y)) lanes.set(y, []);
    lanes.get(y).push({ text, x: point.x, was: text && text.getAttribute("visibility") });
  }
  const marks = points.filter((point) => point.element.localName === "a");
  const drawnTicks = [...ticks.childNodes].map((node) => node.cloneNode(true));

  const setVisible = (element, visible) => {
    if (visible) element.removeAttribute("visibility");
    else element.setAttribute("visibility", "hidden");
  };

  function draw() {
    const scale = end / (to - from);
    for (const box of boxes) {
      const shown = whole() ? box.drawn : Math.max(box.real * scale, Math.min(box.drawn, 2));
      box.element.setAttribute("x", place(box.x).toFixed(2));
      box.element.setAttribute("width", shown.toFixed(2));
    }
    for (const flow of flows) {
      flow.setAttribute("transform", `matrix(${scale} 0 0 1 ${place(0)} 0)`);
    }
    for (const point of points) {
      const x = place(point.x);
      point.element.setAttribute("transform", `translate(${(x - point.x).toFixed(2)} 0)`);
      setVisible(point.element, x >= 0 && x <= width);
    }
    for (const { element, box, x, needed, was } of texts) {
      const left = place(box.x);
      const right = left + Math.max(box.real * scale, 2);
      const start = Math.min(Math.max(left, 0), Math.max(right, left));
      element.setAttribute("transform", `translate(${(start - box.x).toFixed(2)} 0)`);
      const fits = needed === 0 ? right >= 0 && left <= width : Math.min(right, width) - start > needed;
      setVisible(element, whole() ? was !== "hidden" : fits);
      if (needed === 0 && box.drawn < 24) element.setAttribute("x", String(whole() ? x : right - left < 24 ? box.x + Math.max(right - left, 2) + 3 : box.x + 5));
    }
    for (const lane of lanes.values()) {
      lane.forEach(({ text, x, was }, at) => {
        if (!text) return;
        const next = at + 1 < lane.length ? place(lane[at + 1].x) : Infinity;
        // A text that is not hidden inherits the visibility of its mark.
        setVisible(text, whole() ? was !== "hidden" : next - place(x) >= 18 + 7 * text.textContent.length);
      });
    }
    drawTicks();
    view.classList.toggle("zoomed", !whole());
  }

  function drawTicks() {
    if (whole()) {
      ticks.replaceChildren(...drawnTicks.map((node) => node.cloneNode(true)));
      return;
    }
    const step = STEPS.find((size) => (to - from) / size <= 12) || (to - from) / 10;
    const made = [];
    for (let i = Math.ceil(from / step); i * step <= to; i += 1) {
      const x = (margin + (i * step - from) / (to - from) * inner).toFixed(2);
      const line = document.createElementNS(SVG, "line");
      for (const [name, value] of [["class", "grid"], ["x1", x], ["x2", x], ["y1", 38], ["y2", height]]) {
        line.setAttribute(name, value);
      }
      const text = document.createElementNS(SVG, "text");
      const anchor = x < 24 ? "start" : x > width - 30 ? "end" : "middle";
      for (const [name, value] of [["class", "tick"], ["x", x], ["y", 32], ["text-anchor", anchor]]) {
        text.setAttribute(name, value);
      }
      text.textContent = `${Number((i * step).toFixed(3))} s`;
      made.push(line, text);
    }
    ticks.replaceChildren(...made);
  }

  let later = 0;
  function announce() {
    clearTimeout(later);
    const digits = to - from < 2 ? 3 : 1;
    const range = whole()
      ? `Whole run: 0 s to ${end.toFixed(1)} s`
      : `${from.toFixed(digits)} s to ${to.toFixed(digits)} s of ${end.toFixed(1)} s`;
    const visible = marks.filter(({ x }) => place(x) >= 0 && place(x) <= width).length;
    status.textContent = marks.length ? `${range}; ${visible} of ${marks.length} finding marks visible` : range;
  }

  function show(start, stop, soon = false) {
    const span = Math.min(Math.max(stop - start, closest), end);
    from = Math.min(Math.max(start, 0), end - span);
    to = from + span;
    if (span >= end * 0.9999) [from, to] = [0, end];
    draw();
    // While the user scrolls or drags, announce only the final range.
    if (soon) {
      clearTimeout(later);
      later = setTimeout(announce, 200);
    } else announce();
  }

  function zoom(factor, around = (from + to) / 2, soon = false) {
    const part = (around - from) / (to - from);
    const span = Math.min(Math.max((to - from) * factor, closest), end);
    show(around - part * span, around + (1 - part) * span, soon);
  }

  const move = (part, soon = false) => show(from + part * (to - from), to + part * (to - from), soon);

  const acts = {
    in: () => zoom(1 / 2),
    out: () => zoom(2),
    earlier: () => move(-1 / 4),
    later: () => move(1 / 4),
    all: () => show(0, end),
  };
  const keys = {
    "+": "in", "=": "in", "-": "out", "−": "out", _: "out", ArrowLeft: "earlier", ArrowRight: "later", 0: "all",
  };

  bar.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) acts[button.dataset.do]();
  });

  view.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!Object.hasOwn(keys, event.key)) return;
    // The whole run cannot be panned: let the arrow keys scroll as usual.
    if (event.key.startsWith("Arrow") && whole()) return;
    event.preventDefault();
    acts[keys[event.key]]();
  });

  const moment = (event) => {
    const bounds = plot.getBoundingClientRect();
    const x = (event.clientX - bounds.left) / bounds.width * width;
    return from + (x - margin) / inner * (to - from);
  };

  plot.addEventListener("wheel", (event) => {
    const wanted = event.ctrlKey || event.metaKey || view.contains(document.activeElement);
    if (!wanted) return;
    event.preventDefault();
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(sideways / 1000, true);
    else zoom(Math.exp(Math.max(-300, Math.min(300, event.deltaY)) / 300), moment(event), true);
  }, { passive: false });

  let dragged = null;
  plot.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && event.pointerType !== "touch" && !whole()) {
      dragged = { x: event.clientX, from, to, moved: false };
    }
  });
  plot.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const by = event.clientX - dragged.x;
    if (!dragged.moved && Math.abs(by) < 4) return;
    if (!dragged.moved) plot.setPointerCapture(event.pointerId);
    dragged.moved = true;
    view.classList.add("dragged");
    const more = by / plot.getBoundingClientRect().width * width / inner * (dragged.to - dragged.from);
    show(dragged.from - more, dragged.to - more, true);
  });
  const drop = () => {
    // Ignore the click that immediately follows a drag.
    if (dragged && dragged.moved) {
      const swallow = (event) => event.preventDefault();
      plot.addEventListener("click", swallow, { capture: true, once: true });
      setTimeout(() => plot.removeEventListener("click", swallow, { capture: true }), 0);
    }
    dragged = null;
    view.classList.remove("dragged");
  };
  plot.addEventListener("pointerup", drop);
  plot.addEventListener("pointercancel", drop);
  plot.addEventListener("dragstart", (event) => event.preventDefault());

  // Print the whole run with all details open.
  let before = null;
  addEventListener("beforeprint", () => {
    before = { from, to, folded: [...document.querySelectorAll("details:not([open])")] };
    for (const one of before.folded) one.open = true;
    show(0, end);
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    for (const one of before.folded) one.open = false;
    show(before.from, before.to);
    before = null;
  });

  // A link to a closed <details> element opens it.
  addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.localName === "details") target.open = true;
  });

  bar.hidden = false;
  help.hidden = false;
  announce();
})();
