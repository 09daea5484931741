"""The built documentation on a phone: no page is wider than the screen (tables and code scroll inside themselves)."""

from pathlib import Path

import pytest

from tests.report import browser

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
WIDTH = 390
pytestmark = [
    pytest.mark.browser,
    pytest.mark.needs("chromium"),
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="no built documentation: run `make docs` first"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
WIDER = """
const wide = [...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > arguments[0] + 1);
return [document.documentElement.scrollWidth, wide.slice(0, 3).map(e => e.tagName + " " + e.className)];
"""


@pytest.fixture(scope="module")
def phone():
    with browser.started() as driver:
        screen = {"width": WIDTH, "height": 844, "deviceScaleFactor": 2, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        yield driver


def test_no_page_is_wider_than_the_screen_of_a_phone(phone):
    pages = [path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
    assert len(pages) > 20
    wide = {}
    for path in pages:
        phone.get(f"file://{path}")
        width, culprits = phone.execute_script(WIDER, WIDTH)
        if width > WIDTH:
            wide[str(path.relative_to(SITE))] = (width, culprits)
    assert wide == {}
