// The model and the decisions in plain JavaScript: pure functions over the data embedded in the page, no page in sight.
// They mirror permissible.models.evaluate and permissible.decisions; tests hold both to the same numbers in a real browser.
const permissible = (() => {
  "use strict";

  const WORDS = { inf: Infinity, "-inf": -Infinity, nan: NaN };
  const number = (value) => (typeof value === "string" ? WORDS[value] : value);
  // A value of the form as a number: truth values are 1 and 0, a missing value is not a number.
  const numeric = (value) => (isMissing(value) ? NaN : value === "true" ? 1 : value === "false" ? 0 : Number(value));
  const isMissing = (value) => value === null || value === undefined || (typeof value === "number" && Number.isNaN(value));

  // -- tests and terms ------------------------------------------------------------------------------------------------

  function testHolds(test, row) {
    const value = row[test.column];
    if (test.test === "missing") return isMissing(value);
    if (test.test === "present") return !isMissing(value);
    if (isMissing(value)) return test.missing;
    if (test.named !== undefined) return test.named.includes(String(value)) !== test.others;
    const x = numeric(value);
    return test.test === "<=" ? x <= number(test.threshold) : x > number(test.threshold);
  }

  const ruleHolds = (rule, row) => rule.every((test) => testHolds(test, row));

  function leafPath(term, row) {
    let node = 0;
    const path = [];
    while (term.nodes[node].test !== undefined) {
      const holds = testHolds(term.nodes[node].test, row);
      path.push({ words: term.nodes[node].test.words, holds });
      node = holds ? term.nodes[node].left : term.nodes[node].right;
    }
    return { values: term.nodes[node].values.map(number), path };
  }

  function kernelValue(term, row, vector) {
    const x = vector.map((_, i) => numeric(row[i]));
    if (term.kernel === "rbf") return Math.exp(-term.gamma * x.reduce((sum, v, i) => sum + (v - vector[i]) ** 2, 0));
    const inner = x.reduce((sum, v, i) => sum + v * vector[i], 0);
    if (term.kernel === "poly") return (term.gamma * inner + term.coef0) ** term.degree;
    return term.kernel === "sigmoid" ? Math.tanh(term.gamma * inner + term.coef0) : inner;
  }

  // What a term adds to each score of a row, and whether it fires.
  function termAdds(term, row, count) {
    if (term.kind === "rule") {
      const fires = ruleHolds(term.rule, row);
      return { adds: (fires ? term.holds : term.fails).map(number), fires };
    }
    if (term.kind === "tree") {
      const leaf = leafPath(term, row);
      return { adds: leaf.values, fires: true, path: leaf.path };
    }
    if (term.kind === "slope") {
      const value = row[term.column];
      if (isMissing(value)) return { adds: (term.missing || term.slope.map(() => "nan")).map(number), fires: false };
      const x = numeric(value) - number(term.center);
      return { adds: term.slope.map((slope) => number(slope) * x), fires: true };
    }
    const adds = new Array(count).fill(0);
    term.vectors.forEach((vector, i) => {
      const value = kernelValue(term, row, vector);
      term.coefficients[i].forEach((weight, k) => (adds[k] += weight * value));
    });
    return { adds, fires: true };
  }

  // Scores of a row: a group of terms is added up by itself before it joins the score, as the library does.
  function explain(card, row) {
    let scores = card.intercept.map(number);
    const terms = [];
    for (const group of card.groups) {
      const part = scores.map(() => 0);
      for (const term of group) {
        const found = termAdds(term, row, scores.length);
        terms.push({ words: term.words, ...found });
        found.adds.forEach((value, k) => (part[k] += value));
      }
      scores = scores.map((value, k) => value + part[k]);
    }
    return { scores, terms };
  }

  // The principal reasons of two classes: the rules by which a row lost most against their better value, or won most against the
  // worse one, as `reasons` of the library has them. Empty where the score is not a sum of rules.
  function reasons(card, row, favourable, count) {
    const terms = card.groups.flat();
    if (card.intercept.length !== 1 || terms.some((term) => term.kind !== "rule" || !term.rule.length)) return [];
    const found = [];
    for (const term of terms) {
      const holds = ruleHolds(term.rule, row);
      const effect = number(term.holds[0]) - number(term.fails[0]);
      if (effect !== 0 && (holds === effect > 0) === favourable) {
        found.push({ words: holds ? term.words : `not: ${term.words}`, size: Math.abs(effect) });
      }
    }
    return found.sort((a, b) => b.size - a.size).slice(0, count);
  }

  // -- probabilities --------------------------------------------------------------------------------------------------

  const OPERATIONS = {
    "+": (a, b) => a + b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    "/": (a, b) => a / b,
    neg: (a) => -a,
    exp: Math.exp,
    sqrt: Math.sqrt,
    ln: Math.log,
  };

  // A formula is a number, "x", or an operation with its arguments.
  function evaluate(tree, x) {
    if (!Array.isArray(tree)) return tree === "x" ? x : number(tree);
    return OPERATIONS[tree[0]](...tree.slice(1).map((argument) => evaluate(argument, x)));
  }

  function interpolated(loss, x) {
    const { scores, shares } = loss;
    if (x <= number(scores[0])) return number(shares[0]);
    if (x >= number(scores[scores.length - 1])) return number(shares[shares.length - 1]);
    let low = 0;
    let high = scores.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (number(scores[middle]) <= x) low = middle;
      else high = middle;
    }
    const t = (x - scores[low]) / (scores[high] - scores[low]);
    return shares[low] + t * (shares[high] - shares[low]);
  }

  function linked(loss, x) {
    if (loss.below === undefined) return interpolated(loss, x);
    const low = Math.abs(x) >= number(loss.limit) ? 0 : evaluate(loss.below, -Math.abs(x));
    return x > 0 ? 1 - low : low;
  }

  function probabilities(card, scores) {
    const link = card.link;
    if (link.kind === "loss") {
      const p = linked(link.losses[0], scores[0]);
      return [1 - p, p];
    }
    if (link.kind === "one-versus-rest") {
      const each = scores.map((x, k) => linked(link.losses[k], x));
      const total = each.reduce((a, b) => a + b, 0);
      return each.map((p) => (total > 0 ? p / total : 1 / each.length));
    }
    if (link.kind === "softmax") {
      const top = Math.max(...scores);
      const raised = scores.map((x) => Math.exp(number(link.sharpness) * (x - top)));
      const total = raised.reduce((a, b) => a + b, 0);
      return raised.map((e) => e / total);
    }
    return link.kind === "probabilities" ? scores : [];
  }

  // What `predict` says; null (no decision) where a value that the model needs is missing.
  function predict(actions, scores, proba) {
    if (scores.some(Number.isNaN)) return null;
    if (actions.shape === "cuts") {
      const byScore = actions.byScore || proba.length === 0;
      const x = byScore ? scores[0] : proba[proba.length - 1];
      const cuts = (byScore ? actions.scoreCuts : actions.cuts).map(number);
      return actions.labels[cuts.filter((cut) => (actions.cutGoesUp ? x >= cut : x > cut)).length];
    }
    if (actions.shape === "costs") return actions.labels[cheapest(proba, actions.costs, null)];
    if (actions.shape === "soft") return proba[proba.length - 1];
    const values = actions.byScore || proba.length === 0 ? scores : proba;
    return actions.labels[values.indexOf(Math.max(...values))];
  }

  // -- decisions ------------------------------------------------------------------------------------------------------

  // What a rejection costs a class: one price for all, or a price by class.
  const priceOf = (rejectCost, truth) => (Array.isArray(rejectCost) ? rejectCost[truth] : rejectCost);

  // The action of least expected cost; of equals the first, or the last where asked; a rejection (-1) only where it is strictly cheaper.
  function cheapest(proba, costs, rejectCost, last = false) {
    let best = 0;
    let least = Infinity;
    for (let k = 0; k < costs[0].length; k++) {
      const expected = proba.reduce((sum, p, j) => sum + p * costs[j][k], 0);
      if (expected < least || (last && expected === least)) [best, least] = [k, expected];
    }
    if (rejectCost === null) return best;
    const asked = Array.isArray(rejectCost) ? proba.reduce((sum, p, j) => sum + p * rejectCost[j], 0) : rejectCost;
    return asked < least ? -1 : best;
  }

  // The risk group of a probability: groups are closed on the right.
  const group = (p, cuts) => cuts.filter((cut) => p > cut).length;

  // Rows of the explorer as [probabilities, weight of each class].
  function weighted(data) {
    if (data.probability) return data.probability.map((p, i) => [[1 - p, p], [data.negative[i], data.positive[i]]]);
    return data.rows.map((p, i) => [p, data.classes.map((_, k) => (k === data.codes[i] ? data.weight[i] : 0))]);
  }

  // Table of truth by action, mean cost, share rejected, and error among the rows decided.
  function byCosts(data, costs, rejectCost) {
    const classes = data.classes.length;
    const table = Array.from({ length: classes }, () => new Array(classes + 1).fill(0));
    let cost = 0;
    for (const [proba, weights] of weighted(data)) {
      const action = cheapest(proba, costs, rejectCost, data.tiesLast);
      weights.forEach((weight, truth) => {
        table[truth][action < 0 ? classes : action] += weight;
        cost += weight * (action < 0 ? priceOf(rejectCost, truth) : costs[truth][action]);
      });
    }
    const rejected = table.reduce((sum, row) => sum + row[classes], 0);
    const wrong = table.reduce((sum, row, j) => sum + row.reduce((s, n, k) => s + (k < classes && k !== j ? n : 0), 0), 0);
    const total = data.total;
    return { table, cost: cost / total, rejected: rejected / total, error: total > rejected ? wrong / (total - rejected) : 0 };
  }

  // What the constant actions cost: every class for all rows, and the rejection of all.
  function constantCosts(data, costs, rejectCost) {
    const rows = data.classes.map((_, k) => weighted(data).reduce((sum, [, weights]) => sum + weights[k], 0));
    const mean = (price) => rows.reduce((sum, n, truth) => sum + n * price(truth), 0) / data.total;
    const found = data.classes.map((name, action) => ({ name, cost: mean((truth) => costs[truth][action]) }));
    return rejectCost === null ? found : [...found, { name: null, cost: mean((truth) => priceOf(rejectCost, truth)) }];
  }

  // -- thresholds of two classes ----------------------------------------------------------------------------------------

  // Rows above each distinct probability, counted once: found by bisection afterwards.
  function tails(data) {
    if (data.tails) return data.tails;
    const n = data.probability.length;
    const sums = { negative: new Array(n + 1).fill(0), positive: new Array(n + 1).fill(0) };
    for (let i = n - 1; i >= 0; i--) {
      sums.negative[i] = sums.negative[i + 1] + data.negative[i];
      sums.positive[i] = sums.positive[i + 1] + data.positive[i];
    }
    data.tails = sums;
    return sums;
  }

  // Counts when rows whose probability exceeds t are flagged.
  function flagged(data, t) {
    const { negative, positive } = tails(data);
    let low = 0;
    let high = data.probability.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data.probability[middle] > t) high = middle;
      else low = middle + 1;
    }
    return { tp: positive[low], fp: negative[low], fn: positive[0] - positive[low], tn: negative[0] - negative[low] };
  }

  // TP/n - FP/n t/(1 - t), and the same for acting on all rows.
  function netBenefit(data, t) {
    const { tp, fp, fn, tn } = flagged(data, t);
    const n = tp + fp + fn + tn;
    const odds = t / (1 - t);
    return { model: (tp - fp * odds) / n, all: (tp + fn - (fp + tn) * odds) / n };
  }

  // Wilson's 95 % interval of a share of n rows.
  function wilson(share, n) {
    const z = 1.959963984540054;
    const spread = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
    const scale = 1 + (z * z) / n;
    return [Math.max(0, (share + (z * z) / (2 * n) - spread) / scale), Math.min(1, (share + (z * z) / (2 * n) + spread) / scale)];
  }

  // Risk groups: counts of each class in each group, and the loss of Kimes et al. (7).
  function byGroups(data, cuts) {
    const table = [new Array(cuts.length + 1).fill(0), new Array(cuts.length + 1).fill(0)];
    let cost = 0;
    for (const [proba, weights] of weighted(data)) {
      const place = group(proba[1], cuts);
      const missed = cuts.slice(place).reduce((sum, cut) => sum + (1 - cut), 0);
      const alarm = cuts.slice(0, place).reduce((sum, cut) => sum + cut, 0);
      table[0][place] += weights[0];
      table[1][place] += weights[1];
      cost += (2 / cuts.length) * (weights[0] * alarm + weights[1] * missed);
    }
    return { table, cost: cost / data.total };
  }

  return { testHolds, ruleHolds, explain, reasons, probabilities, predict, cheapest, group, byCosts, byGroups, constantCosts, flagged, netBenefit, wilson };
})();
if (typeof window !== "undefined") window.permissible = permissible;
