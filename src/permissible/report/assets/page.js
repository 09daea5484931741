// The page: controls, tables and charts over the pure functions of model.js. Text is only ever set as text, never as markup.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const { explorer, whatif, charts } = data;
  const P = window.permissible;
  const C = window.permissibleCharts;

  // -- small tools --------------------------------------------------------------------------------------------------

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
    }
    for (const child of children) element.append(child);
    return element;
  }
  const fill = (id, ...children) => document.getElementById(id).replaceChildren(...children);
  const percent = (x) => `${(100 * x).toFixed(1)} %`;
  const count = (x) => (Number.isInteger(x) ? x.toLocaleString("en-US") : x.toFixed(1));
  const signed = (x) => `${x < 0 ? "−" : "+"}${Math.abs(x).toPrecision(3)}`;

  function tableOf(caption, header, rows) {
    const head = make("tr", {}, ...header.map((text, i) => make("th", { scope: "col", class: i ? "n" : "" }, text)));
    const body = rows.map(({ cells, classes = [], row = "" }) =>
      make("tr", { class: row }, ...cells.map((text, i) =>
        i ? make("td", { class: `n ${classes[i] || ""}` }, text) : make("th", { scope: "row" }, text))));
    return make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body));
  }
  const answer = (pairs) => make("div", { class: "answer" }, ...pairs.map(([value, text, id]) =>
    make("div", {}, make("b", { id }, value), make("span", {}, text))));

  function slider(id, text, { min, max, step, value }, changed) {
    const output = make("output", { for: id }, String(value));
    const input = make("input", { type: "range", id, min, max, step, value });
    input.addEventListener("input", () => { output.textContent = input.value; changed(Number(input.value)); });
    return make("div", { class: "slider" }, make("label", { for: id }, text), input, output);
  }

  // -- decision explorer --------------------------------------------------------------------------------------------

  const classes = explorer.classes;
  const binary = Boolean(explorer.probability);
  const state = initialState(explorer.decision);

  const mean = (price) => (Array.isArray(price) ? price.reduce((a, b) => a + b, 0) / price.length : price);

  function initialState(decision) {
    const costs = classes.map((_, j) => classes.map((__, k) => (j === k ? 0 : 1)));
    const start = { mode: "costs", costs, reject: 0.25, mayReject: false, cuts: [0.25, 0.5, 0.75] };
    if (!decision) return start;
    if (decision.kind === "Reject") return { ...start, reject: decision.cost, mayReject: true };
    if (decision.kind === "Boundaries") return { ...start, mode: "groups", cuts: decision.boundaries };
    if (decision.kind === "Weighted") { costs[0][1] = 2 * decision.pi; costs[1][0] = 2 * (1 - decision.pi); return start; }
    if (decision.kind === "CostMatrix") {
      const priced = decision.reject_cost !== null;  // a number, or a price by class until the slider sets one for all
      return { ...start, costs: decision.matrix, reject: priced ? decision.reject_cost : 0.25, mayReject: priced };
    }
    return start;
  }

  // The decision as it stands now, for one row of probabilities: its label and how to colour it.
  function decideNow(given) {
    const proba = classes.map((name) => given[whatif.classes.indexOf(name)]);
    if (state.mode === "groups") return `group ${P.group(proba[1], state.cuts)}`;
    const action = P.cheapest(proba, state.costs, state.mayReject ? state.reject : null, explorer.tiesLast);
    return action < 0 ? "leave it to a person" : classes[action];
  }

  function drawExplorer() {
    const controls = [];
    if (binary) controls.push(modes());
    controls.push(state.mode === "groups" ? groupControls() : costControls());
    fill("explorer-controls", ...controls);
    updateExplorer();
  }

  function modes() {
    const choice = (mode, text) => make("label", {}, make("input", {
      type: "radio", name: "mode", value: mode, checked: state.mode === mode,
      onchange: () => { state.mode = mode; drawExplorer(); document.querySelector(`input[name=mode][value=${mode}]`).focus(); },
    }), text);
    return make("div", { class: "mode", role: "radiogroup", "aria-label": "Kind of decision" },
      choice("costs", "decide by what mistakes cost"), choice("groups", "form risk groups"));
  }

  function costControls() {
    const box = make("fieldset", {}, make("legend", {}, "What it costs"));
    if (binary) {
      const range = (value) => ({ min: 0, max: Math.max(20, Math.ceil(2 * value)), step: value > 20 ? 1 : 0.1, value });
      box.append(
        slider("cost-0-1", `predicting ${classes[1]} when it is ${classes[0]}`, range(state.costs[0][1]),
          (value) => { state.costs[0][1] = value; updateExplorer(); }),
        slider("cost-1-0", `predicting ${classes[0]} when it is ${classes[1]}`, range(state.costs[1][0]),
          (value) => { state.costs[1][0] = value; updateExplorer(); }));
    } else box.append(costTable());
    box.append(make("label", { class: "mode" }, make("input", {
      type: "checkbox", id: "may-reject", checked: state.mayReject,
      onchange: (event) => { state.mayReject = event.target.checked; drawExplorer(); document.getElementById("may-reject").focus(); },
    }), "the model may say “I don’t know”"));
    if (state.mayReject) {
      box.append(slider("cost-reject", "to leave a row to a person", { min: 0, max: 5, step: 0.01, value: mean(state.reject) },
        (value) => { state.reject = value; updateExplorer(); }));
    }
    return box;
  }

  function costTable() {
    const rows = classes.map((truth, j) => make("tr", {}, make("th", { scope: "row" }, truth), ...classes.map((said, k) =>
      make("td", {}, j === k ? "0" : make("input", {
        type: "number", class: "cost", min: 0, step: 0.5, value: state.costs[j][k], id: `cost-${j}-${k}`,
        "aria-label": `cost of predicting ${said} when it is ${truth}`,
        oninput: (event) => { state.costs[j][k] = Math.max(0, Number(event.target.value) || 0); updateExplorer(); },
      })))));
    const head = make("tr", {}, make("th", { scope: "col" }, "actual \\ predicted"), ...classes.map((name) => make("th", { scope: "col" }, name)));
    return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
  }

  function groupControls() {
    const box = make("fieldset", {}, make("legend", {}, `Where one group of P(${classes[1]}) ends and the next begins`));
    const track = make("div", { class: "track", id: "track" });
    track.append(ground(), make("div", { class: "rail" }));
    state.cuts.forEach((_, place) => track.append(thumb(track, place)));
    const change = (cuts) => { state.cuts = cuts; drawExplorer(); };
    box.append(track, make("div", { class: "ends", "aria-hidden": "true" }, make("span", {}, "0"), make("span", {}, "1")),
      make("div", { class: "mode" },
        make("button", { type: "button", id: "more-groups", onclick: () => change(widest(state.cuts)) }, "one group more"),
        state.cuts.length > 1 ? make("button", { type: "button", id: "fewer-groups", onclick: () => change(state.cuts.slice(0, -1)) }, "one group fewer") : ""),
      make("p", { class: "note" }, "Drag a handle, or move to it with Tab and use the arrow keys. The hills show how many rows have each probability."));
    return box;
  }

  function widest(cuts) {
    const ends = [0, ...cuts, 1];
    let place = 1;
    for (let i = 2; i < ends.length; i++) if (ends[i] - ends[i - 1] > ends[place] - ends[place - 1]) place = i;
    return [...cuts, (ends[place] + ends[place - 1]) / 2].sort((a, b) => a - b);
  }

  // How many rows have each probability: hills of both classes behind the handles.
  function ground() {
    const bins = 50;
    const hills = [new Array(bins).fill(0), new Array(bins).fill(0)];
    explorer.probability.forEach((p, i) => {
      const bin = Math.min(bins - 1, Math.floor(p * bins));
      hills[0][bin] += explorer.negative[i];
      hills[1][bin] += explorer.positive[i];
    });
    const top = Math.sqrt(Math.max(...hills[0].map((n, i) => n + hills[1][i]), 1));
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    for (const [name, value] of [["class", "ground"], ["viewBox", `0 0 ${bins} 1`], ["preserveAspectRatio", "none"], ["aria-hidden", "true"]]) svg.setAttribute(name, value);
    for (let bin = 0; bin < bins; bin++) {
      const total = hills[0][bin] + hills[1][bin];
      const height = Math.sqrt(total) / top;
      const parts = total ? [[hills[1][bin] / total, "#0072b2"], [hills[0][bin] / total, "#e8a878"]] : [];
      let from = 1;
      for (const [share, colour] of parts) {
        const rect = document.createElementNS(space, "rect");
        from -= height * share;
        for (const [name, value] of [["x", bin + 0.05], ["y", from], ["width", 0.9], ["height", height * share], ["fill", colour]]) rect.setAttribute(name, value);
        svg.append(rect);
      }
    }
    return svg;
  }

  function thumb(track, place) {
    const handle = make("div", {
      class: "thumb", role: "slider", tabindex: 0, id: `cut-${place}`, "aria-valuemin": 0, "aria-valuemax": 1,
      "aria-label": `boundary ${place + 1} between group ${place} and group ${place + 1}`,
    });
    const show = () => {
      const value = state.cuts[place];
      handle.style.left = `${100 * value}%`;
      handle.setAttribute("aria-valuenow", value.toFixed(2));
      handle.dataset.shown = value.toFixed(2);
    };
    const move = (value) => {
      const low = place ? state.cuts[place - 1] + 0.01 : 0.01;
      const high = place + 1 < state.cuts.length ? state.cuts[place + 1] - 0.01 : 0.99;
      state.cuts[place] = Math.round(Math.min(high, Math.max(low, value)) * 100) / 100;
      show();
      updateExplorer();
    };
    handle.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1 };
      if (event.key in steps) move(state.cuts[place] + steps[event.key]);
      else if (event.key === "Home") move(0);
      else if (event.key === "End") move(1);
      else return;
      event.preventDefault();
    });
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      handle.focus();
      const follow = (moved) => { const box = track.getBoundingClientRect(); move((moved.clientX - box.left) / box.width); };
      const release = () => { handle.removeEventListener("pointermove", follow); handle.removeEventListener("pointerup", release); };
      handle.addEventListener("pointermove", follow);
      handle.addEventListener("pointerup", release);
      event.preventDefault();
    });
    show();
    return handle;
  }

  function updateExplorer() {
    if (state.mode === "groups") showGroups();
    else showCosts();
    if (binary) { showCurve(); showThresholds(); }
    if (whatif.shown) updateWhatif();
  }

  const others = explorer.others || [];
  const named = (data) => data.name || explorer.name;

  function showCosts() {
    const price = state.mayReject ? state.reject : null;
    // Without costs of its own the page starts from predict, which says the last of two classes at one half.
    explorer.tiesLast = binary && price === null && (!explorer.decision || explorer.decision.kind === "Hard") && state.costs[0][1] === state.costs[1][0];
    const found = P.byCosts(explorer, state.costs, price);
    state.found = found;
    const alike = P.constantCosts(explorer, state.costs, price).sort((a, b) => a.cost - b.cost)[0];
    const rivals = others.map((data) => [P.byCosts({ ...explorer, ...data }, state.costs, price).cost.toFixed(4), `mean cost per row with ${named(data)}`, "rival-cost"]);
    fill("explorer-answer", answer([
      [found.cost.toFixed(4), others.length ? `mean cost per row with ${named(explorer)}` : "mean cost per row with the model", "mean-cost"],
      ...rivals,
      [alike.cost.toFixed(4), `mean cost per row when always ${alike.name === null ? "leaving it to a person" : `predicting ${alike.name}`}`, "alike-cost"],
      [perThousand(alike.cost - found.cost), "saved in 1,000 rows", "saved"],
      [percent(found.error), state.mayReject ? "of the rows decided are decided wrongly" : "of the rows are decided wrongly", "mean-error"],
      ...(state.mayReject ? [[percent(found.rejected), "of the rows are left to a person", "share-rejected"]] : []),
    ]));
    const header = ["actual \\ predicted", ...classes, ...(state.mayReject ? ["left to a person"] : []), "rows"];
    const rows = found.table.map((row, truth) => {
      const total = row.reduce((a, b) => a + b, 0);
      const cells = row.slice(0, header.length - 2).map((n) => `${count(n)} (${total ? percent(n / total) : "–"})`);
      return { cells: [classes[truth], ...cells, count(total)], classes: ["", ...row.map((_, k) => (k === truth ? "good" : k === classes.length ? "shrug" : "bad"))] };
    });
    fill("explorer-table", tableOf("Predictions for the rows of each class, with their share", header, rows));
  }
  const perThousand = (x) => `${x < 0 ? "−" : ""}${Math.abs(1000 * x).toFixed(1)}`;

  function showGroups() {
    const found = P.byGroups(explorer, state.cuts);
    state.found = found;
    fill("explorer-answer", answer([
      [found.cost.toFixed(4), "mean cost per row in a wrong group (0 is perfect)", "mean-cost"],
      [String(state.cuts.length + 1), "groups", "n-groups"],
    ]));
    const ends = [0, ...state.cuts, 1];
    const rows = ends.slice(1).map((high, k) => {
      const [no, yes] = [found.table[0][k], found.table[1][k]];
      return { cells: [`${k}: ${percent(ends[k])} to ${percent(high)}`, count(no), count(yes), count(no + yes), no + yes ? percent(yes / (no + yes)) : "–"] };
    });
    fill("explorer-table", tableOf("The rows of each risk group", ["group, by probability", ...classes, "rows", `actual ${classes[1]}`], rows));
  }

  // -- decision curve and thresholds, which follow the controls --------------------------------------------------------

  // The thresholds of the moment: where the costs change the decision, or the cuts between groups.
  function currentThresholds() {
    if (state.mode === "groups") return state.cuts;
    const [alarm, miss] = [state.costs[0][1], state.costs[1][0]];
    if (state.mayReject && !Array.isArray(state.reject)) {  // left to a person between the two
      const ends = [state.reject / miss, 1 - state.reject / alarm];
      if (ends[0] < ends[1]) return ends.filter((t) => t > 0 && t < 1);
    }
    return alarm + miss > 0 && miss > 0 ? [alarm / (alarm + miss)] : [];
  }

  function showCurve() {
    const at = Array.from({ length: 99 }, (_, i) => (i + 1) / 100);
    const own = at.map((t) => P.netBenefit(explorer, t));
    const series = [
      { kind: "line", x: at, y: own.map((b) => b.all), name: `predict ${classes[1]} for all`, colour: "grey", dash: "6 4" },
      { kind: "line", x: [0, 1], y: [0, 0], name: `predict ${classes[1]} for none`, colour: "ink", dash: "2 4" },
      ...others.map((data) => ({ kind: "line", x: at, y: at.map((t) => P.netBenefit(data, t).model), name: named(data), colour: "orange" })),
      ...(explorer.band ? [{ kind: "band", x: at, ...explorer.band }] : []),
      { kind: "line", x: at, y: own.map((b) => b.model), name: `${others.length ? named(explorer) : "the model"} (shaded: 95 % interval)` },
    ];
    state.curve = own.map((b) => b.model);
    const top = Math.max(own[0].all, ...own.map((b) => b.model), ...(explorer.band ? explorer.band.high.filter(Number.isFinite) : []), 0.01);
    const marks = currentThresholds().map((t) => ({ at: t, label: threshold(t) }));
    const spec = { x: `threshold: predict ${classes[1]} above this probability`, y: "net benefit of a row", series, percent: true, xlim: [0, 1], ylim: [-0.15 * top, 1.1 * top], legend: true };
    C.draw(document.getElementById("chart-curve"), spec, marks);
  }

  const threshold = (t) => `${Number((100 * t).toFixed(1))} %`;
  const USUAL = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

  function showThresholds() {
    const current = currentThresholds();
    const all = [...new Set([...USUAL, ...current])].filter((t) => t < 1).sort((a, b) => a - b);
    const share = (part, whole, marked) => {
      if (!whole) return "–";
      const [low, high] = P.wilson(part / whole, explorer.unit * whole);
      const ends = `${(100 * low).toFixed(1)} to ${percent(high)}`;
      return make("span", { title: `95 % interval ${ends}` }, percent(part / whole), make("small", {}, `${count(part)} of ${count(whole)}`), ...(marked ? [make("small", { class: "interval" }, ends)] : []));
    };
    state.thresholds = all.map((t) => ({ t, ...P.flagged(explorer, t), benefit: P.netBenefit(explorer, t).model }));
    const rows = state.thresholds.map(({ t, tp, fp, fn, tn, benefit }) => {
      const n = tp + fp + fn + tn;
      const cost = (fp * state.costs[0][1] + fn * state.costs[1][0]) / n;
      const now = current.includes(t);
      const cells = [threshold(t), share(tp + fp, n, now), share(tp, tp + fn, now), share(tn, tn + fp, now), share(tp, tp + fp, now), share(tn, tn + fn, now), benefit.toFixed(4), ...(state.mode === "costs" ? [cost.toFixed(4)] : [])];
      return { cells, row: now ? "now" : "" };
    });
    const [no, yes] = classes;
    const header = ["above", `flagged as ${yes}, of all rows`, `sensitivity: flagged, of actual ${yes}`, `specificity: not flagged, of actual ${no}`, `PPV: actual ${yes}, of flagged`, `NPV: actual ${no}, of not flagged`, "net benefit of a row", ...(state.mode === "costs" ? ["cost of a row"] : [])];
    fill("threshold-table", tableOf(`What happens at each threshold; the marked ${current.length > 1 ? "lines are those" : "line is that"} of the controls above, with 95 % intervals of the shares`, header, rows));
  }

  // -- what if ------------------------------------------------------------------------------------------------------

  const card = whatif.card;
  let row = [];

  function drawWhatif() {
    whatif.shown = true;
    const pick = make("select", { id: "example", onchange: () => take(whatif.examples[pick.selectedIndex]) },
      ...whatif.examples.map((example) => make("option", {}, `row ${example.number} (actual: ${example.truth})`)));
    const fields = make("div", { class: "fields" }, ...card.used.map(field));
    fill("whatif-controls", make("div", { class: "slider" }, make("label", { for: "example" }, "Start from"), pick, make("span")), fields);
    if (whatif.examples.length) take(whatif.examples[0]);
  }

  const isEmpty = (value) => value === null || value === undefined;

  function field(column) {
    const { name, kind } = card.columns[column];
    const about = whatif.fields[column];
    const id = `field-${column}`;
    let input;
    if (kind === "numeric") {
      const step = about.whole ? 1 : "any";
      const changed = () => set(column, input.value === "" ? null : Number(input.value));
      input = make("input", { type: "number", id, step, oninput: changed, onchange: changed });
      return make("label", { for: id }, name, make("span", { class: "hint" }, ` ${short(about.low)} to ${short(about.high)}`), input);
    }
    const values = kind === "boolean" ? ["true", "false"] : card.columns[column].categories;
    input = make("select", { id, onchange: () => set(column, input.value === "m" ? null : input.value === "o" ? "\u0000other" : values[Number(input.value.slice(1))]) },
      ...values.map((value, i) => make("option", { value: `v${i}` }, value === "" ? "(empty text)" : value)),
      kind === "categorical" ? make("option", { value: "o" }, "(another value)") : "",
      make("option", { value: "m" }, "(missing)"));
    return make("label", { for: id }, name, input);
  }
  const short = (x) => (Math.abs(x) >= 1e5 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toExponential(1) : String(Number(x.toPrecision(4))));

  function take(example) {
    row = example.values.slice();
    for (const column of card.used) {
      const input = document.getElementById(`field-${column}`);
      const { kind, categories } = card.columns[column];
      if (kind === "numeric") input.value = isEmpty(row[column]) ? "" : row[column];
      else {
        const place = (kind === "boolean" ? ["true", "false"] : categories).indexOf(row[column]);
        input.value = isEmpty(row[column]) ? "m" : place < 0 ? "o" : `v${place}`;
      }
    }
    updateWhatif();
  }

  function set(column, value) {
    row[column] = value;
    updateWhatif();
  }

  function updateWhatif() {
    const found = P.explain(card, row);
    const proba = P.probabilities(card, found.scores);
    const said = P.predict(whatif.actions, found.scores, proba);
    whatif.found = { ...found, proba, said };
    const top = proba.indexOf(Math.max(...proba));
    const shown = binaryShown() ? whatif.classes.indexOf(classes[1]) : top;
    fill("whatif-answer", answer([
      [Number.isNaN(proba[shown]) ? "unknown" : percent(proba[shown]), `probability of ${whatif.classes[shown]}`, "whatif-probability"],
      [said === null || said === undefined ? "no decision" : said, "what predict says", "whatif-prediction"],
      [decideNow(proba), "with the costs or groups set above", "whatif-decision"],
    ]), make("div", { class: "meter", "aria-hidden": "true" }, meter(proba[shown])));
    const wins = String(said) === String(whatif.classes[1]);
    const reasons = binaryShown() ? P.reasons(card, row, wins, 4) : [];
    const told = reasons.length ? [make("p", { id: "whatif-reasons" }, `Principal reasons: ${reasons.map((one) => one.words).join("; ")}.`)] : [];
    fill("whatif-table", ...told, termsTable(found, found.scores.length === 1 ? 1 : shown));
  }
  const binaryShown = () => whatif.classes.length === 2;
  const meter = (share) => { const bar = make("i"); bar.style.width = `${100 * (share || 0)}%`; return bar; };

  function termsTable(found, shown) {
    const place = found.scores.length === 1 ? 0 : shown;
    const tree = found.terms.find((term) => term.path);
    if (tree && found.terms.length === 1) {
      return tableOf("The tests on the way to the answer", ["test", ""], tree.path.map((step) => ({
        cells: [step.words, step.holds ? "yes" : "no"], row: step.holds ? "fires" : "rests" })));
    }
    const rows = found.terms
      .filter((term) => term.adds[place] !== 0)
      .sort((a, b) => Number(b.fires) - Number(a.fires) || Math.abs(b.adds[place]) - Math.abs(a.adds[place]))
      .map((term) => ({ cells: [term.words, signed(term.adds[place])], row: term.fires ? "fires" : "rests" }));
    rows.unshift({ cells: ["always", signed(Number(card.intercept[place]))], row: "" });
    const total = { cells: ["score", signed(found.scores[place])], row: "" };
    return tableOf(`What each part adds to the score of ${whatif.classes[shown]}; marked ones hold for this row`, ["part", "adds"], [...rows, total]);
  }

  // -- charts -------------------------------------------------------------------------------------------------------

  function drawCharts() {
    for (const [name, spec] of Object.entries(charts)) {
      const place = document.getElementById(`chart-${name}`);
      if (place) C.draw(place, spec);
    }
    if (binary) showCurve();
  }

  drawExplorer();
  drawWhatif();
  drawCharts();
  let waiting = 0;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(drawCharts, 100); });
  for (const box of document.querySelectorAll("details")) box.addEventListener("toggle", drawCharts);
  window.report = { state, data, set, take, current: () => whatif.found };
})();
