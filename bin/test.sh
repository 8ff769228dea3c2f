#!/bin/sh
# What `npm test` runs: every check and every test, or the test files that are named, without the checks.
set -e
if [ $# -eq 0 ]; then
  npm run --silent check
else
  node bin/setup.js --dev
fi
exec vitest run "$@"
