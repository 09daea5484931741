// Charts as SVG from plain data: lines, dots with intervals, bars. Text is only ever set as text. Colours are classes of page.css.
const permissibleCharts = (() => {
  "use strict";

  const SPACE = "http://www.w3.org/2000/svg";

  function make(tag, attributes, ...children) {
    const element = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // Round steps of 1, 2 or 5 times a power of ten, about `count` of them.
  function ticks(low, high, count) {
    const raw = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * ([1, 2, 5].find((s) => s * power >= raw) || 10);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
    return found;
  }
  const shown = (x) => (x !== 0 && (Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3) ? x.toExponential(1) : String(Number(x.toPrecision(4))));

  function limits(series, key, given, bottom) {
    if (given) return given;
    const values = series.flatMap((s) => [...(s[key] || []), ...(key === "y" ? [...(s.low || []), ...(s.high || [])] : [])]).filter(Number.isFinite);
    let low = Math.min(...values, bottom ?? Infinity);
    let high = Math.max(...values, bottom ?? -Infinity);
    if (!Number.isFinite(low)) [low, high] = [0, 1];
    if (low === high) [low, high] = [low - 0.5, high + 0.5];
    const room = 0.04 * (high - low);
    return [bottom === low ? low : low - room, high + room];
  }

  function frame(width, height, left) {
    const box = { left, right: 14, top: 8, bottom: 46 };
    return { box, plot: { width: width - box.left - box.right, height: height - box.top - box.bottom }, width, height };
  }

  function axes(svg, area, x, y, spec) {
    const { box, plot } = area;
    for (const value of ticks(...x.range, Math.max(3, Math.floor(plot.width / 75))).filter((v) => !spec.whole || Number.isInteger(v))) {
      svg.append(make("line", { x1: x(value), x2: x(value), y1: box.top, y2: box.top + plot.height, class: "grid" }),
        make("text", { x: x(value), y: box.top + plot.height + 16, "text-anchor": "middle" }, spec.percent ? `${shown(100 * value)} %` : shown(value)));
    }
    for (const value of y ? ticks(...y.range, 5) : []) {
      svg.append(make("line", { x1: box.left, x2: box.left + plot.width, y1: y(value), y2: y(value), class: "grid" }),
        make("text", { x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, shown(value)));
    }
    svg.append(make("text", { x: box.left + plot.width / 2, y: area.height - 8, "text-anchor": "middle", class: "title" }, spec.x));
    const middle = box.top + plot.height / 2;
    if (spec.y) svg.append(make("text", { x: 14, y: middle, transform: `rotate(-90 14 ${middle})`, "text-anchor": "middle", class: "title" }, spec.y));
  }

  function scale(range, from, to) {
    const place = (value) => from + ((value - range[0]) / (range[1] - range[0])) * (to - from);
    place.range = range;
    return place;
  }

  function line(svg, s, x, y, base) {
    const points = s.x.map((value, i) => [x(value), y(s.y[i])]).filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b));
    const path = points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)},${b.toFixed(1)}`).join("");
    if (s.area && points.length) svg.append(make("path", { d: `${path}L${points.at(-1)[0]},${base}L${points[0][0]},${base}Z`, class: `area ${s.colour || "blue"}` }));
    svg.append(make("path", { d: path, class: `line ${s.colour || "blue"}`, "stroke-dasharray": s.dash || "none" }));
  }

  function band(svg, s, x, y) {
    const known = s.x.map((_, i) => i).filter((i) => Number.isFinite(s.low[i]) && Number.isFinite(s.high[i]));
    const side = (key) => (i) => `${x(s.x[i]).toFixed(1)},${y(s[key][i]).toFixed(1)}`;
    if (known.length) svg.append(make("path", { d: `M${[...known.map(side("high")), ...known.reverse().map(side("low"))].join("L")}Z`, class: `area ${s.colour || "blue"}` }));
  }

  function dots(svg, s, x, y) {
    s.x.forEach((value, i) => {
      const note = make("title", {}, s.notes ? s.notes[i] : `${shown(value)}, ${shown(s.y[i])}`);
      if (s.low) svg.append(make("line", { x1: x(value), x2: x(value), y1: y(s.low[i]), y2: y(s.high[i]), class: `line ${s.colour || "blue"}` }));
      svg.append(make("circle", { cx: x(value), cy: y(s.y[i]), r: 5, class: `dot ${s.colour || "blue"}` }, note));
    });
  }

  function bars(svg, s, x, area) {
    const step = area.plot.height / s.x.length;
    s.x.forEach((value, i) => {
      const from = Math.min(x(0), x(value));
      const y = area.box.top + step * i;
      svg.append(make("rect", { x: from, y: y + step * 0.15, width: Math.max(1, Math.abs(x(value) - x(0))), height: step * 0.7, class: "fill blue" },
        make("title", {}, `${s.labels[i]}: ${shown(value)}`)));
      const room = Math.max(6, Math.floor((area.box.left - 8) / 6.6));
      const label = s.labels[i].length > room ? `${s.labels[i].slice(0, room - 1)}…` : s.labels[i];
      svg.append(make("text", { x: area.box.left - 6, y: y + step / 2 + 4, "text-anchor": "end" }, label));
    });
  }

  function legend(series) {
    const box = document.createElement("div");
    box.className = "legend";
    for (const s of series.filter((one) => one.name)) {
      const swatch = make("svg", { width: 26, height: 10, "aria-hidden": "true" });
      swatch.append(make("line", { x1: 0, x2: 26, y1: 5, y2: 5, class: `line ${s.colour || "blue"}`, "stroke-dasharray": s.dash || "none" }));
      const entry = document.createElement("span");
      entry.append(swatch, ` ${s.name}`);
      box.append(entry);
    }
    return box;
  }

  // Draw a chart into an element; `marks` are upright lines such as the threshold of the moment.
  function draw(place, spec, marks = []) {
    const width = place.clientWidth || 640;
    const height = spec.height || 300;
    const barred = spec.series.some((s) => s.kind === "bars");
    const area = frame(width, height, barred ? Math.min(220, width * 0.42) : 62);
    const { box, plot } = area;
    const x = scale(limits(spec.series, "x", spec.xlim, barred ? 0 : undefined), box.left, box.left + plot.width);
    const y = barred ? null : scale(limits(spec.series, "y", spec.ylim, spec.bottom), box.top + plot.height, box.top);
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", class: "plot", "aria-hidden": "true" });
    axes(svg, area, x, y, spec);
    const clip = `clip-${place.id}`;
    svg.append(make("clipPath", { id: clip }, make("rect", { x: box.left, y: box.top, width: plot.width, height: plot.height })));
    const inside = make("g", { "clip-path": `url(#${clip})` });
    svg.append(inside);
    for (const s of spec.series) {
      if (s.kind === "line") line(inside, s, x, y, box.top + plot.height);
      else if (s.kind === "band") band(inside, s, x, y);
      else if (s.kind === "dots") dots(svg, s, x, y);
      else bars(svg, s, x, area);
    }
    for (const { at, label } of marks) {
      svg.append(make("line", { x1: x(at), x2: x(at), y1: box.top, y2: box.top + plot.height, class: "mark" }));
      const end = x(at) > box.left + plot.width * 0.7;
      svg.append(make("text", { x: x(at) + (end ? -5 : 5), y: box.top + 13, "text-anchor": end ? "end" : "start", class: "title" }, label));
    }
    place.replaceChildren(svg, ...(spec.legend ? [legend(spec.series)] : []));
  }

  return { draw, ticks };
})();
if (typeof window !== "undefined") window.permissibleCharts = permissibleCharts;
