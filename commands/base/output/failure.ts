// The end of a command after an error: the exit code, and the message as text or as the flat error
// object of the API. Only this file maps error classes to exit codes.
import {
  CapacityError,
  ConfigError,
  ServiceError,
  UnreachableError,
  ValidationError,
} from '../../../src/platform/errors.ts';
import { isUnwritable } from '../../../src/platform/store/sqlite/file-errors.ts';
import { jsonText } from '../input/json-text.ts';

/** An error in the command line itself. Exit code 2. */
export class UsageError extends Error {}

/** An expected or checked condition is not met. Exit code 8. */
export class ExpectationError extends Error {}

/** The person answered no. Exit code 1. */
export class DeclinedError extends Error {}

/** The person stopped the command at the terminal. Exit code 130. */
export class InterruptedError extends Error {}

/**
 * Turns the ValidationError of a failed check into an ExpectationError. Returns a different error
 * unchanged.
 */
export function asUnmet(error: unknown): unknown {
  if (!(error instanceof ValidationError)) return error;
  return new ExpectationError(error.message, { cause: error });
}

export const interruptedCode = 130;

const codeOfStatus = new Map([
  [400, 2],
  [401, 4],
  [402, 6],
  [403, 4],
  [404, 3],
  [409, 5],
  [413, 2],
  [415, 2],
  [422, 2],
  [429, 6],
  [502, 7],
]);

/**
 * Tells whether oclif itself refused the command line: an unknown flag, a missing argument, a value
 * outside of a list.
 */
function isOclifUsage(error: unknown): error is Error {
  return error instanceof Error && 'oclif' in error;
}

/**
 * Returns true if the store, or a file that the command writes, cannot be used now, as with a full
 * disk.
 */
function isStoreTroubled(error: unknown): boolean {
  if (error instanceof CapacityError) return /^capacity-stor(?:e|age)$/.test(error.reason);
  return isUnwritable(error);
}

/** Returns the exit code; an unknown error is an internal error, 1. */
export function exitCodeOf(error: unknown): number {
  if (isStoreTroubled(error)) return 7;
  if (error instanceof ServiceError) return codeOfStatus.get(error.status) ?? 1;
  if (error instanceof UsageError || error instanceof ConfigError || isOclifUsage(error)) return 2;
  if (error instanceof UnreachableError) return 7;
  if (error instanceof ExpectationError) return 8;
  if (error instanceof InterruptedError) return interruptedCode;
  return 1;
}

const oclifAdvice = 'See more help with --help';

function usageText({ message }: Error): string {
  const isAdvised = message.endsWith(oclifAdvice);
  const own = isAdvised ? message.slice(0, -oclifAdvice.length).trimEnd() : message;
  return own.replaceAll(/(?<!\s)\s*\n\s*/g, ' ');
}

function errorObject(error: unknown): Record<string, unknown> {
  if (error instanceof ServiceError) return error.toJSON();
  if (isOclifUsage(error)) return { _tag: 'ValidationError', message: usageText(error) };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError) return { _tag: 'ValidationError', message };
  if (error instanceof ConfigError) return { _tag: 'ConfigError', message };
  if (error instanceof UnreachableError || isUnwritable(error))
    return { _tag: 'UnreachableError', message };
  if (error instanceof ExpectationError) return { _tag: 'ExpectationError', message };
  if (error instanceof DeclinedError) return { _tag: 'DeclinedError', message };
  if (error instanceof InterruptedError) return { _tag: 'InterruptedError', message };
  return { _tag: 'InternalError', message };
}

function validationText(error: ValidationError): string {
  const { fieldErrors = {} } = error;
  // Removes "Invalid body:", which describes a request: the person typed flags and arguments.
  const message = error.message.replaceAll(/(^|; )Invalid (?:body|query|path|headers): /g, '$1');
  const lines = Object.entries(fieldErrors).map(
    ([field, texts]) => `  ${field}: ${texts.join(', ')}`,
  );
  return lines.length > 1 ? [message, ...lines].join('\n') : message;
}

function errorText(error: unknown): string {
  if (error instanceof ValidationError) return validationText(error);
  if (isOclifUsage(error)) return `${usageText(error)} ("--help" explains)`;
  if (!(error instanceof Error)) return String(error);
  // A fault of the program is reported with a stack; trouble of the store is not.
  const isKnown = error instanceof CapacityError || error instanceof DeclinedError;
  const isOurs = exitCodeOf(error) === 1 && !isKnown;
  return isOurs ? (error.stack ?? error.message) : error.message;
}

/** Tells whether the command line asks for JSON, even a command line that cannot be parsed. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}

/** Returns the text for standard error: a flat JSON object with `--json`, else text. */
export function describeError(error: unknown, argv: readonly string[]): string {
  if (wantsJson(argv)) return jsonText(errorObject(error), 2, process.stderr);
  return `svc: ${errorText(error)}`;
}
