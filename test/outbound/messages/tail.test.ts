// `svc messages tail`, as typed, on the store alone: a line for each message as it is sent or
// received, none for its later events.
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { cancelMessage } from '../../../src/outbound/queue/schedule/cancel.ts';
import { arrive } from '../../inbox/threads/mails.ts';
import { type CliWorkspace, cliWorkspace } from '../../support/cli.ts';
import { send, startPipeline } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let test: TestApp;
let cli: CliWorkspace;
beforeEach(async () => {
  // The command uses the clock of the machine.
  const config = { smtp: { inbound: { trustedNetworks: ['127.0.0.1'] } } };
  test = await testApp({ config, start: Date.now() });
  const { dataDir, database } = test.app.config;
  cli = cliWorkspace({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: database.url });
});
afterEach(async () => {
  cli.close();
  await test.close();
});

/**
 * Sets the standing clock of this process by that of the command: a little ahead, because the tail
 * may pass over rows written more than a second late.
 */
const keepTime = () => test.clock.advance(Date.now() + 2_000 - test.clock.now());

async function sent(subject: string): Promise<Message> {
  await keepTime();
  return send(test.app, test.operator, 'delivered@simulator.test', { email: { subject } });
}

async function came(subject: string): Promise<string> {
  await keepTime();
  return arrive(test.app, { subject });
}

interface Tail {
  /** The next line. */
  next(): Promise<string>;
  /** Presses Ctrl-C; resolves with the exit code and the unread lines. */
  stop(): Promise<{ code: number | null; rest: string[] }>;
}

/** Starts the command, which tails from now on, or from `--since`. */
function tailing(...flags: string[]): Tail {
  const child: ChildProcess = cli.start(['messages', 'tail', ...flags]);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const shown = lines[Symbol.asyncIterator]();
  return {
    next: async () => String((await shown.next()).value),
    async stop() {
      child.kill('SIGINT');
      const rest: string[] = [];
      for (let line = await shown.next(); !line.done; line = await shown.next()) {
        rest.push(line.value);
      }
      return { code: await ended, rest };
    },
  };
}

const since = ['--since', '1h'];

describe('svc messages tail', () => {
  it('shows sent and received messages once, as they come, and ends with 130 on Ctrl-C', async () => {
    const before = await sent('before');
    const tail = tailing(...since);
    expect(await tail.next()).toMatch(
      new RegExp(`^2\\S+Z  ${before.id}  \\S+  ->  delivered@simulator\\.test  before$`),
    );
    // Later events of the message get no line.
    const pipeline = await startPipeline(test.app);
    await pipeline.idle();
    await pipeline.close();
    const later = new Date(test.clock.now() + 3_600_000).toISOString();
    const words = ['--to', 'a@example.com', '--subject', 'later', '--text', 'x'];
    const scheduled = await cli.json<Message>([
      ...['messages', 'send', ...words, '--scheduled-for', later],
    ]);
    expect(await tail.next()).toContain(scheduled.id);
    await cancelMessage(test.app, test.operator, scheduled.id);
    const arrived = await came('Came\u202e in');
    expect(await tail.next()).toMatch(
      new RegExp(`^2\\S+Z  ${arrived}  ada@example\\.com  <-  inbox@sandbox\\.test  Came  ?in$`),
    );
    const last = await sent('last');
    expect(await tail.next()).toContain(last.id);
    expect(await tail.stop()).toEqual({ code: 130, rest: [] });
  });

  it.each([
    ['inbound', 'came'],
    ['outbound', 'went'],
  ])(
    'shows one direction with --direction %s, and a JSON object a line with --json',
    async (direction, subject) => {
      const tail = tailing('--json', '--direction', direction, ...since);
      await sent('went');
      await came('came');
      expect(JSON.parse(await tail.next())).toMatchObject({ direction, subject });
      await came('came');
      await sent('went');
      expect(JSON.parse(await tail.next())).toMatchObject({ direction, subject });
      expect(await tail.stop()).toEqual({ code: 130, rest: [] });
    },
  );

  it('shows earlier messages with --since alone', async () => {
    const old = await sent('old');
    expect(await tailing(...since).next()).toContain(old.id);
    const tail = tailing();
    const first = tail.next();
    let isShown = false;
    const shown = first.then(() => {
      isShown = true;
    });
    // The command may not follow yet when the first of them is sent.
    const words = ['--to', 'new@example.com', '--subject', 'new', '--text', 'x'];
    while (!isShown) await Promise.race([shown, cli.run(['messages', 'send', ...words])]);
    expect(await first).toMatch(/ {2}new@example\.com {2}new$/);
    const { code } = await tail.stop();
    expect(code).toBe(130);
  });

  it('ends with 2 on a bad flag', async () => {
    const direction = await cli.run(['messages', 'tail', '--direction', 'sideways']);
    expect([direction.code, direction.stderr]).toEqual([2, expect.stringContaining('inbound')]);
    expect((await cli.run(['messages', 'tail', '--since', 'soon'])).code).toBe(2);
  });
});
