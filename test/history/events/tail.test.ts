// `svc events tail` and `svc webhooks events`: without a daemon, on the store alone.
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventTypes } from '../../../src/history/events/names.ts';
import { type CliWorkspace, finished, initializedWorkspace } from '../../support/cli.ts';

let cli: CliWorkspace;
beforeEach(async () => {
  cli = await initializedWorkspace();
});
afterEach(() => cli.close());

interface Shown {
  id: string;
  type: string;
  data: { id: string; subject?: string };
}

const mail = ['messages', 'send', '--to', 'delivered@simulator.test', '--text', 'b', '--subject'];

describe('svc events tail', () => {
  it('shows events of other processes, and continues after an event', async () => {
    const { id } = await cli.json<{ id: string }>([...mail, 'one']);
    const since = ['--since', '2020-01-01T00:00:00Z', '--type', 'message.accepted,campaign.*'];
    const tail = cli.start(['events', 'tail', '--json', ...since]);
    const lines = createInterface({ input: tail.stdout as NodeJS.ReadableStream });
    const shown = lines[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await shown.next()).value as string) as Shown;
    const first = await next();
    expect(first).toMatchObject({ type: 'message.accepted', data: { id, subject: 'one' } });
    await cli.json([...mail, 'two']);
    expect((await next()).data.subject).toBe('two');
    tail.kill('SIGINT');
    const again = cli.start(['events', 'tail', '--last-event-id', first.id]);
    const ended = finished(again);
    again.stdout?.once('data', () => again.kill('SIGINT'));
    const { stdout, code } = await ended;
    expect(stdout).toMatch(/^2\S+Z {2}message\.accepted {2,}msg_\S+ {2}pending {2}two\n/);
    expect(code).toBe(130);
  });

  it('rejects an unknown kind with 2', async () => {
    const { code, stderr } = await cli.run(['events', 'tail', '--type', 'message.nope']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('svc webhooks events')]);
  });
});

describe('svc webhooks events', () => {
  it('lists all kinds, or shows one', async () => {
    const { items } = await cli.json<{ items: Shown[] }>(['webhooks', 'events']);
    expect(items.map(({ type }) => type)).toEqual([...eventTypes]);
    const one = await cli.run(['webhooks', 'events', 'domain.held']);
    expect(one.stdout).toMatch(/^domain\.held\nMail from the domain is accepted/);
    expect(one.stdout).toContain('"sendingStatus": "held"');
    expect(one.stdout).toMatch(/^sendingStatus +(?:string|enabled)/m);
    expect(one.stdout).not.toContain('"properties"');
    const schema = await cli.run(['webhooks', 'events', 'domain.held', '--schema']);
    expect(JSON.parse(schema.stdout)).toHaveProperty('$ref');
    expect((await cli.run(['webhooks', 'events', 'domain.nope'])).code).toBe(2);
  });
});
