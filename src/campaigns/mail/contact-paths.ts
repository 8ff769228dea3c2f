// Finds the contact values that a content reads. A message stores only these values.
import type { CompiledTemplate } from '../../content/rendering/compiled.ts';

/** Paths of at most two names, such as `firstName` and `location.city`; null for all values. */
export type ContactPaths = readonly string[] | null;

const ends: Readonly<Record<string, string>> = { '{{': '}}', '{%': '%}' };
const name = '[A-Za-z_][\\w-]*';
const read = new RegExp(`(?<![\\w.-])contact(?![\\w-])((?:\\s*\\.\\s*${name}){1,2})?`, 'g');

/**
 * Finds the tags of Liquid. Does not search again for an end that was not found, so it takes linear
 * time.
 */
function* tagsIn(text: string): Generator<string> {
  const start = /\{[{%]/g;
  const missing = new Set<string>();
  for (let found = start.exec(text); found; found = start.exec(text)) {
    const [open] = found;
    const close = ends[open] ?? '';
    const end = missing.has(open) ? -1 : text.indexOf(close, start.lastIndex);
    if (end < 0) {
      missing.add(open);
      start.lastIndex = found.index + 1;
    } else {
      start.lastIndex = end + close.length;
      yield text.slice(found.index, start.lastIndex);
    }
  }
}

/**
 * Returns the contact values that a content reads: null (all values) for content that uses
 * `contact` as a whole, or computes a name.
 */
export function contactPathsIn(compiled: CompiledTemplate): ContactPaths {
  const { subject, preheader, html, text, partials, textPartials } = compiled;
  const texts = [subject, preheader, html, text];
  const found = new Set<string>();
  for (const one of [...texts, ...Object.values(partials), ...Object.values(textPartials)]) {
    for (const liquid of tagsIn(one ?? '')) {
      for (const [, path] of liquid.matchAll(read)) {
        if (path === undefined) return null;
        found.add(path.replaceAll(/\s/g, '').slice(1));
      }
    }
  }
  return [...found].sort();
}

type Values = Readonly<Record<string, unknown>>;

/** Returns the values of a contact that the paths name. Leaves out null values. */
export function pickedFrom(contact: Values, paths: ContactPaths): Values {
  if (paths === null) return contact;
  const picked: Record<string, unknown> = {};
  for (const path of paths) {
    const [first = '', second] = path.split('.');
    const value = Object.hasOwn(contact, first) ? contact[first] : null;
    if (value === null || value === undefined) continue;
    const isWhole = second === undefined || Array.isArray(value) || typeof value !== 'object';
    if (isWhole) picked[first] = value;
    else picked[first] = { ...(picked[first] as Values | undefined), ...part(value, second) };
  }
  return picked;
}

function part(value: object, key: string): Values {
  const found = Object.hasOwn(value, key) ? (value as Values)[key] : null;
  return found === null || found === undefined ? {} : { [key]: found };
}
