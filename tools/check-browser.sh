#!/usr/bin/env bash
# Makes sure that a headless Chromium and its driver are there, or says in one sentence what is missing.
if { command -v chromium || command -v chromium-browser; } >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1; then exit 0; fi
if ! command -v apt-get >/dev/null 2>&1; then
  echo "The browser tests need Chromium and chromedriver, and there is no apt-get to install them: install both by hand." >&2; exit 1
fi
as_root=""; [ "$(id -u)" -eq 0 ] || as_root="sudo"
if ! $as_root apt-get install -y -qq chromium chromium-driver >/dev/null; then
  echo "The browser tests need Chromium and chromedriver, and apt-get could not install them: try apt-get install chromium chromium-driver." >&2; exit 1
fi
