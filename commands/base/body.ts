// Bodies from the command line: `--data` (inline, a file, standard input) with flags laid over it.
// The schema of the area validates the body, as for HTTP.
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { ValidationError } from '../../src/platform/errors.ts';
import { UsageError } from './failure.ts';

/** Limit of the input: more than the largest request that HTTP accepts by default. */
const largestInputBytes = 128 * 1024 * 1024;

/** Reads a file, or standard input for `-`. @throws UsageError where it cannot be read. */
export async function readInput(name: string): Promise<Buffer> {
  const source = name === '-' ? process.stdin : createReadStream(name);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > largestInputBytes) throw new UsageError(`${name}: too large`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${name}: cannot be read (${(error as Error).message})`);
  }
  return Buffer.concat(chunks);
}

/** Reads the value of a flag such as `--html`: `@FILE`, `@-` for standard input, or the text itself. */
export async function textFrom(value: string): Promise<string>;
export async function textFrom(value: string | undefined): Promise<string | undefined>;
export async function textFrom(value: string | undefined): Promise<string | undefined> {
  if (!value?.startsWith('@')) return value;
  return (await readInput(value.slice(1))).toString('utf8');
}

/** Reads the JSON of `--data`, or of another flag. @throws ValidationError if it is not JSON. */
export async function readJson(data: string, flag = '--data'): Promise<unknown> {
  const text = data === '-' ? (await readInput('-')).toString('utf8') : await textFrom(data);
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

/** Returns the object without undefined values: an absent flag must not override `--data`. */
export function given<T extends Record<string, unknown>>(values: T): Partial<Entries<T>> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Entries<T>>;
}

/**
 * Reads files to attach, in the form of the API.
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
