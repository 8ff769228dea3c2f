// Rewords usage errors so that they name the next step: the missing argument with an example that
// works, or the flag that was probably meant.
import { findNearest } from '../../src/core/config/nearest.ts';
import { ValidationError } from '../../src/platform/errors.ts';
import { UsageError } from './failure.ts';

/** The declarations of a command from which its usage errors are worded. */
interface CommandWords {
  args?: Readonly<Record<string, unknown>>;
  flags?: Readonly<Record<string, unknown>>;
  baseFlags?: Readonly<Record<string, unknown>>;
  examples?: readonly unknown[];
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

/** Returns the arguments that oclif's RequiredArgsError reports as missing. */
function missingArgs(error: unknown): string[] | null {
  const { args } = error as { args?: { name?: string }[] };
  if (!(error instanceof Error) || !error.message.startsWith('Missing ') || !args) return null;
  return args.map(({ name = '' }) => `the ${name}`);
}

/** Returns the flags that oclif's NonExistentFlagsError reports as unknown. */
function unknownFlags(error: unknown): string[] | null {
  const { flags } = error as { flags?: string[] };
  return error instanceof Error && error.message.startsWith('Nonexistent flag') && flags
    ? flags
    : null;
}

/** Names the argument or flag that a body of the API lacks, if this is its only fault. */
function lackingInput(error: unknown, { args = {}, flags = {} }: CommandWords): string | null {
  if (!(error instanceof ValidationError)) return null;
  const [[field = '', problems = []] = [], ...others] = Object.entries(error.fieldErrors ?? {});
  const isLacking = problems.some((text) => text.endsWith('received undefined'));
  if (!isLacking || others.length > 0) return null;
  if (field in args) return `the ${field}`;
  const flag = field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return flag in flags ? `--${flag}` : null;
}

/** Rewords a usage error; returns any other error unchanged. */
export function inUsageWords(error: unknown, command: CommandWords): unknown {
  const names = missingArgs(error);
  if (names) return new UsageError(missing(names, command), { cause: error });
  const flags = unknownFlags(error);
  if (flags) {
    const text = flags.map((flag) => unknownFlag(flag, command)).join('; ');
    return new UsageError(text, { cause: error });
  }
  const lacking = lackingInput(error, command);
  if (lacking === null) return error;
  return new ValidationError(missing([lacking], command), (error as ValidationError).fieldErrors);
}
