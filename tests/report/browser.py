"""A headless Chromium for tests, and what they do with the report page."""

import shutil
import tempfile
import time
from contextlib import contextmanager

from tests import programs

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1100,900",
]


@contextmanager
def started():
    """A browser with an empty profile, ended with the block."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = programs.chromium()
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        driver.set_script_timeout(30)
        try:
            yield driver
        finally:
            driver.quit()


def errors_of(driver):
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def found(driver):
    return driver.execute_script("return window.report.state.found")


def wait_until_still(driver, element):
    """The keys before may have set the page scrolling: wait until the element has stayed for half a second."""
    stayed, place = 0, None
    for _ in range(100):
        now = driver.execute_script(
            "const box = arguments[0].getBoundingClientRect(); return [box.left, box.top]", element
        )
        stayed, place = (stayed + 1, place) if now == place else (0, now)
        if stayed == 10:
            return
        time.sleep(0.05)
    raise AssertionError("the page does not come to rest")


def set_slider(driver, identity, value):
    driver.execute_script(
        "const s = document.getElementById(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('input'))",
        identity,
        value,
    )


def by_costs(driver):
    """Show the costs of mistakes; the page of a model for risk groups begins with its groups."""
    driver.execute_script("document.querySelector('input[name=mode][value=costs]').click()")
