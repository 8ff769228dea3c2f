// Reads the files of a template besides HTML: template.yaml, contract.json, sample.json. Finds the
// body and the partials. Pure.
import { loadYaml } from '../../../platform/runtime/on-demand.ts';
import type { CompiledTemplate, TemplateFiles } from '../compiled.ts';
import { TemplateProblem } from '../problem.ts';

/** Settings of `template.yaml`. */
export type Settings = Pick<
  CompiledTemplate,
  'subject' | 'preheader' | 'brand' | 'priority' | 'allowRawHtml'
>;

const settingsPath = 'template.yaml';
/** Most characters of `template.yaml`: the time of the parser is not linear in open brackets. */
const mostSettings = 16 * 1024;
const mostSubject = 2000;
const mostPreheader = 2000;

type Check = (value: unknown) => string | null;

const lineOf =
  (most: number): Check =>
  (value) => {
    if (typeof value !== 'string') return 'is text: put it in quotes';
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused.
    if (/[\u0000-\u001f\u007f]/.test(value)) return 'is one line without control characters';
    return value.length > most ? `has at most ${most} characters` : null;
  };

const checks: Readonly<Record<string, Check>> = {
  subject: lineOf(mostSubject),
  preheader: lineOf(mostPreheader),
  brand: (value) =>
    typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,99}$/.test(value)
      ? null
      : 'is the slug of a brand',
  priority: (value) =>
    value === 'high' || value === 'normal' || value === 'low' ? null : 'is high, normal or low',
  allowRawHtml: (value) => (typeof value === 'boolean' ? null : 'is true or false'),
};

/**
 * Returns the message for an error of YAML. Replaces two messages of the parser: MULTIPLE_DOCS
 * names a function of the parser, and DUPLICATE_KEY speaks of map keys.
 */
function wordsOf({ code, message }: { code: string; message: string }): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins: remove its --- and all below';
  return code === 'DUPLICATE_KEY' ? 'a setting is given twice: remove one' : message;
}

/**
 * Reads `template.yaml`.
 * @throws TemplateProblem at the first mistake
 */
export function readSettings(files: TemplateFiles): Settings {
  const text = files[settingsPath];
  if (text === undefined)
    throw new TemplateProblem(settingsPath, null, 'is missing: it has the subject');
  if (text.length > mostSettings) {
    throw new TemplateProblem(settingsPath, null, `has at most ${mostSettings / 1024} KB`);
  }
  const { parseDocument, LineCounter, isMap, isScalar } = loadYaml();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fault = (at: number | undefined, message: string) =>
    new TemplateProblem(settingsPath, at === undefined ? null : lines.linePos(at).line, message);
  const [error] = document.errors;
  if (error) throw fault(error.pos[0], wordsOf(error));
  if (!isMap(document.contents)) throw fault(0, 'is a map, such as "subject: Hello"');
  const found = new Map<string, unknown>();
  for (const { key, value } of document.contents.items) {
    const at = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    const name = isScalar(key) ? String(key.value) : '';
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) {
      const known = Object.keys(checks).join(', ');
      throw fault(at, `${name.slice(0, 100)} is unknown: there are ${known}`);
    }
    // A setting must be a scalar: otherwise an alias could stand for a large tree.
    const plain = value === null ? null : isScalar(value) ? value.value : undefined;
    if (plain === null && name !== 'subject' && name !== 'allowRawHtml') continue;
    const problem = check(plain);
    if (problem !== null) throw fault(at, `${name} ${problem}`);
    found.set(name, plain);
  }
  const subject = found.get('subject');
  if (typeof subject !== 'string' || subject.trim() === '')
    throw fault(undefined, 'subject is missing');
  const { preheader = null, brand = null, priority = null } = Object.fromEntries(found);
  return {
    subject,
    preheader: preheader as string | null,
    brand: brand as string | null,
    priority: priority as Settings['priority'],
    allowRawHtml: found.get('allowRawHtml') === true,
  };
}

/** Returns the line of an error of `JSON.parse`; null if the error has no position. */
function lineOfJson(error: unknown, text: string): number | null {
  const [, position] = /at position (\d+)/.exec(String(error)) ?? [];
  return position === undefined ? null : text.slice(0, Number(position)).split('\n').length;
}

/**
 * Reads a JSON file; returns null if it is missing.
 * @throws TemplateProblem if it has no object
 */
export function readJson(files: TemplateFiles, path: string): Record<string, unknown> | null {
  const text = files[path];
  if (text === undefined) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch (error) {
    throw new TemplateProblem(path, lineOfJson(error, text), 'is not JSON');
  }
  throw new TemplateProblem(path, 1, 'is a JSON object');
}

export interface Body {
  kind: 'mjml' | 'html';
  path: string;
}

/**
 * Returns the body file, or null if the template has `body.txt` only.
 * @throws TemplateProblem
 */
export function findBody(files: TemplateFiles): Body | null {
  const hasMjml = files['body.mjml'] !== undefined;
  const hasHtml = files['body.html'] !== undefined;
  if (hasMjml && hasHtml) {
    throw new TemplateProblem('body.html', null, 'there is body.mjml too: keep one of them');
  }
  if (hasMjml) return { kind: 'mjml', path: 'body.mjml' };
  if (hasHtml) return { kind: 'html', path: 'body.html' };
  if (files['body.txt'] !== undefined) return null;
  throw new TemplateProblem(
    'body.html',
    null,
    'is missing: a template has body.mjml, body.html or body.txt',
  );
}

export type PartialKind = 'mjml' | 'html' | 'liquid';

export interface PartialFile {
  kind: PartialKind;
  path: string;
}

/**
 * Returns the partials by their names, such as `header` of `partials/header.mjml`.
 * @throws TemplateProblem if two files have the same name
 */
export function findPartials(files: TemplateFiles): Map<string, PartialFile> {
  const found = new Map<string, PartialFile>();
  for (const path of Object.keys(files)) {
    const [, name, kind] = /^partials\/(.+)\.(mjml|html|liquid)$/.exec(path) ?? [];
    if (name === undefined || kind === undefined) continue;
    const other = found.get(name);
    if (other)
      throw new TemplateProblem(path, null, `${other.path} has the same name: rename one of them`);
    found.set(name, { kind: kind as PartialKind, path });
  }
  return found;
}
