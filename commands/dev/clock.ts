// `svc dev clock`. daemon/http/paths/dev-clock.ts moves the clock in the daemon.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Args } from '@oclif/core';
import type { FieldErrors } from '../../src/platform/errors.ts';
import type { ClockState } from '../../src/service/virtual-clock/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { keptAlive } from '../base/keep-alive.ts';
import { UsageError } from '../base/output/failure.ts';
import { print } from '../base/output/output.ts';
import { readStoreConfig } from '../base/session.ts';

const moves: readonly string[] = ['advance', 'to', 'follow'];

export default class DevClock extends BaseCommand {
  static override summary = 'Show or move the virtual clock of the daemon';

  static override description =
    'For a daemon with --clock virtual. "advance" and "to" play all that falls due on the way, and return when ' +
    'it has settled: retries, schedules, snoozes, warming, webhooks, sweeps. "follow" lets time pass at its ' +
    'real pace, until the next advance.';

  static override examples = [
    { description: 'Show the time', command: 'svc dev clock' },
    { description: 'Move it by three days', command: 'svc dev clock advance 3d' },
    { description: 'Move it to a time', command: 'svc dev clock to 2026-04-01T08:00:00Z' },
    { description: 'Let it pass at the pace of real time', command: 'svc dev clock follow' },
  ];

  static override args = {
    move: Args.string({
      description: 'advance, to or follow; without it the time is shown',
    }),
    time: Args.string({ description: 'A duration such as 3d for advance, an instant for to' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DevClock);
    const body = bodyOf(args.move, args.time);
    const { config } = await readStoreConfig(flags);
    const state = await keptAlive(() => ask(config.dataDir, body));
    await print(flags, state, () => state.now);
  }
}

/** Returns the body of the request; undefined to read the time. @throws UsageError */
function bodyOf(move: string | undefined, time: string | undefined): object | undefined {
  if (move === undefined) return undefined;
  if (!moves.includes(move)) throw new UsageError(`${move}: expected ${moves.join(', ')}`);
  if (move === 'follow') {
    if (time !== undefined) throw new UsageError('follow: takes no time');
    return { follow: true };
  }
  if (time === undefined) {
    throw new UsageError(`${move}: give ${move === 'to' ? 'an instant' : 'a duration such as 3d'}`);
  }
  return { [move]: time };
}

/** The state of the clock, or the refusal of a daemon. */
type Answer = ClockState & { message: string; fields?: FieldErrors };

/** @throws UnreachableError without a daemon; the daemon's own refusal */
async function ask(dataDir: string, body: object | undefined): Promise<ClockState> {
  const { readClockFile } = await import('../../src/service/virtual-clock/clock-file.ts');
  const { UnreachableError, ValidationError, messageOf } = await import(
    '../../src/platform/errors.ts'
  );
  const file = readClockFile(dataDir);
  if (file?.url == null) {
    throw new UnreachableError(
      `No daemon with a virtual clock runs on ${dataDir}: start one with "svc daemon --clock virtual"`,
    );
  }
  const { status, answer } = await post(`${file.url}/dev/clock`, file.token ?? '', body).catch(
    (error: unknown) => {
      throw new UnreachableError(`The daemon at ${file.url} does not answer: ${messageOf(error)}`);
    },
  );
  if (status === 200) return answer;
  if (status === 422) throw new ValidationError(answer.message, answer.fields);
  throw new UnreachableError(`The daemon at ${file.url} answers ${status}: ${answer.message}`);
}

/** Sends the request without a time-out: after a move by years, the due work may take minutes. */
async function post(
  url: string,
  token: string,
  body: object | undefined,
): Promise<{ status: number; answer: Answer }> {
  const asked = request(url, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  const answered = Promise.withResolvers<import('node:http').IncomingMessage>();
  asked.once('response', answered.resolve);
  asked.once('error', answered.reject);
  asked.end(body && JSON.stringify(body));
  const response = await answered.promise;
  return { status: response.statusCode ?? 0, answer: JSON.parse(await text(response)) };
}
