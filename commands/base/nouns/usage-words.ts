// Rewords usage errors so that they name the next step. Missing arguments and flags get an example
// that works; an unknown flag gets the nearest known flag.
import { isRequired } from '../../../src/core/api/schema-words.ts';
import { findNearest } from '../../../src/core/config/nearest.ts';
import { ValidationError } from '../../../src/platform/errors.ts';
import { UsageError } from '../output/failure.ts';

/** The declarations of a command that appear in usage errors. */
interface CommandWords {
  args?: Readonly<Record<string, unknown>>;
  flags?: Readonly<Record<string, unknown>>;
  baseFlags?: Readonly<Record<string, unknown>>;
  examples?: readonly unknown[];
  /** `fields`: the field of each derived flag. */
  operation?: { fields?: Readonly<Record<string, string>> | undefined };
}

function exampleOf({ examples = [] }: CommandWords): string {
  const [first] = examples as readonly { command?: string }[];
  return first?.command ? `: ${first.command}` : '';
}

function missing(names: readonly string[], command: CommandWords): string {
  return `give ${names.join(' and ')}${exampleOf(command)}`;
}

function unknownFlag(flag: string, { flags, baseFlags }: CommandWords): string {
  const known = Object.keys({ ...flags, ...baseFlags });
  const nearest = findNearest(flag.replace(/^-+/, ''), known);
  return `there is no flag ${flag}${nearest ? `. Did you mean --${nearest}?` : ' ("--help" lists them)'}`;
}

/** An error of oclif's parser, with the parsed command line. */
interface ParserError extends Error {
  args?: readonly { name?: string }[];
  parse?: {
    input?: { flags: Readonly<Record<string, { required?: boolean }>> };
    output?: { flags: Readonly<Record<string, unknown>> };
  };
}

/**
 * Names all missing required arguments and flags. oclif has two errors for them, and each names a
 * single kind only.
 */
function missingInputs(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const isMissing = error.message.startsWith('Missing ');
  if (!isMissing && !error.message.includes('Missing required flag')) return [];
  const { args = [], parse } = error as ParserError;
  const given = parse?.output?.flags ?? {};
  const flags = Object.entries(parse?.input?.flags ?? {}).filter(
    ([name, { required = false }]) => required && !(name in given),
  );
  return [...args.map(({ name = '' }) => `the ${name}`), ...flags.map(([name]) => `--${name}`)];
}

/** Returns the unknown flags in oclif's NonExistentFlagsError; null for a different error. */
function unknownFlags(error: unknown): string[] | null {
  const { flags } = error as { flags?: string[] };
  return error instanceof Error && error.message.startsWith('Nonexistent flag') && flags
    ? flags
    : null;
}

/** Returns the argument or flag of a field; null if only --data can set the field. */
function inputOf(field: string, { args = {}, flags = {}, operation }: CommandWords): string | null {
  if (field in args) return `the ${field}`;
  const derived = Object.entries(operation?.fields ?? {}).find(([, of]) => of === field);
  const flag = derived?.[0] ?? field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return flag in flags ? `--${flag}` : null;
}

/** Names all arguments and flags that a body of the API lacks; empty if it has a further fault. */
function lackingInputs(error: unknown, command: CommandWords): string[] {
  if (!(error instanceof ValidationError)) return [];
  const inputs = Object.entries(error.fieldErrors ?? {}).map(([field, problems]) =>
    problems.includes(isRequired) ? inputOf(field, command) : null,
  );
  return inputs.includes(null) ? [] : inputs.filter((input) => input !== null);
}

/** Rewords a usage error; returns a different error unchanged. */
export function inUsageWords(error: unknown, command: CommandWords): unknown {
  const names = missingInputs(error);
  if (names.length > 0) return new UsageError(missing(names, command), { cause: error });
  const flags = unknownFlags(error);
  if (flags) {
    const text = flags.map((flag) => unknownFlag(flag, command)).join('; ');
    return new UsageError(text, { cause: error });
  }
  const lacking = lackingInputs(error, command);
  if (lacking.length === 0) return error;
  return new ValidationError(missing(lacking, command), (error as ValidationError).fieldErrors);
}
