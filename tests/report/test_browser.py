"""The page in a real browser: no errors, no network, controls move the numbers to what Python computes, what-if is predict."""

import os
import re
from itertools import pairwise

import numpy as np
import pytest

import permissible as pm
from permissible import metrics
from permissible.decisions import class_codes
from tests.report import browser
from tests.report.browser import by_costs, errors_of, found, set_slider, wait_until_still
from tests.report.pages import mixed_rows, models

pytestmark = [
    pytest.mark.browser,
    pytest.mark.needs("chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
NAMES = ["rules", "rules, matsushita", "rules of three classes", "tree", "linear", "point card", "additive"]


@pytest.fixture(scope="module")
def fitted():
    return models()


@pytest.fixture(scope="module")
def driver():
    with browser.started() as started:
        yield started


@pytest.fixture(scope="module")
def pages(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {name: pm.report(*fitted[name], folder / f"{place}.html") for place, name in enumerate(NAMES)}


@pytest.fixture
def opened(driver, pages, fitted):
    def open_page(name):
        driver.get(f"file://{pages[name]}")
        return fitted[name]

    return open_page


@pytest.mark.parametrize("name", NAMES)
def test_the_page_loads_without_errors_and_without_a_network(name, opened, driver):
    opened(name)
    assert errors_of(driver) == []
    assert driver.execute_script("return window.hacked") is None
    assert driver.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []
    drawn = driver.execute_script(
        "return [...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('svg').length)"
    )
    assert drawn
    assert all(drawn)


@pytest.mark.parametrize("name", ["rules", "tree", "linear"])
def test_cost_sliders_give_what_python_computes(name, opened, driver):
    estimator, X, y = opened(name)
    by_costs(driver)
    codes, proba = class_codes(y, estimator.classes_), estimator.predict_proba(X)
    for false_alarm, miss, reject in [(1, 1, None), (1, 5, None), (3, 0.5, 0.4), (2, 7.5, 0.25)]:
        set_slider(driver, "cost-0-1", false_alarm)
        set_slider(driver, "cost-1-0", miss)
        box = driver.find_element("id", "may-reject")
        if box.is_selected() != (reject is not None):
            driver.execute_script("arguments[0].click()", box)
        if reject is not None:
            set_slider(driver, "cost-reject", reject)
        decision = pm.CostMatrix([[0, false_alarm], [miss, 0]], reject_cost=reject)
        actions = decision.decide(proba)
        table = [[int(((codes == truth) & (actions == action)).sum()) for action in (0, 1, -1)] for truth in (0, 1)]
        assert found(driver)["table"] == table
        assert found(driver)["cost"] == pytest.approx(decision.risk(codes, proba), rel=1e-9)
        assert driver.find_element("id", "mean-cost").text == f"{decision.risk(codes, proba):.4f}"
        assert found(driver)["rejected"] == pytest.approx((actions == -1).mean())
        constant = metrics.decision_benefit(codes, proba, decision, n_bootstrap=0)
        assert driver.find_element("id", "alike-cost").text == f"{constant['cost'][1]:.4f}"
        assert (
            driver.find_element("id", "saved").text.replace("\N{MINUS SIGN}", "-")
            == f"{1000 * constant['saving'][1]:.1f}"
        )


@pytest.mark.parametrize("name", ["rules", "tree", "linear"])
def test_the_decision_curve_and_the_threshold_table_follow_the_sliders_as_python_computes(name, opened, driver):
    estimator, X, y = opened(name)
    by_costs(driver)
    codes, proba = class_codes(y, estimator.classes_), estimator.predict_proba(X)
    curve = driver.execute_script("return window.report.state.curve")
    wanted = metrics.net_benefit(codes, proba, np.arange(1, 100) / 100, n_bootstrap=0)
    np.testing.assert_allclose(curve, wanted["net_benefit"], rtol=0, atol=1e-12)
    set_slider(driver, "cost-0-1", 2)
    set_slider(driver, "cost-1-0", 7)
    lines = driver.execute_script("return window.report.state.thresholds")
    at = [line["t"] for line in lines]
    assert 2 / 9 in at
    table = metrics.threshold_table(codes, proba, at, costs=[[0, 2], [7, 0]], n_bootstrap=0)
    for key in ("tp", "fp", "fn", "tn"):
        assert [line[key] for line in lines] == table[key].tolist()
    np.testing.assert_allclose([line["benefit"] for line in lines], table["net_benefit"], atol=1e-12)
    cells = driver.execute_script(
        "return [...document.querySelectorAll('#threshold-table tr.now td')].map(c => c.textContent)"
    )
    place = at.index(2 / 9)
    assert cells[-1] == f"{table['cost'][place]:.4f}"
    assert cells[-2] == f"{table['net_benefit'][place]:.4f}"
    assert cells[1].startswith(f"{100 * table['sensitivity'][place]:.1f} %")
    marks = "return [...document.querySelectorAll('#chart-curve .mark')].length"
    assert driver.execute_script(marks) == 1


def test_a_page_about_the_first_class_gives_what_python_computes(fitted, driver, tmp_path):
    estimator, X, y = fitted["rules"]
    page = pm.report(estimator, X, y, tmp_path / "sick.html", decision=pm.Weighted(0.3), pos_label="sick")
    driver.get(f"file://{page}")
    assert errors_of(driver) == []
    ill, risk = (y == "sick").astype(int), estimator.predict_proba(X)[:, 0]
    curve = driver.execute_script("return window.report.state.curve")
    wanted = metrics.net_benefit(ill, risk, np.arange(1, 100) / 100, n_bootstrap=0)["net_benefit"]
    np.testing.assert_allclose(curve, wanted, rtol=0, atol=1e-12)
    assert driver.find_element("id", "mean-cost").text == f"{pm.Weighted(0.3).risk(ill, risk):.4f}"
    number = driver.execute_script("return window.report.data.whatif.examples[0].number")
    assert driver.find_element("id", "whatif-probability").text == f"{100 * risk[number - 1]:.1f} %"
    decided = driver.find_element("id", "whatif-decision").text
    assert decided == ("sick" if risk[number - 1] > 0.3 else "well")


def test_a_reject_band_is_marked_at_both_ends_with_intervals_of_the_shares(fitted, driver, tmp_path):
    estimator, X, y = fitted["rules"]
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    page = pm.report(estimator, X, y, tmp_path / "reject.html", decision=pm.Reject(0.2), sample_weight=weight)
    driver.get(f"file://{page}")
    marked = "#threshold-table tr.now"
    cells = driver.execute_script(f"return [...document.querySelectorAll('{marked} th')].map(c => c.textContent)")
    assert cells == ["20 %", "80 %"]
    codes = class_codes(y, estimator.classes_)
    table = metrics.threshold_table(codes, estimator.predict_proba(X), [0.2, 0.8], sample_weight=weight)
    ends = driver.execute_script(f"return [...document.querySelectorAll('{marked} .interval')].map(c => c.textContent)")
    wanted = [
        f"{100 * table[f'{name}_low'][k]:.1f} to {100 * table[f'{name}_high'][k]:.1f} %"
        for k in (0, 1)
        for name in ("flagged", "sensitivity", "specificity", "ppv", "npv")
    ]
    assert ends == wanted
    apart = """const [a, b] = [...document.querySelector('#threshold-table tr.now td').querySelectorAll('small')]
      .map(e => e.getBoundingClientRect()); return b.top - a.bottom"""
    assert driver.execute_script(apart) > -2  # they stand below each other
    band = driver.execute_script("return window.report.data.explorer.band")
    interval = metrics.net_benefit(
        codes, estimator.predict_proba(X), np.arange(1, 100) / 100, sample_weight=weight, n_bootstrap=500
    )
    np.testing.assert_allclose(band["low"], interval["net_benefit_low"], atol=1e-6)
    assert driver.execute_script("return document.querySelectorAll('#chart-curve path.area').length") == 1


def test_one_half_is_decided_as_predict_decides(driver, tmp_path):
    X = np.repeat(np.arange(3.0), 20)[:, None]
    y = np.concatenate([np.zeros(20), np.arange(20) % 2, np.ones(20)]).astype(int)
    model = pm.UDTClassifier(max_leaf_nodes=3, smoothing=0, pruning=None).fit(X, y)
    keep = np.flatnonzero((X[:, 0] != 1) | (y == 1))
    assert 0.5 in model.predict_proba(X)[:, 1]
    driver.get(f"file://{pm.report(model, X[keep], y[keep], tmp_path / 'half.html')}")
    wrong = (model.predict(X[keep]) != y[keep]).mean()
    assert driver.find_element("id", "mean-cost").text == f"{wrong:.4f}"


def test_two_models_share_the_controls(fitted, driver, tmp_path):
    first, X, y = fitted["rules"]
    second = fitted["tree"][0]
    driver.get(f"file://{pm.report([first, second], X, y, tmp_path / 'two.html')}")
    assert errors_of(driver) == []
    set_slider(driver, "cost-1-0", 6)
    codes = class_codes(y, first.classes_)
    costs = pm.CostMatrix([[0, 1], [6, 0]])
    assert driver.find_element("id", "mean-cost").text == f"{costs.risk(codes, first.predict_proba(X)):.4f}"
    assert driver.find_element("id", "rival-cost").text == f"{costs.risk(codes, second.predict_proba(X)):.4f}"


def test_ten_thousand_rows_are_drawn_within_a_second(driver, tmp_path):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(10_000, 4))
    y = X[:, 0] + generator.normal(size=10_000) > 0.5
    page = pm.report(pm.BoundaryClassifier([0.3]).fit(X[:1000], y[:1000]), X, y, tmp_path / "many.html")
    driver.get("about:blank")
    driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    driver.get(f"file://{page}")
    spent = {one["name"]: one["value"] for one in driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
    driver.execute_cdp_cmd("Performance.disable", {})
    assert spent["TaskDuration"] < 0.5  # seconds of the processor
    if os.getloadavg()[0] > (os.cpu_count() or 1):
        pytest.skip("the machine has more to do than processors: times by the clock say nothing about the page")
    drawn = driver.execute_script("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    assert drawn < 1000
    by_costs(driver)
    moved = """const t = performance.now(); document.getElementById('cost-0-1').dispatchEvent(new Event('input'));
      return performance.now() - t"""
    assert driver.execute_script(moved) < 200


def test_the_page_prints_its_answer_and_its_curve(opened, driver):
    opened("rules")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        hidden = "return getComputedStyle(document.querySelector(arguments[0])).display"
        assert driver.execute_script(hidden, "#explorer-controls") == "none"
        assert driver.execute_script(hidden, "nav") == "none"
        assert driver.execute_script(hidden, "#chart-curve svg") != "none"
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def contrast(first, second):
    def light(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        return sum(
            w * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4)
            for w, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
        )

    dark, bright = sorted([light(first), light(second)])
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_in_dark(scheme, opened, driver):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        opened("rules")
        script = "const s = getComputedStyle(document.querySelector(arguments[0])); return s[arguments[1]]"
        paper = driver.execute_script(script, "section", "backgroundColor")
        for text in ("section p", "caption", "summary"):
            assert contrast(driver.execute_script(script, text, "color"), paper) >= 4.5
        assert (
            contrast(
                driver.execute_script(script, ".verdict", "color"),
                driver.execute_script(script, ".verdict", "backgroundColor"),
            )
            >= 4.5
        )
        assert contrast(driver.execute_script(script, "#chart-curve .line.blue", "stroke"), paper) >= 3
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_cost_matrix_of_several_classes_gives_what_python_computes(opened, driver):
    estimator, X, y = opened("rules of three classes")
    codes, proba = class_codes(y, estimator.classes_), estimator.predict_proba(X)
    matrix = [[0, 2, 5], [1, 0, 1], [4, 0.5, 0]]
    for j, row in enumerate(matrix):
        for k, cost in enumerate(row):
            if j != k:
                set_slider(driver, f"cost-{j}-{k}", cost)
    decision = pm.CostMatrix(matrix)
    assert found(driver)["cost"] == pytest.approx(decision.risk(codes, proba), rel=1e-9)
    actions = decision.decide(proba)
    table = [[int(((codes == truth) & (actions == action)).sum()) for action in (0, 1, 2, -1)] for truth in range(3)]
    assert found(driver)["table"] == table


def test_boundaries_move_by_keyboard_and_by_drag_to_what_python_computes(opened, driver):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    estimator, X, y = opened("rules")
    codes, proba = class_codes(y, estimator.classes_), estimator.predict_proba(X)
    driver.execute_script("document.querySelector('input[value=groups]').click()")
    driver.find_element("id", "cut-0").send_keys(Keys.ARROW_RIGHT * 7)
    driver.find_element("id", "cut-2").send_keys(Keys.PAGE_UP)
    handle = driver.find_element("id", "cut-1")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", handle)
    wait_until_still(driver, handle)
    ActionChains(driver).drag_and_drop_by_offset(handle, 60, 0).perform()
    cuts = driver.execute_script("return window.report.state.cuts")
    assert cuts[0] == pytest.approx(0.32)
    assert cuts[2] == pytest.approx(0.85)
    assert 0.5 < cuts[1] < 0.84
    decision = pm.Boundaries(cuts)
    regions = decision.decide(proba)
    table = [[int(((codes == truth) & (regions == group)).sum()) for group in range(4)] for truth in (0, 1)]
    assert found(driver)["table"] == table
    assert found(driver)["cost"] == pytest.approx(decision.risk(codes, proba), rel=1e-9)
    driver.find_element("id", "more-groups").click()
    assert len(driver.execute_script("return window.report.state.cuts")) == 4


def ask(driver, values):
    """Put values into the what-if panel through its own functions; returns probabilities and prediction."""
    script = "window.report.take({values: arguments[0]}); const f = window.report.current(); return [f.proba, f.said]"
    return driver.execute_script(script, values)


@pytest.mark.parametrize("name", NAMES)
def test_the_what_if_panel_agrees_with_predict(name, opened, driver):
    estimator, X, _ = opened(name)
    columns = X if isinstance(X, dict) else {f"x{j}": column for j, column in enumerate(X.T)}
    proba, predicted = estimator.predict_proba(X), estimator.predict(X)
    for row in range(0, len(predicted), 11):
        values = [plain(column[row]) for column in columns.values()]
        shares, said = ask(driver, values)
        np.testing.assert_allclose(shares, proba[row], rtol=1e-9, atol=1e-12)
        assert said == str(predicted[row])


def plain(value):
    if value is None or value != value:
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return value if isinstance(value, str) else float(value)


def test_editing_a_field_changes_the_answer_as_predict_does(opened, driver):
    estimator, _, _ = opened("rules")
    X, _ = mixed_rows()
    row = {name: column[:1].copy() for name, column in X.items()}
    ask(driver, [plain(column[0]) for column in row.values()])
    field = driver.find_element("id", "field-0")
    field.clear()
    field.send_keys("71.5")
    row[next(iter(row))][0] = 71.5
    shown = driver.execute_script("return window.report.current().proba[1]")
    assert shown == pytest.approx(estimator.predict_proba(row)[0, 1])
    assert driver.find_element("id", "whatif-prediction").text == str(estimator.predict(row)[0])
    field.clear()  # an empty field is a missing value
    row[next(iter(row))][0] = np.nan
    assert driver.execute_script("return window.report.current().proba[1]") == pytest.approx(
        estimator.predict_proba(row)[0, 1]
    )
    marked = driver.execute_script("return document.querySelectorAll('#whatif-table .fires').length")
    fired = driver.execute_script("return window.report.current().terms.filter(t => t.fires && t.adds[0] !== 0).length")
    assert marked == fired


def test_the_explorers_costs_reach_the_what_if_panel(opened, driver):
    estimator, X, _ = opened("rules")
    set_slider(driver, "cost-1-0", 20)
    set_slider(driver, "cost-0-1", 0.1)
    decided = driver.find_element("id", "whatif-decision").text
    number = driver.execute_script("return window.report.data.whatif.examples[0].number")
    proba = estimator.predict_proba({name: column[number - 1 : number] for name, column in X.items()})
    assert decided == str(estimator.classes_[pm.CostMatrix([[0, 0.1], [20, 0]]).decide(proba)[0]])


@pytest.mark.parametrize("name", ["rules", "tree", "additive"])
def test_it_fits_a_phone(name, opened, driver):
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        opened(name)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("name", ["rules", "tree", "additive"])
def test_every_control_has_a_name_and_every_heading_its_place(name, opened, driver):
    opened(name)
    nameless = """
      return [...document.querySelectorAll('input,select,button,[role=slider]')].filter(e =>
        !(e.labels && e.labels.length) && !e.getAttribute('aria-label') && !e.textContent.trim()).map(e => e.outerHTML)"""
    assert driver.execute_script(nameless) == []
    levels = driver.execute_script(
        "return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert driver.execute_script("return document.documentElement.lang") == "en"
    headers = "return [...document.querySelectorAll('th')].filter(t => !t.getAttribute('scope')).length"
    assert driver.execute_script(headers) == 0
