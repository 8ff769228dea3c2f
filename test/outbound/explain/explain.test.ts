// `svc messages explain` as data: sentences for every state of a recipient.
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { interpret, listCommandIds } from '../../../commands/base/input/typed.ts';
import type { WaitReason } from '../../../src/outbound/deliveries/status.ts';
import { messageStatuses } from '../../../src/outbound/deliveries/status.ts';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import {
  decidedByRecipient,
  errorWords,
  facts,
  outcomeWords,
  runWords,
  stateWords,
  statusWords,
  waitWords,
} from '../../../src/outbound/explain/explain-words.ts';
import { fromNow, spanInWords, timeInWords } from '../../../src/outbound/explain/time-words.ts';
import { stopOfShare } from '../../../src/outbound/queue/claiming/stops.ts';
import { holdQueue } from '../../../src/outbound/queue/desk/holds.ts';
import { dropDeliveries } from '../../../src/outbound/queue/desk/queue.ts';
import { createBlock } from '../../../src/people/blocks/blocks.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import { giveToRun, newRun } from '../../people/runs/entries.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, send, startPipeline } from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { anotherOrganization, claim, inLane, queued, waiting } from '../queue/entries.ts';

const hourMs = 3_600_000;
const start = Date.UTC(2026, 0, 5, 12);

/** Collects every text in the tables. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Object.values(value as object).flatMap(textsIn);
}

describe('the tables of sentences', () => {
  const tables = { statusWords, outcomeWords, waitWords, runWords, stateWords, errorWords };
  const texts = textsIn(tables);

  it('use exactly the known facts', () => {
    const named = texts.flatMap((text) => [...text.matchAll(/\{(\w*)\}/g)].map(([, name]) => name));
    expect(named.filter((name) => !facts.some((fact) => fact === name))).toEqual([]);
    expect(facts.filter((fact) => !named.includes(fact))).toEqual([]);
  });

  it('name commands that exist', () => {
    const ids = listCommandIds();
    const commands = texts.filter((text) => text.startsWith('svc '));
    expect(commands.length).toBeGreaterThan(20);
    for (const command of commands) {
      expect(interpret(command.split(' ').slice(1), ids).kind).toBe('command');
    }
  });
});

describe('times in words', () => {
  it.each([
    [400, 'less than 1 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [90_000, '1 min 30 s'],
    [2 * hourMs + 300_000, '2 h 5 min'],
    [2 * hourMs + 30_000, '2 h'],
    [71 * hourMs, '2 d 23 h'],
  ])('describe %i ms as %s', (ms, words) => {
    expect(spanInWords(ms)).toBe(words);
  });

  it('are relative to now, in both directions', () => {
    expect(fromNow(start + 240_000, start)).toBe('in 4 min');
    expect(fromNow(start - 240_000, start)).toBe('4 min ago');
    expect(fromNow(start + 999, start)).toBe('now');
    expect(timeInWords(start + 240_000, start)).toBe('2026-01-05 12:04:00 UTC (in 4 min)');
  });
});

/** Explains the first recipient. */
async function firstExplained({ app, caller }: TestApp, id: string) {
  const { recipients } = await explainMessage(app, caller, id);
  if (!recipients[0]) throw new Error('there is no recipient');
  return recipients[0];
}

