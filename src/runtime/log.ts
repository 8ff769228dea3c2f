// The log: JSON lines on standard error, readable ones on a terminal; never a
// key, a secret or a password. What is logged, and when, is up to each part. Doorway to pino.
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { ConfigError } from '../errors.ts';

export type Logger = PinoLogger;
export type LogLevel = 'silent' | 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

interface LogOptions {
  level: LogLevel;
  /** Readable lines instead of JSON: when standard error is a terminal. */
  pretty: boolean;
  /** Where the lines go; standard error when left out. */
  destination?: DestinationStream;
}

const hidden = '[hidden]';
const standardError = 2;
/** A reader that stalls costs lines beyond this, never the service its memory or its pace. */
const longestBacklogBytes = 16_000_000;

const secretFields =
  'authorization|cookie|set-cookie|x-api-key|api-?key|key|private-?key|password|secret';

/**
 * The value of such a field at any depth of a JSON line: text, a number or a Buffer. Done on the
 * line, which costs 1 µs; pino's `redact` reaches fixed depths only and costs 12 µs for three.
 */
const secretFieldPattern = new RegExp(
  `"(${secretFields})":(?:"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|[\\d.e+-]+|\\{"type":"Buffer","data":[^}]*\\})`,
  'gi',
);

/** API keys and webhook secrets wherever they stand in a line. */
const secretPattern = /\b(svc_(?:live|test)_|whsec_)[0-9A-Za-z+/=]{16,}/g;

function hideSecrets(line: string): string {
  return line.replace(secretFieldPattern, `"$1":"${hidden}"`).replace(secretPattern, `$1${hidden}`);
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

/** A logger; lines are written in the background and flushed when the process exits. */
export async function createLogger(options: LogOptions): Promise<Logger> {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: hideSecrets },
    },
    await openDestination(options),
  );
}

/** A failure as one text with its causes; several at once are joined by a semicolon. */
export function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const parts = failure instanceof AggregateError ? failure.errors.map(describeFailure) : [];
  const own = failure.message || parts.join('; ') || failure.name;
  return failure.cause === undefined ? own : `${own}: ${describeFailure(failure.cause)}`;
}

/** Logs what ends the process. A mistake in the configuration needs no stack trace. */
export function logFatal(log: Logger, failure: unknown): void {
  const text = describeFailure(failure);
  if (failure instanceof ConfigError) log.fatal(text);
  else log.fatal({ err: failure }, text);
}
