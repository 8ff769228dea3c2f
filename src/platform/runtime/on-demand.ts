// Packages that only the daemon and a few commands need, loaded on first use, because loading
// modules takes most of the time of a short command.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Loads the YAML parser, for configuration files and rules; 70 modules. */
export function loadYaml(): typeof import('yaml') {
  return require('yaml');
}

/** Loads the metrics client; 90 modules. */
export function loadPrometheus(): typeof import('prom-client') {
  return require('prom-client');
}
