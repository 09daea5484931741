"""The screenshots of the report page in the documentation: `python -m tools.report_pictures`. Needs Chromium."""

import base64
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

import permissible as pm
from tests.report import browser

STATIC = Path(__file__).parents[1] / "docs" / "_static"
PICTURES = {"report-answer": (1100, 1560, False), "report-phone": (390, 1300, True)}


def main():
    tumours = load_breast_cancer(as_frame=True)
    X = tumours.data[["mean radius", "mean texture", "mean smoothness", "mean symmetry"]]
    y = np.where(tumours.target == 0, "malignant", "benign")
    half = np.arange(len(y)) % 2 == 0
    costs = pm.CostMatrix([[0, 1], [5, 0]], classes=["benign", "malignant"])
    model = pm.ULSClassifier.plain(n_rules=20, max_literals=1).fit(X[half], y[half])
    with tempfile.TemporaryDirectory() as folder, browser.started() as driver:
        title = "Which tumours should be operated?"
        page = pm.report(model, X[~half], y[~half], f"{folder}/tumours.html", title=title, decision=costs)
        for name, (width, height, mobile) in PICTURES.items():
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
            driver.get(f"file://{page}")
            shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
            (STATIC / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    main()
