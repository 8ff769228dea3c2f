// What is wrong with a configuration, as lines for the person who wrote it: where, which key, what
// was found, what is expected. A secret is never quoted. Decides nothing about validity.
import type { z } from 'zod';
import { configKeys, findKeyHolding, isSecret } from './keys.ts';
import { findNearest } from './nearest.ts';

type Issue = z.core.$ZodIssue;

/** Where the value at a path comes from: `config.yaml:3:9`, `SVC_HTTP_PORT`. */
export type Locate = (path: readonly PropertyKey[], ofKey?: boolean) => string;

const longestQuote = 60;

function describeFound(value: unknown, secret: boolean): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const kind = typeof value === 'string' ? 'text' : `a ${typeof value}`;
  if (secret) return `${kind} (not shown)`;
  if (typeof value !== 'string') return String(value);
  const quoted = value.length > longestQuote ? `${value.slice(0, longestQuote)}…` : value;
  return JSON.stringify(quoted);
}

/** The names that may stand next to an unknown one. */
function siblingsOf(section: string): string[] {
  const prefix = section === '' ? '' : `${section}.`;
  const names = configKeys
    .filter((key) => key.path.startsWith(prefix))
    .map((key) => key.path.slice(prefix.length).split('.', 1)[0] ?? '');
  return [...new Set(names)];
}

function suggestKey(section: string, name: string): string {
  const holder = findKeyHolding(section);
  if (holder) return `; expected one of ${holder.entryNames.join(', ')}`;
  const siblings = siblingsOf(section);
  const prefix = section === '' ? '' : `${section}.`;
  const sibling = findNearest(name, siblings);
  if (sibling !== undefined) return `; did you mean ${prefix}${sibling}?`;
  const paths = configKeys.map((key) => key.path);
  const elsewhere =
    paths.find((path) => path.endsWith(`.${name}`)) ?? findNearest(`${prefix}${name}`, paths);
  if (elsewhere !== undefined) return `; did you mean ${elsewhere}?`;
  return `; expected one of ${siblings.join(', ')}`;
}

function unknownKeys(path: readonly PropertyKey[], keys: string[], locate: Locate): string[] {
  const section = path.join('.');
  return keys.map((name) => {
    const full = section === '' ? name : `${section}.${name}`;
    return `${locate([...path, name], true)}: ${full}: unknown key${suggestKey(section, name)}`;
  });
}

/** One line per mistake that the schema found. */
export function describeIssue(issue: Issue, locate: Locate): string[] {
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.path, issue.keys, locate);
  const path = issue.path.join('.');
  if (issue.code === 'invalid_key') {
    const expected = issue.issues[0]?.message ?? 'another name';
    return [`${locate(issue.path, true)}: ${path}: expected ${expected}`];
  }
  const where = locate(issue.path);
  const key = findKeyHolding(path);
  const asJson = where.startsWith('SVC_') && key?.form === 'json' && key.path === path;
  const found = describeFound(issue.input, isSecret(path));
  return [
    `${where}: ${path}: found ${found}, expected ${issue.message}${asJson ? ', as JSON' : ''}`,
  ];
}
