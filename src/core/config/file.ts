// Finds and reads the configuration file: look-up order, YAML to plain values, and the line of
// every key. schema.ts validates the values. An error here never quotes the file, as the line may
// contain a password.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { Document, Node } from 'yaml';
import { ConfigError, codeOf } from '../../platform/errors.ts';
import { loadYaml } from '../../platform/runtime/on-demand.ts';
import { decodeUtf8 } from '../../platform/runtime/utf8.ts';

const largestFileBytes = 1_000_000;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigFile {
  path: string;
  /** Path as shown in origins: relative if the file is below the working directory. */
  shownAs: string;
  values: Record<string, unknown>;
  /**
   * Returns the position of the deepest part of `path` in the file: the value, or with `ofKey` the
   * key. Lines and columns count from 1; `complete` is true if the whole path exists.
   */
  locate(path: readonly PropertyKey[], ofKey?: boolean): FilePosition;
}

interface FilePosition {
  line: number;
  col: number;
  complete: boolean;
}

/** Returns the text of the file, or undefined if it does not exist. */
function readIfThere(path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw new ConfigError(`${path}: cannot be read (${codeOf(error)})`, { cause: error });
  }
  try {
    const found = fstatSync(descriptor);
    if (found.isDirectory()) throw new ConfigError(`${path}: is a directory, expected a file`);
    if (found.size > largestFileBytes) {
      throw new ConfigError(`${path}: larger than ${largestFileBytes} bytes`);
    }
    const decoded = decodeUtf8(readFileSync(descriptor));
    if ('text' in decoded) return decoded.text;
    throw new ConfigError(`${path}: ${decoded.problem}: save it as UTF-8`);
  } finally {
    closeSync(descriptor);
  }
}

const largestSecretBytes = 65_536;

/**
 * Reads a file that holds a single secret, and drops the line end. Returns the problem if it cannot
 * be read.
 */
export function readSecretFile(path: string): { text: string } | { problem: string } {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const found = fstatSync(descriptor);
    if (!found.isFile()) return { problem: 'expected a file' };
    if (found.size > largestSecretBytes) {
      return { problem: `larger than ${largestSecretBytes} bytes` };
    }
    const decoded = decodeUtf8(readFileSync(descriptor));
    if ('problem' in decoded) return decoded;
    const text = decoded.text.replace(/\r?\n$/, '');
    return text === '' ? { problem: 'the file is empty' } : { text };
  } catch (error) {
    const isMissing = codeOf(error) === 'ENOENT';
    return { problem: isMissing ? 'there is no such file' : `cannot be read (${codeOf(error)})` };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function shortPath(path: string, cwd: string): string {
  const fromHere = relative(cwd, path);
  return fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere;
}

/** Returns the default places of a configuration file, in the order of their precedence. */
export function usualPlaces(env: Environment, cwd: string): string[] {
  const xdg = env.XDG_CONFIG_HOME;
  const userConfig = xdg && isAbsolute(xdg) ? xdg : join(env.HOME || homedir(), '.config');
  return [join(cwd, 'config.yaml'), join(userConfig, 'svc/config.yaml'), '/etc/svc/config.yaml'];
}

/**
 * Returns the first configuration file in this order: `file` (--config), $SVC_CONFIG, then the
 * usual places; null if all are missing.
 * @throws ConfigError if a named file is missing, or a file cannot be read or is not YAML
 */
export function findConfigFile(
  file: string | undefined,
  env: Environment,
  cwd: string,
): ConfigFile | null {
  const named = file ?? (env.SVC_CONFIG || undefined);
  for (const place of named === undefined ? usualPlaces(env, cwd) : [resolve(cwd, named)]) {
    const text = readIfThere(place);
    if (text !== undefined) return parseConfigFile(place, shortPath(place, cwd), text);
  }
  if (named === undefined) return null;
  const by = file === undefined ? 'SVC_CONFIG' : '--config';
  throw new ConfigError(`${resolve(cwd, named)}: there is no such file (named by ${by})`);
}

const syntaxErrors: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'a value that starts with *, & or ! must be quoted',
  BAD_INDENT: 'wrong indentation, or a bracket that is not closed',
  BAD_SCALAR_START: 'a value that starts with this character must be quoted',
  DUPLICATE_KEY: 'this key occurs twice in its map',
  MULTIPLE_DOCS: 'more than one YAML document in the file',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
  TAG_RESOLVE_FAILED: 'a value that starts with *, & or ! must be quoted',
};

function findSyntaxErrors(document: Document.Parsed): { offset: number; code: string }[] {
  const faults = [...document.errors, ...document.warnings].map((error) => ({
    offset: error.pos[0],
    code: String(error.code),
  }));
  loadYaml().visit(document, {
    Alias(_, alias) {
      if (!alias.resolve(document))
        faults.push({ offset: alias.range?.[0] ?? 0, code: 'BAD_ALIAS' });
    },
  });
  return faults;
}

function parseConfigFile(path: string, shownAs: string, text: string): ConfigFile {
  const { LineCounter, parseDocument } = loadYaml();
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, stringKeys: true });
  const lines = findSyntaxErrors(document).map(({ offset, code }) => {
    const { line, col } = lineCounter.linePos(offset);
    return `${path}:${line}:${col}: ${syntaxErrors[code] ?? `not valid YAML (${code})`}`;
  });
  if (lines.length > 0) throw new ConfigError(lines.join('\n'));
  const values = plainValues(document, path);
  return {
    path,
    shownAs,
    values,
    locate(keys, ofKey = false) {
      const { offset, complete } = offsetOf(document, keys, ofKey);
      return { ...lineCounter.linePos(offset), complete };
    },
  };
}

function plainValues(document: Document.Parsed, path: string): Record<string, unknown> {
  const { isMap, isScalar } = loadYaml();
  if (document.contents === null) return {};
  if (isScalar(document.contents) && document.contents.value === null) return {};
  if (!isMap(document.contents)) {
    throw new ConfigError(`${path}:1:1: expected a map of keys, such as "http:"`);
  }
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new ConfigError(`${path}: too many aliases`, { cause: error });
  }
}

function offsetOf(document: Document.Parsed, keys: readonly PropertyKey[], ofKey: boolean) {
  const { isAlias, isMap, isScalar, isSeq } = loadYaml();
  let node: Node | null = document.contents;
  let offset = 0;
  for (const [depth, key] of keys.entries()) {
    const container: unknown = isAlias(node) ? node.resolve(document) : node;
    const last = depth === keys.length - 1;
    if (isMap<Node, Node | null>(container)) {
      const pair = container.items.find((each) => isScalar(each.key) && each.key.value === key);
      if (!pair) return { offset, complete: false };
      node = pair.value;
      offset = (ofKey && last ? pair.key : (node ?? pair.key)).range?.[0] ?? offset;
    } else {
      const entry = isSeq<Node>(container) ? container.items[Number(key)] : undefined;
      if (!entry) return { offset, complete: false };
      node = entry;
      offset = entry.range?.[0] ?? offset;
    }
  }
  return { offset, complete: true };
}
