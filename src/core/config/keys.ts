// Lists the keys of the configuration, derived from the schema: path, environment variable, default
// and single-line reason. Loading, the example file and `config show` use this list, so none can
// miss a key.
import { z } from 'zod';
import { configSchema, secretKeys } from './schema.ts';

/** A key of the configuration with a value; a section is not a key. */
export interface ConfigKey {
  /** Dotted path: `http.port`. */
  path: string;
  /** Environment variable: `SVC_HTTP_PORT`. */
  variable: string;
  defaultValue: unknown;
  /** Reason for the key in a single line, for the example file. */
  reason: string;
  /** Form in which an environment variable is parsed. */
  form: 'text' | 'number' | 'boolean' | 'json';
  nullable: boolean;
  /** Names of the fields in each entry of a list or map; empty for all remaining keys. */
  entryNames: string[];
}

export interface ConfigSection {
  path: string;
  reason: string;
  entries: (ConfigKey | ConfigSection)[];
}

/** Returns true if `path` is `prefix` or below it. */
function liesUnder(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}.`);
}

/** Returns true if the value at `path`, or any value above or below it, is secret. */
export function isSecret(path: string): boolean {
  return secretKeys.some((secret) => liesUnder(path, secret) || liesUnder(secret, path));
}

/** Converts `smtp.inbound.tls.certFile` to `SVC_SMTP_INBOUND_TLS_CERT_FILE`. */
function variableOf(path: string): string {
  return `SVC_${path
    .replace(/([A-Z])/g, '_$1')
    .replaceAll('.', '_')
    .toUpperCase()}`;
}

function formOf(schema: unknown): ConfigKey['form'] {
  if (schema instanceof z.ZodNumber) return 'number';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum) return 'text';
  return 'json';
}

function entryNamesOf(schema: unknown): string[] {
  if (schema instanceof z.ZodArray) return entryNamesOf(schema.element);
  if (schema instanceof z.ZodRecord) return entryNamesOf(schema.valueType);
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return [];
  return [...new Set(schema.options.flatMap(entryNamesOf))];
}

function readKey(path: string, schema: unknown): ConfigKey {
  if (!(schema instanceof z.ZodDefault)) throw new TypeError(`${path} has no default`);
  const inner = schema.unwrap();
  const nullable = inner instanceof z.ZodNullable;
  return {
    path,
    variable: variableOf(path),
    defaultValue: schema.def.defaultValue,
    reason: schema.description ?? '',
    form: formOf(nullable ? inner.unwrap() : inner),
    nullable,
    entryNames: entryNamesOf(inner),
  };
}

function readSection(path: string, reason: string, object: z.ZodObject): ConfigSection {
  const entries = Object.entries(object.shape).map(([name, schema]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const inner = schema instanceof z.ZodPrefault ? schema.unwrap() : undefined;
    return inner instanceof z.ZodObject
      ? readSection(at, (schema as z.ZodType).description ?? '', inner)
      : readKey(at, schema);
  });
  return { path, reason, entries };
}

function flatten(section: ConfigSection): ConfigKey[] {
  return section.entries.flatMap((entry) => ('entries' in entry ? flatten(entry) : [entry]));
}

/** All keys in their order, nested in their sections. */
export const configTree: ConfigSection = readSection('', '', configSchema);

/** All keys in their order, as a flat list. */
export const configKeys: readonly ConfigKey[] = flatten(configTree);

/**
 * Returns the key that holds `path`: the key itself, or the list or map around it. Undefined for an
 * unknown path.
 */
export function findKeyHolding(path: string): ConfigKey | undefined {
  return configKeys.find((key) => liesUnder(path, key.path));
}
