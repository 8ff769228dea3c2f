// The SVC_ variables (contract 1, "environment"): which key each one means and how its text is read.
// Whether the value fits is decided with the rest (schema.ts).
import type { Environment } from './file.ts';
import { type ConfigKey, configKeys } from './keys.ts';
import { findNearest } from './nearest.ts';

/** Variables that the launcher and the commands read themselves. */
const otherVariables: readonly string[] = ['SVC_CONFIG', 'SVC_ORG', 'SVC_API_KEY'];

const numberPattern = /^-?\d+(\.\d+)?$/;

/** Text that cannot be what the key holds stays text: validation then says what was expected. */
function readValue(key: ConfigKey, text: string): unknown {
  if (key.nullable && text === 'null') return null;
  if (key.form === 'text') return text;
  if (key.form === 'number') return numberPattern.test(text) ? Number(text) : text;
  if (key.form === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function unknownVariable(name: string): string {
  const nearest = findNearest(name, [...configKeys.map((key) => key.variable), ...otherVariables]);
  return `${name}: is not the variable of any key${nearest ? `; did you mean ${nearest}?` : ''}`;
}

/**
 * The keys that the environment sets, and one line for each SVC_ variable that means nothing.
 * An empty variable counts as not set; `null` is the null of a key that may be null.
 */
export function readEnvironment(env: Environment): {
  settings: { key: ConfigKey; value: unknown }[];
  problems: string[];
} {
  const settings = configKeys.flatMap((key) => {
    const text = env[key.variable];
    return text ? [{ key, value: readValue(key, text) }] : [];
  });
  const known = new Set([...configKeys.map((key) => key.variable), ...otherVariables]);
  const problems = Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && !known.has(name))
    .map(unknownVariable);
  return { settings, problems };
}
