// Metrics that alert a person: the figures of a real daemon, also for mail sent by command.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { daemonHome, until } from '../support/daemon-process.ts';

const home = daemonHome();
afterAll(() => home.close());

it('a daemon shows the findings of the examination before its start', async () => {
  await home.makeStore();
  const store = new DatabaseSync(join(home.cli.env.SVC_DATA_DIR ?? '', 'svc.db'));
  store.exec("insert into service_findings values ('disk', 'fail', '0.1 GB are free', 0)");
  store.close();
  const daemon = await home.start();
  const metrics = await (await fetch(`${daemon.httpUrl}/metrics`)).text();
  expect(metrics).toContain('\nsvc_service_findings{check="disk"} 2\n');
  expect((await daemon.stop()).code).toBe(0);
});

it('a daemon measures its queue, and counts the mail of a command', async () => {
  const daemon = await home.start();
  const metrics = async () => (await fetch(`${daemon.httpUrl}/metrics`)).text();
  const shows = (line: string) =>
    until(async () => (await metrics()).includes(`\n${line}\n`), line);
  await shows('svc_queue_deliveries{reason="retry"} 0');
  await shows('svc_queue_oldest_seconds{reason="ready"} 0');
  const args = ['messages', 'send', '--to', 'ada@example.com', '--subject', 'Hi', '--text', 'Hi'];
  expect((await home.cli.run(args)).code).toBe(0);
  await shows('svc_messages_accepted_total{direction="outbound",via="command"} 1');
  expect((await daemon.stop()).code).toBe(0);
});
