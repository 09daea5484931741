"""A headless Chromium for tests, or the reason why there is none."""

import os
import shutil
import tempfile
from contextlib import contextmanager

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--window-size=1100,900",
]  # fmt: skip


def missing():
    """Why no browser can be started, None when one can."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        return "no Chromium on this machine: `make test-browser` installs it"
    return None if shutil.which("chromedriver") else "no chromedriver on this machine: `make test-browser` installs it"


@contextmanager
def started():
    """A browser with an empty profile, ended with the block."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
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
