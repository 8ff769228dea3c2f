#!/usr/bin/env node
// Installs the npm packages that package-lock.json names when they are missing or differ: `npm
// start` and `npm test` need them on a fresh clone. Runs on any Node from 18 on, before the
// install, so it imports nothing but Node. `--dev`: also the tools of the tests, beside a daemon
// that may run from this clone.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const installed = join(root, 'node_modules');
const withTools = process.argv.includes('--dev');

/** Returns the packages of a lock file by path; npm leaves a copy of that file in node_modules. */
function lockedPackages(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages;
}

/** Returns the packages that npm has installed, by path; null before the first installation. */
function presentPackages() {
  const copy = join(installed, '.package-lock.json');
  return existsSync(copy) ? lockedPackages(copy) : null;
}

/**
 * Returns the reason for an installation, or null. Packages for other platforms never count as
 * missing.
 */
function reasonToInstall(wanted, present) {
  if (present === null) return 'no packages are installed yet';
  for (const [place, entry] of Object.entries(wanted)) {
    if (place === '') continue;
    const found = present[place];
    if (found && found.version === entry.version && found.integrity === entry.integrity) continue;
    const mayBeMissing = entry.optional || entry.devOptional || (entry.dev && !withTools);
    if (!found && mayBeMissing) continue;
    return `package-lock.json wants ${place.replace(/^.*node_modules\//, '')} ${entry.version}`;
  }
  return null;
}

/**
 * Returns the words for npm. `npm ci` would first remove the packages of a daemon that runs from
 * this clone, so it serves the first installation only; `npm install --no-save` adds to the present
 * packages, and leaves both package files alone.
 */
function npmWords(wanted, present) {
  const hasTools = Object.keys(present ?? {}).some((place) => wanted[place]?.dev);
  const kinds = withTools || hasTools ? '--include=dev' : '--omit=dev';
  const verb = present === null ? ['ci'] : ['install', '--no-save'];
  // npm would warn here if the Node of the system is too old. The service and the tests run on the
  // installed Node.
  return [...verb, kinds, '--no-audit', '--no-fund', '--loglevel=error'];
}

/** Runs npm with the Node that runs npm itself: this step may replace the Node in node_modules. */
function runNpm(args) {
  const { npm_execpath: npm, npm_node_execpath: node = process.execPath, PATH = '' } = process.env;
  const ownTools = join(installed, '.bin');
  const path = PATH.split(delimiter).filter((folder) => folder !== ownTools);
  const options = {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, PATH: path.join(delimiter) },
  };
  if (npm?.endsWith('npm-cli.js') && !node.startsWith(installed)) {
    return spawnSync(node, [npm, ...args], options);
  }
  return spawnSync('npm', args, options);
}

const wanted = lockedPackages(join(root, 'package-lock.json'));
const present = presentPackages();
const reason = reasonToInstall(wanted, present);
if (reason !== null) {
  const args = npmWords(wanted, present);
  console.error(`Installing the packages of svc (${reason}): takes a minute.`);
  const { status, error } = runNpm(args);
  if (status !== 0) {
    const why = error ? `: ${error.message}` : '';
    console.error(`npm ${args[0]} failed${why}. Run it by hand to see more.`);
    process.exit(1);
  }
}
