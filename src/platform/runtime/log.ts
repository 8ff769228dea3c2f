// The log: JSON lines on standard error, with a priority in front for the journal of systemd, and
// readable lines on a terminal; never a key, a secret or a password. Callers choose the content.
// Only this file imports pino.
import { fstatSync } from 'node:fs';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { ConfigError } from '../errors.ts';

export type Logger = PinoLogger;
export type LogLevel = 'silent' | 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

interface LogOptions {
  level: LogLevel;
  /** Whether to write readable lines for a terminal instead of JSON. */
  pretty: boolean;
  /** Stream for the lines; default standard error. */
  destination?: DestinationStream;
}

const hidden = '[hidden]';
const standardError = 2;
/**
 * Most bytes kept for a stalled reader. Further lines are dropped, so that memory stays bounded.
 */
const longestBacklogBytes = 16_000_000;

const secretFields =
  'authorization|cookie|set-cookie|x-api-key|api-?key|key|private-?key|password|secret';

/**
 * Matches the value of a secret field at any depth of a JSON line: text, a number or a Buffer. This
 * costs 1 µs a line. pino's `redact` needs fixed depths and costs 12 µs for three.
 */
const secretFieldPattern = new RegExp(
  `"(${secretFields})":(?:"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|[\\d.e+-]+|\\{"type":"Buffer","data":[^{}]*\\})`,
  'gi',
);

/** Matches API keys and webhook secrets anywhere in a line. */
const secretPattern = /\b(svc_(?:live|test)_|whsec_)[0-9A-Za-z+/=]{16,}/g;

function hideSecrets(line: string): string {
  return line.replace(secretFieldPattern, `"$1":"${hidden}"`).replace(secretPattern, `$1${hidden}`);
}

/** Priorities of syslog, which the journal reads at the beginning of a line (sd-daemon(3)). */
const priorities: Readonly<Record<Exclude<LogLevel, 'silent'>, string>> = {
  fatal: '<2>',
  error: '<3>',
  warn: '<4>',
  info: '<6>',
  debug: '<7>',
  trace: '<7>',
};

/**
 * Tells whether standard error is the journal of systemd. Compares device and inode with
 * JOURNAL_STREAM, because a child with a redirected stream inherits the variable too.
 */
function isJournal(): boolean {
  const stream = process.env.JOURNAL_STREAM;
  if (!stream) return false;
  try {
    const { dev, ino } = fstatSync(standardError, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

const lineStart = '{"level":"';

/** Prefixes a line with the priority of its level. */
function withPriority(line: string): string {
  const level = line.slice(lineStart.length, line.indexOf('"', lineStart.length));
  return `${priorities[level as keyof typeof priorities] ?? ''}${line}`;
}

/**
 * Returns a failure text for standard error. For the journal, puts the priority before each line.
 */
export function fatalText(text: string): string {
  if (!isJournal()) return text;
  return text
    .split('\n')
    .map((line) => `${priorities.fatal}${line}`)
    .join('\n');
}

async function openDestination({ pretty, destination }: LogOptions): Promise<DestinationStream> {
  const plain =
    destination ??
    pino.destination({ fd: standardError, sync: false, maxLength: longestBacklogBytes });
  if (!pretty) return plain;
  const { prettyFactory } = await import('pino-pretty');
  const colorize = destination === undefined && !process.env.NO_COLOR;
  const format = prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
  return { write: (line) => plain.write(format(line)) };
}

/** Creates a logger. Lines are written in the background and flushed at exit. */
export async function createLogger(options: LogOptions): Promise<Logger> {
  const forJournal = !options.pretty && options.destination === undefined && isJournal();
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        streamWrite: forJournal ? (line) => withPriority(hideSecrets(line)) : hideSecrets,
      },
    },
    await openDestination(options),
  );
}

/**
 * Formats a failure with all causes as a text. Semicolons join the errors of an AggregateError
 * without a message.
 */
export function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const parts = failure instanceof AggregateError ? failure.errors.map(describeFailure) : [];
  const own = failure.message || parts.join('; ') || failure.name;
  return failure.cause === undefined ? own : `${own}: ${describeFailure(failure.cause)}`;
}

/** Logs the failure that ends the process. Omits the stack trace of a configuration mistake. */
export function logFatal(log: Logger, failure: unknown): void {
  const text = describeFailure(failure);
  if (failure instanceof ConfigError) log.fatal(text);
  else log.fatal({ err: failure }, text);
}
