#!/bin/sh
# What `npm test` runs: every check beside every test of the command, or the test files that are named, without the
# checks. The checks have a core to themselves while the tests wait, and are printed behind them.
set -e
node bin/setup.js --dev
if [ $# -gt 0 ]; then
  exec vitest run "$@"
fi
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
npm run --silent check >"$printed" 2>&1 &
checks=$!
code=0
vitest run || code=$?
if ! wait "$checks"; then
  code=1
  cat "$printed"
  echo "npm run check failed: its output is above." >&2
fi
exit "$code"