describe.each(stores)('explain on %s', (store) => {
  let service: TestApp;
  let sink: SmtpSink;
  let pipeline: RunningPipeline | undefined;
  beforeEach(async () => {
    sink = await startSmtpSink();
    const relay = { mode: 'relay' as const, relay: { host: sink.host, port: sink.port } };
    service = await testApp({ store, config: { delivery: relay } });
    pipeline = undefined;
  });
  afterEach(async () => {
    await pipeline?.close();
    await service.close();
    await sink.close();
  });

  const explained = (id: string, of = service) => firstExplained(of, id);

  /** Sends a message, and returns its id after its first attempt. */
  async function attempted(to = 'ada@a.example') {
    const { app, caller } = service;
    pipeline ??= await startPipeline(app);
    const { id } = await send(app, caller, to);
    await pipeline.idle();
    return id;
  }

  it('counts the deliveries before a message in the queue', async () => {
    const { app, caller } = service;
    await queued(app, caller, 'first@a.example');
    await queued(app, caller, 'second@a.example');
    const { id } = await send(app, caller, 'ada@a.example');
    expect(await explainMessage(app, caller, id)).toEqual({
      messageId: id,
      subject: 'Hello',
      status: 'pending',
      createdAt: '2026-01-05T12:00:00.000Z',
      summary: '1 recipient: 1 pending.',
      recipients: [
        {
          recipientId: expect.stringMatching(/^rcp_/),
          deliveryId: expect.stringMatching(/^dlv_/),
          kind: 'to',
          email: 'ada@a.example',
          status: 'pending',
          state: 'ready',
          happened: 'It was accepted and has not been attempted yet.',
          happenedAt: '2026-01-05T12:00:00.000Z',
          waitReason: null,
          because: null,
          next: expect.stringContaining('when its turn comes; 2 others are before it in the queue'),
          nextAt: null,
          help: { purpose: 'To watch the queue', command: 'svc queue top' },
          said: null,
          errorCode: null,
          attemptCount: 0,
          attempts: [],
        },
      ],
    });
  });

  it("gives the server's words for a deferral, and the next attempt", async () => {
    sink.on({ verb: 'RCPT' }, '452 4.2.2 Mailbox full');
    const explanation = await explained(await attempted());
    expect(explanation).toMatchObject({
      happened: `Attempt 1 was put off by ${sink.host} at RCPT: the mailbox is full.`,
      because: 'It waits for its next attempt.',
      help: { purpose: 'To try it now', command: `svc queue retry ${explanation.deliveryId}` },
      errorCode: 'mailbox-full',
      said: {
        code: 452,
        enhancedCode: '4.2.2',
        reply: 'Mailbox full',
        verb: 'RCPT',
        host: sink.host,
      },
      attempts: [{ number: 1, code: 452, enhancedCode: '4.2.2', reply: 'Mailbox full' }],
    });
    const inMs = Date.parse(explanation.nextAt ?? '') - service.clock.now();
    expect(inMs).toBeGreaterThan(50_000);
    expect(inMs).toBeLessThan(70_000);
    expect(explanation.next).toMatch(
      /^Attempt 2 follows 2026-01-05 12:0\d:\d\d UTC \(in .*\); it is given up 2026-01-08 12:00:00 UTC \(in 3 d\)\.$/,
    );
  });

  it('names a server that cannot be reached', async () => {
    await sink.close();
    const explanation = await explained(await attempted());
    expect(explanation.happened).toBe(
      'Attempt 1 reached no server: no server of a.example could be used.',
    );
    sink = await startSmtpSink();
  });

  it("names the organization's share as the reason of a wait", async () => {
    const { app, caller } = service;
    const { organization_id } = await queued(app, caller, 'other@a.example');
    const lane = stopOfShare(organization_id);
    const row = await inLane(app, caller, 'ada@a.example', start + 60_000, lane);
    expect(await explained(row.message_id)).toMatchObject({
      state: 'in-lane',
      because: 'Its organization already uses its share, and its attempts end slowly.',
      next: expect.stringContaining('It is sent as soon as some of them end'),
    });
  });

  it('gives the meaning of a bounce and the remedy', async () => {
    sink.on({ verb: 'RCPT' }, '550 5.1.1 no such user');
    expect(await explained(await attempted())).toMatchObject({
      status: 'bounced',
      state: 'ended',
      happened: `${sink.host} refused it permanently at RCPT: there is no such mailbox.`,
      because: null,
      next: expect.stringContaining('Correct the address'),
      nextAt: null,
      help: { command: 'svc blocks list --address ada@a.example' },
    });
  });

  it('gives the time when mail accepted by a relay counts as delivered', async () => {
    const id = await attempted();
    expect(await explained(id)).toMatchObject({
      status: 'sent',
      happened: `${sink.host} accepted it.`,
      next: expect.stringMatching(
        /^It counts as delivered 2026-01-05 16:00:00 UTC \(in 4 h\), unless/,
      ),
      nextAt: '2026-01-05T16:00:00.000Z',
    });
    await service.clock.advance(5 * hourMs);
    await pipeline?.idle();
    expect(await explained(id)).toMatchObject({
      status: 'delivered',
      happened: `${sink.host} accepted it: it is delivered.`,
      next: null,
      help: null,
    });
  });

  it('gives the words of a bounce that arrived by mail', async () => {
    const id = await attempted();
    await service.app.store.write((trx) =>
      sql`update deliveries set status = 'bounced', terminal_at = ${start}, failed_at = ${start},
        error_code = 'invalid-recipient', error_details = ${JSON.stringify({
          code: 550,
          enhancedCode: '5.1.1',
          reply: 'no such user',
          verb: 'DSN',
          mx: 'mx.far.example',
          address: null,
        })}`.execute(trx),
    );
    expect(await explained(id)).toMatchObject({
      happened:
        'A server accepted it, but it came back as undeliverable: there is no such mailbox.',
      said: { code: 550, reply: 'no such user', verb: 'DSN', host: 'mx.far.example' },
    });
  });

  it('counts the attempts of a message that was given up', async () => {
    sink.on({ verb: 'RCPT' }, '452 4.2.2 Mailbox full');
    const id = await attempted();
    for (let hour = 0; hour < 73; hour++) {
      await service.clock.advance(hourMs);
      await pipeline?.idle();
    }
    const explanation = await explained(id);
    expect(explanation.happened).toBe(
      `It was given up after ${explanation.attemptCount} attempts: the mailbox is full.`,
    );
    expect(explanation.help?.command).toBe(`svc messages show ${id}`);
  });

  it('reports captured mail as kept on this machine', async () => {
    const captured = await testApp({ store });
    const running = await startPipeline(captured.app);
    try {
      const { id } = await send(captured.app, captured.caller, 'ada@a.example');
      await running.idle();
      expect((await explained(id, captured)).happened).toBe(outcomeWords.captured);
    } finally {
      await running.close();
      await captured.close();
    }
  });

  it.each([
    ['manual', 'Nothing is sent to it until the block is lifted; then send it again.'],
    ['bounce', 'Nothing is sent to it until the block is lifted; then send it again.'],
    ['complaint', decidedByRecipient],
    ['unsubscribe', decidedByRecipient],
  ] as const)('names the block of an address for the reason %s', async (reason, next) => {
    const { app, caller } = service;
    await createBlock(app, caller, { address: 'ada@a.example', reason });
    const { id } = await send(app, caller, 'ada@a.example');
    expect(await explained(id)).toMatchObject({
      happened: 'It was not sent: ada@a.example is blocked.',
      next,
      help: { command: 'svc blocks list --address ada@a.example' },
    });
  });

  it('reports a dropped delivery', async () => {
    const { app, caller } = service;
    const dropped = await queued(app, caller, 'dropped@a.example');
    await dropDeliveries(app, [dropped.id]);
    expect((await explained(dropped.message_id)).happened).toBe(
      'It was not sent: it was removed from the queue.',
    );
  });

  it('reports a claimed delivery as under way', async () => {
    const { app, caller } = service;
    const claimed = await queued(app, caller, 'claimed@a.example');
    await claim(app);
    expect(await explained(claimed.message_id)).toMatchObject({
      state: 'claimed',
      next: 'An attempt is under way since 2026-01-05 12:00:00 UTC (now).',
    });
  });

  it('gives the reason and the command that releases a held delivery', async () => {
    const { app, caller } = service;
    const later = await waiting(app, caller, 'later@b.example', start + hourMs);
    const hold = await holdQueue(app, { domain: 'b.example' }, 'disk full');
    const held = await queued(app, caller, 'held@b.example');
    for (const [row, reason] of [
      [held, held.wait_reason],
      [later, 'provider-unavailable'],
    ] as const) {
      expect(await explained(row.message_id)).toMatchObject({
        next: `It is on hold (${hold.id}: disk full) and is not attempted until that hold is released.`,
        nextAt: null,
        waitReason: reason,
        because: `An operator holds it (waitReason: ${reason ?? 'none yet'}).`,
        help: { command: `svc queue release ${hold.id}` },
      });
    }
  });

  it("quotes a stranger's address for the shell", async () => {
    const { app, caller } = service;
    const address = "a'$x|b@a.example";
    await createBlock(app, caller, { address, reason: 'manual' });
    const { id } = await send(app, caller, address);
    expect((await explained(id)).help?.command).toBe(
      `svc blocks list --address 'a'\\''$x|b@a.example'`,
    );
  });

  it('finds no message of another organization', async () => {
    const { app, caller } = service;
    const acme = await anotherOrganization(app, 'acme');
    const { id } = await send(app, caller, 'ada@a.example');
    await expect(explainMessage(app, acme, id)).rejects.toThrow(ResourceNotFoundError);
  });

  it('reports received mail as received', async () => {
    const { app, caller } = service;
    const { id } = await send(app, caller, 'ada@a.example');
    await app.store.write(async (trx) => {
      await sql`delete from deliveries`.execute(trx);
      await sql`update messages set direction = 'inbound'`.execute(trx);
    });
    expect(await explainMessage(app, caller, id)).toMatchObject({
      summary: 'The message was received: there is nothing to deliver.',
      recipients: [],
    });
  });
});

