// Packages that the daemon needs and few commands do, loaded by who comes to need them: to load modules
// is most of what a short command costs.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** For configuration files and rules; 70 modules. */
export function loadYaml(): typeof import('yaml') {
  return require('yaml');
}

/** For metrics; 90 modules. */
export function loadPrometheus(): typeof import('prom-client') {
  return require('prom-client');
}
