#!/usr/bin/env bash
# Installs the programs that some tests drive (Chromium with its driver, PostgreSQL, Node.js) where they are missing, or says in one
# sentence what to install by hand.
missing=()
if ! { command -v chromium || command -v chromium-browser; } >/dev/null 2>&1 || ! command -v chromedriver >/dev/null 2>&1; then
  missing+=(chromium chromium-driver)
fi
if ! command -v initdb >/dev/null 2>&1 && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then missing+=(postgresql); fi
command -v node >/dev/null 2>&1 || missing+=(nodejs)
[ ${#missing[@]} -eq 0 ] && exit 0
if ! command -v apt-get >/dev/null 2>&1; then
  echo "Some tests need ${missing[*]} (Debian's names), and there is no apt-get to install them: install them by hand." >&2; exit 1
fi
as_root=""; [ "$(id -u)" -eq 0 ] || as_root="sudo"
echo "Installing ${missing[*]} ..."
if ! { $as_root apt-get update -qq && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}"; } >/dev/null; then
  echo "Some tests need ${missing[*]}, and apt-get could not install them: try apt-get install ${missing[*]}." >&2; exit 1
fi
