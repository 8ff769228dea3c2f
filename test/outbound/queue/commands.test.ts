// The commands on the queue, as people and scripts run them, on a store without a daemon and beside
// one.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countsLine } from '../../../commands/base/mail/queue.ts';
import { sparkline } from '../../../commands/base/output/sparkline.ts';
import type { QueueCounts } from '../../../src/outbound/deliveries/queue-queries.ts';
import type { MessageExplanation } from '../../../src/outbound/explain/schema.ts';
import type { Hold, QueueEntry } from '../../../src/outbound/queue/desk/queue-schema.ts';
import type { QueueSnapshot } from '../../../src/outbound/queue/lanes/lane-report.ts';
import { type CliWorkspace, initializedWorkspace, svc } from '../../support/cli.ts';
import { type DaemonHome, daemonHome, relayTo, until } from '../../support/daemon-process.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';

const script = '/usr/bin/script';

interface Listed {
  items: QueueEntry[];
  pagination: { total: number };
  counts: QueueCounts;
}

function sendTo(cli: CliWorkspace, to: string, ...more: string[]): Promise<{ id: string }> {
  return cli.json(['messages', 'send', '--to', to, '--subject', 'Hi', '--text', 'Hi', ...more]);
}

describe('the queue commands without a daemon', () => {
  let cli: CliWorkspace;
  let ada: string;
  let bob: string;
  beforeAll(async () => {
    cli = await initializedWorkspace();
    ada = (await sendTo(cli, 'ada@a.example')).id;
    bob = (await sendTo(cli, 'bob@b.example')).id;
  });
  afterAll(() => cli.close());

  const list = (...args: string[]) => cli.json<Listed>(['queue', 'list', ...args]);

  it('list prints the counts, then a table', async () => {
    const { code, stdout } = await cli.run(['queue', 'list']);
    expect(code).toBe(0);
    const [counts, blank, head, first] = stdout.split('\n');
    expect(counts).toBe('ready 2  waiting 0  in-lane 0  held 0  claimed 0');
    expect(blank).toBe('');
    expect(head?.split(/ +/)).toEqual([
      'messageId',
      'recipient',
      'state',
      'dueAt',
      'waitReason',
      'attemptCount',
      'lastWords',
    ]);
    expect(first).toMatch(new RegExp(`^${ada}  ada@a\\.example  ready `));
  });

  it('list applies its filters and ends with 2 on a bad one', async () => {
    expect(await list('--domain', 'B.example', '--status', 'ready')).toMatchObject({
      items: [{ messageId: bob }],
      pagination: { total: 1 },
      counts: { ready: 2 },
    });
    await cli.run(['orgs', 'create', '--name', 'acme', '--plan', 'free']);
    expect((await list('--org', 'acme')).items).toEqual([]);
    expect((await list('--org', 'default')).items).toHaveLength(2);
    expect((await cli.run(['queue', 'list', '--org', 'nobody'])).code).toBe(3);
    expect((await cli.run(['queue', 'list', '--status', 'lost'])).code).toBe(2);
    expect((await cli.run(['queue', 'list', '--wait-reason', 'moon'])).code).toBe(2);
    expect((await cli.run(['queue', 'list', '--limit', '101'])).code).toBe(2);
  });

  it('hold, holds, retry, explain and release agree', async () => {
    const hold = await cli.json<Hold>(['queue', 'hold', '--domain', 'b.example', '--note', 'why']);
    expect(hold).toMatchObject({ domain: 'b.example', held: 1, note: 'why' });
    expect(await cli.json(['queue', 'holds'])).toEqual({ items: [hold] });
    expect((await list('--status', 'held')).items).toMatchObject([
      { messageId: bob, holdId: hold.id },
    ]);
    const retried = await cli.run(['queue', 'retry', ada, bob, '--json']);
    expect(retried.code).toBe(5);
    expect(JSON.parse(retried.stderr)).toMatchObject({ _tag: 'ConflictError' });
    const { stdout } = await cli.run(['messages', 'explain', bob]);
    expect(stdout).toContain('1 recipient: 1 pending.');
    expect(stdout).toContain(`  It is on hold (${hold.id}: why)`);
    expect(stdout).toContain(`  To release it: svc queue release ${hold.id}\n`);
    expect(await cli.json(['queue', 'release', '--domain', 'b.example'])).toEqual({
      id: hold.id,
      released: 1,
    });
    expect((await cli.run(['queue', 'release', hold.id])).code).toBe(3);
    expect(await cli.json(['queue', 'retry', bob])).toMatchObject({ items: [{ state: 'ready' }] });
    expect(await cli.json(['queue', 'flush'])).toEqual({ flushed: 0 });
  });

  it.each(['drop', 'hold', 'retry'])('%s takes --domain and --yes', async (verb) => {
    const { code, stderr } = await cli.run(['queue', verb, '--domain', 'c.example', '--yes']);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('--yes')]);
    if (verb === 'hold') await cli.run(['queue', 'release', '--domain', 'c.example']);
  });

  it('hold and release need exactly one target', async () => {
    for (const verb of ['hold', 'release']) {
      expect((await cli.run(['queue', verb])).code).toBe(2);
      expect((await cli.run(['queue', verb, ada, '--domain', 'a.example'])).code).toBe(2);
      expect((await cli.run(['queue', verb, 'wep_0123456789abcdefghjk'])).code).toBe(2);
    }
    expect((await cli.run(['queue', 'holds'])).stdout).toBe(
      'No holds. Set one: svc queue hold --domain DOMAIN\n',
    );
  });

  it('explain --json prints the data of the text', async () => {
    const { recipients } = await cli.json<MessageExplanation>(['messages', 'explain', ada]);
    expect(recipients).toMatchObject([{ email: 'ada@a.example', state: 'ready' }]);
  });

  it('drop needs --yes and is final', async () => {
    const { id } = await sendTo(cli, 'carl@c.example');
    const refused = await cli.run(['queue', 'drop', id]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--yes');
    const dropped = await cli.json<Listed>(['queue', 'drop', id, '--yes']);
    expect(dropped.items).toMatchObject([{ state: 'ended', errorCode: 'cancelled' }]);
    const { items } = dropped;
    const shown = await cli.json<QueueEntry>(['queue', 'show', items[0]?.id ?? '']);
    expect(shown).toMatchObject({ messageId: id, status: 'failed', attempts: [] });
    expect(await cli.json(['queue', 'show', id])).toMatchObject({ items: [{ messageId: id }] });
  });

  it('drop --domain --dry-run prints the number and changes nothing', async () => {
    await sendTo(cli, 'dan@d.example');
    const args = ['queue', 'drop', '--domain', 'd.example'];
    expect(await cli.json([...args, '--dry-run'])).toEqual({ selected: 1 });
    expect(await cli.json([...args, '--older-than', '1h', '--dry-run'])).toEqual({ selected: 0 });
    expect((await list('--domain', 'd.example')).pagination.total).toBe(1);
  });

  it('drop --domain needs --yes, and says how many it would drop', async () => {
    const refused = await cli.run(['queue', 'drop', '--domain', 'd.example']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('1 delivery')]);
    const args = ['queue', 'drop', '--domain', 'd.example', '--organization', 'default', '--yes'];
    expect(await cli.json(args)).toEqual({ dropped: 1 });
  });

  it('drop and retry need ids, or a selection', async () => {
    for (const verb of ['drop', 'retry']) {
      expect((await cli.run(['queue', verb, '--dry-run'])).code).toBe(2);
      expect((await cli.run(['queue', verb, ada, '--all'])).code).toBe(2);
      expect((await cli.run(['queue', verb, '--all', '--domain', 'a.example'])).code).toBe(2);
    }
    expect(await cli.json(['queue', 'retry', '--all', '--dry-run'])).toEqual({ selected: 0 });
    expect(await cli.json(['queue', 'retry', '--all'])).toEqual({ retried: 0 });
  });

  it('top in a pipe prints one snapshot and ends', async () => {
    const { code, stdout } = await cli.run(['queue', 'top']);
    expect(code).toBe(0);
    expect(stdout).toContain('0 daemons at work');
    expect(stdout).toContain('ready 2 ');
    expect(stdout).toContain('No lane is in use.');
    expect(stdout).not.toContain('\u001b');
  });

  describe.skipIf(!existsSync(script))('queue top on a terminal', () => {
    it.each([
      ['q', 0],
      ['\u0003', 130],
    ])('redraws until %j and restores the terminal', async (key, expected) => {
      const child = spawn(script, ['-qec', `${svc} queue top`, '/dev/null'], {
        cwd: cli.directory,
        env: { ...cli.env, TERM: 'xterm' },
      });
      let output = '';
      let isTyped = false;
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        // The command has drawn twice.
        if (isTyped || output.split('q leaves').length < 3) return;
        isTyped = true;
        child.stdin.write(key);
      });
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect(code).toBe(expected);
      expect(output).toContain('\u001b[?1049h');
      expect(output.split('\u001b[?1049l')[1]).not.toContain('svc queue');
    });
  });
});

