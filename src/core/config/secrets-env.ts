// `secrets.env` beside the configuration file: variables that the unit of systemd reads too
// (EnvironmentFile=), so that daemon and commands have the same secrets.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from './file.ts';

const fileName = 'secrets.env';

const line = /^(SVC_[A-Z0-9_]+)=(.*)$/;

function unquoted(text: string): string {
  const [quote] = text;
  const isQuoted = text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return isQuoted ? text.slice(1, -1) : text;
}

/** Tells whether the environment already sets this key, directly or by a file. */
function isGiven(env: Environment, name: string): boolean {
  const base = name.replace(/_FILE$/, '');
  return Boolean(env[base] || env[`${base}_FILE`]);
}

/**
 * Returns the variables of `secrets.env` beside a configuration file that the environment lacks.
 * Empty without the file, or if this account may not read it: systemd then reads it for the daemon.
 */
export function secretsBeside(configFile: string | null, env: Environment): Environment {
  if (configFile === null) return {};
  let text: string;
  try {
    text = readFileSync(join(dirname(configFile), fileName), 'utf8');
  } catch {
    return {};
  }
  const found = text.split('\n').flatMap((one) => {
    const [, name = '', value = ''] = line.exec(one.trim()) ?? [];
    return name === '' || isGiven(env, name) ? [] : [[name, unquoted(value)] as const];
  });
  return Object.fromEntries(found);
}
