// `messages send --wait` beside a real daemon: a line for each step of each recipient, the exit
// code, and the effect of Ctrl-C.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recipientLines } from '../../commands/base/output/follow.ts';
import type { Delivery, Message } from '../../src/outbound/messages/schema.ts';
import { finished } from '../support/cli.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';

let home: DaemonHome;
let daemon: DaemonProcess;
beforeAll(async () => {
  home = daemonHome({}, { isEmpty: true });
  daemon = await home.start();
});
afterAll(() => home.close());

function send(...args: string[]): string[] {
  return ['messages', 'send', '--subject', 'Hi', '--text', 'Hi', '--wait', ...args];
}

const to = (...names: string[]) => names.flatMap((name) => ['--to', `${name}@simulator.test`]);

it('a refused recipient beside an accepted one: a line for each, and exit code 8', async () => {
  const { code, stdout, stderr } = await home.cli.run(send(...to('delivered', 'bounced')));
  expect(code).toBe(8);
  expect(stdout).toMatch(
    /^ +\d+\.\d s {2}delivered@simulator\.test {2}delivered: simulator\.test said 250 2\.0\.0 simulated: accepted$/m,
  );
  expect(stdout).toMatch(
    /^ +\d+\.\d s {2}bounced@simulator\.test {2}bounced: simulator\.test said 550 5\.1\.1 simulated: user unknown$/m,
  );
  expect(stderr).toMatch(/msg_\w+ failed for 1 of 2 recipients: RCPT: 550 5\.1\.1/);
});

it('a deferral prints its reason and the next attempt, and ends with 8 at the time-out', async () => {
  const { code, stdout } = await home.cli.run(send(...to('deferred'), '--timeout', '3'));
  expect(code).toBe(8);
  expect(stdout).toMatch(
    /deferred@simulator\.test {2}deferred: simulator\.test said 451 4\.7\.1 simulated: try again later; attempt 2 follows 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC \(in /,
  );
});

it('captured mail is reported as captured, and ends with 0', async () => {
  const { code, stdout } = await home.cli.run(send('--to', 'ada@example.com'));
  expect(code).toBe(0);
  expect(stdout).toContain('ada@example.com  captured by delivery.mode: nothing left this machine');
  expect(stdout).toMatch(/^status +captured$/m);
  expect(stdout).toContain('captured: kept on this machine by delivery.mode; nothing was sent.');
});

it("list, show, deliveries and explain report captured mail, and --json has the API's fields", async () => {
  const args = ['--subject', 'Kept', '--text', 'Hi', '--to', 'ada@example.com', '--wait', '--json'];
  const { id, status, deliveries } = await home.cli.json<Message>(['messages', 'send', ...args]);
  expect(status).toBe('delivered');
  expect(deliveries[0]?.metadata).toEqual({ captured: { by: 'delivery.mode' } });
  for (const words of [['list'], ['show', id], ['deliveries', id]]) {
    const { stdout } = await home.cli.run(['messages', ...words]);
    expect(stdout, words.join(' ')).toContain('captured: kept on this machine by delivery.mode');
    expect(stdout, words.join(' ')).not.toMatch(/ delivered /);
  }
  expect((await home.cli.run(['messages', 'explain', id])).stdout).toContain(
    'nothing left this machine: delivery.mode is capture',
  );
  expect((await home.cli.run(['messages', 'events', id])).stdout).toContain('delivery.mode');
});

it("the start logs that no mail leaves, and the URL of the API's description", () => {
  const words = `No mail leaves this machine: it is captured (delivery.mode is capture). The API is described at ${daemon.httpUrl}/docs`;
  expect(daemon.log().map(({ msg }) => msg)).toContain(words);
});

it('Ctrl-C names the message, which is still delivered', async () => {
  const child = home.cli.start(send(...to('deferred')));
  const ended = finished(child);
  child.stdout?.on('data', (text) => {
    if (String(text).includes('deferred:')) child.kill('SIGINT');
  });
  const { code, stderr } = await ended;
  expect(code).toBe(130);
  expect(stderr).toMatch(
    /^svc: interrupted: (msg_\w{24}) is processing; the daemon delivers it without this command. Follow it: svc messages show \1$/m,
  );
});

it('a waiting recipient is reported once per reason', async () => {
  const args = ['messages', 'send', '--subject', 'Hi', '--text', 'Hi', '--to', 'ada@example.com'];
  const message = await home.cli.json<Message>([...args, '--json']);
  const linesOf = recipientLines();
  const linesWhen = (waitReason: 'rate' | 'daily-quota', dueAt: string) => {
    const scheduling = { waitReason, dueAt, expiresAt: null, hold: null };
    const waits: Partial<Delivery> = { status: 'pending', attempts: [], scheduling };
    const deliveries = message.deliveries.map((delivery) => ({
      ...delivery,
      ...waits,
      metadata: null,
    }));
    return linesOf({ ...message, deliveries }, Date.parse('2026-01-05T12:00:00Z'));
  };
  expect(linesWhen('rate', '2026-01-05T12:00:10Z')).toEqual([
    expect.stringMatching(/ {2}waits: rate, until 2026-01-05 12:00:10 UTC \(in 10 s\)$/),
  ]);
  expect(linesWhen('rate', '2026-01-05T12:00:20Z')).toEqual([]);
  expect(linesWhen('daily-quota', '2026-01-06T00:00:00Z')).toEqual([
    expect.stringMatching(/ {2}waits: daily-quota, until 2026-01-06 00:00:00 UTC \(in 12 h\)$/),
  ]);
});