it('a truncated count has a plus', () => {
  const counts = { ready: 100_000, waiting: 7, 'in-lane': 0, held: 0, claimed: 0 };
  expect(countsLine(counts, 100_000)).toBe(
    'ready 100,000+  waiting 7  in-lane 0  held 0  claimed 0',
  );
});

it('a sparkline scales its bars to the largest number', () => {
  expect(sparkline([0, 1, 4, 7])).toBe('▁▂▅█');
  expect(sparkline([0, 0])).toBe('▁▁');
  expect(sparkline([])).toBe('');
});

describe('the queue commands beside a daemon', () => {
  let home: DaemonHome;
  let sink: Awaited<ReturnType<typeof startSmtpSink>>;
  beforeAll(async () => {
    sink = await startSmtpSink();
    home = daemonHome(relayTo(sink));
    await home.start();
  });
  afterAll(async () => {
    await home.close();
    await sink.close();
  });

  it('hold keeps mail back, release sends it, and retry ignores the retry time', async () => {
    const { cli } = home;
    await cli.json(['queue', 'hold', '--domain', 'held.example']);
    const held = await sendTo(cli, 'ada@held.example');
    await sendTo(cli, 'bob@a.example', '--wait');
    expect(sink.messages.flatMap(({ recipients }) => recipients)).toEqual(['bob@a.example']);
    const { items } = await cli.json<Listed>(['queue', 'list', '--status', 'held']);
    expect(items).toMatchObject([{ messageId: held.id, attemptCount: 0 }]);
    sink.on({ verb: 'RCPT', times: 1 }, '452 4.2.2 Mailbox full');
    await cli.json(['queue', 'release', '--domain', 'held.example']);
    const waits = () => cli.json<Listed>(['queue', 'list', '--wait-reason', 'retry']);
    const deferred = await until(async () => (await waits()).items[0], 'a deferral');
    expect(deferred).toMatchObject({
      messageId: held.id,
      lastWords: expect.stringContaining('452'),
    });
    const { stdout } = await cli.run(['messages', 'explain', held.id]);
    expect(stdout).toMatch(/Attempt 1 was put off by .* at RCPT: the mailbox is full\./);
    expect(stdout).toContain('Reply: 452 4.2.2 Mailbox full');
    await cli.json(['queue', 'retry', held.id]);
    await sink.waitFor(2);
  });

  it('top shows the lanes that the daemon reports', async () => {
    const { cli } = home;
    await sendTo(cli, 'carl@a.example');
    const look = async () => {
      const snapshot = await cli.json<QueueSnapshot>(['queue', 'top']);
      return snapshot.lanes.length > 0 && snapshot;
    };
    const { workers, lanes } = await until(look, 'a report of lanes');
    expect(workers).toBe(1);
    expect(lanes[0]).toMatchObject({ lane: expect.stringContaining(sink.host), closedUntil: null });
    const { stdout } = await cli.run(['queue', 'top']);
    expect(stdout).toMatch(/^lane +inFlight +window +perMinute +waiting +takenPerSecond/m);
  });
});
