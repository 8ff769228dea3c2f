// Bodies from the command line: `--data` (inline, a file, or standard input), overridden by flags.
// The schema of the route validates the body, as for HTTP.
import { basename } from 'node:path';
import { ValidationError } from '../../../src/platform/errors.ts';
import { isStandardInput, readInput, readText } from './files.ts';

/**
 * Reads the value of a flag such as `--html`: `@FILE`, `-` or `@-` for standard input, or the text
 * itself.
 * @throws UsageError as `readText` does.
 */
export async function textFrom(value: string): Promise<string>;
export async function textFrom(value: string | undefined): Promise<string | undefined>;
export async function textFrom(value: string | undefined): Promise<string | undefined> {
  if (value === undefined) return undefined;
  if (isStandardInput(value)) return readText(value);
  return value.startsWith('@') ? readText(value.slice(1)) : value;
}

/** Reads the JSON of `--data`, or of another flag. @throws ValidationError if it is not JSON. */
export async function readJson(data: string, flag = '--data'): Promise<unknown> {
  return parsedJson(await textFrom(data), flag);
}

/**
 * Reads a file of JSON. @throws ValidationError if it is not JSON; UsageError as `readText` does.
 */
export async function readJsonFile(name: string, flag: string): Promise<unknown> {
  return parsedJson(await readText(name), flag);
}

function parsedJson(text: string, flag: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ValidationError(`${flag}: not valid JSON: ${(error as Error).message}`);
  }
}

/**
 * Reads the object given with `--data`; returns an empty object without the flag.
 * @throws ValidationError for any other JSON value.
 */
export async function readData(data: string | undefined): Promise<Record<string, unknown>> {
  if (data === undefined) return {};
  const value = await readJson(data);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new ValidationError('--data: must be a JSON object');
}

type Entries<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Returns the object without undefined values: a missing flag must not override `--data`. */
export function given<T extends Record<string, unknown>>(values: T): Partial<Entries<T>> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Entries<T>>;
}

/**
 * Reads files to attach, with the content in Base64 as in the API; undefined without `paths`.
 * @throws UsageError for a file that cannot be read.
 */
export function attachmentsFrom(
  paths: readonly string[] | undefined,
): Promise<{ filename: string; content: string }[]> | undefined {
  const attachment = async (path: string) => {
    return { filename: basename(path), content: (await readInput(path)).toString('base64') };
  };
  return paths && Promise.all(paths.map(attachment));
}