describe.each(stores)('explain for each value on %s', (store) => {
  let service: TestApp;
  beforeAll(async () => {
    service = await testApp({ store });
  });
  afterAll(() => service.close());

  it.each(Object.keys(waitWords) as WaitReason[])('covers the wait reason %s', async (reason) => {
    const { app, caller } = service;
    const row = await waiting(app, caller, 'ada@a.example', start + hourMs, reason);
    const explanation = await firstExplained(service, row.message_id);
    expect(
      [explanation.because, explanation.next, explanation.help?.command].join(' '),
    ).not.toMatch(/[{}]|undefined/);
    expect(explanation).toMatchObject({ state: 'waiting', nextAt: '2026-01-05T13:00:00.000Z' });
    expect(explanation.next).toContain('2026-01-05 13:00:00 UTC (in 1 h)');
  });

  it.each(Object.keys(runWords))('covers mail of a run that is stopped: %s', async (reason) => {
    const { app, caller } = service;
    const runId = await newRun(app, caller.organizationId, {
      status: reason === 'paused' || reason === 'restored' ? 'paused' : 'held',
      hold_reason: reason === 'paused' ? null : reason,
      hold_detail: '421 slow down',
    });
    const dueAt = start + hourMs;
    const row = await waiting(app, caller, 'ada@a.example', dueAt, 'campaign-paused');
    await giveToRun(app, runId, [row.message_id]);
    const { because, next, help } = await firstExplained(service, row.message_id);
    expect([because, next, help?.command].join(' ')).not.toMatch(/[{}]|undefined/);
    expect(because).toContain(`Its campaign run ${runId} is `);
    expect(next).toContain('2026-01-05 13:00:00 UTC (in 1 h)');
    expect(because?.includes('421 slow down')).toBe(
      reason === 'provider' || reason === 'run-health',
    );
  });

  it.each(Object.keys(errorWords))('covers the error code %s', async (code) => {
    const { app, caller } = service;
    const { id, message_id } = await queued(app, caller, 'ada@a.example');
    for (const status of ['failed', 'bounced']) {
      await app.store.write((trx) =>
        sql`update deliveries set turn = null, due_at = null, terminal_at = ${start},
          status = ${status}, error_code = ${code}, attempt_count = 2 where id = ${id}`.execute(
          trx,
        ),
      );
      const { happened, next, help } = await firstExplained(service, message_id);
      expect([happened, next, help?.command].join(' ')).not.toMatch(/[{}]|undefined/);
      expect(happened).toMatch(/: .+\.$/);
      expect(next).toMatch(/^[A-Z].+\.$/);
    }
  });

  it('names our own rule if a server offers no TLS', async () => {
    const { app, caller } = service;
    const { id, message_id } = await queued(app, caller, 'ada@a.example');
    const details = JSON.stringify({ code: null, enhancedCode: '5.7.10', verb: 'STARTTLS' });
    await app.store.write((trx) =>
      sql`update deliveries set turn = null, due_at = null, terminal_at = ${start}, status = 'failed',
        error_code = 'policy', error_details = ${details}, attempt_count = 2 where id = ${id}`.execute(
        trx,
      ),
    );
    const { happened, next } = await firstExplained(service, message_id);
    expect(happened).toContain('it offers no TLS, and our own rule requires it');
    expect(next).toContain('remove the rule that requires it');
  });

  it.each(messageStatuses)('covers the status %s without further facts', async (status) => {
    const { app, caller } = service;
    const { id, message_id } = await queued(app, caller, 'ada@a.example');
    await app.store.write((trx) =>
      sql`update deliveries set turn = null, due_at = null, status = ${status}
        where id = ${id}`.execute(trx),
    );
    expect((await firstExplained(service, message_id)).happened).toMatch(
      /^(It|Its scheduled time|The server of a\.example|An attempt|The delivery) .+\.$/,
    );
  });
});
