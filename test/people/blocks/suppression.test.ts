// Sends to blocked addresses: accepted, and the delivery failed at once, never attempted.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getMessage, listMessageEvents } from '../../../src/outbound/messages/messages.ts';
import { sendMessage } from '../../../src/outbound/sending/send.ts';
import { createBlock, deleteBlock, listBlocks } from '../../../src/people/blocks/blocks.ts';
import { createBlockInput, listBlocksQuery } from '../../../src/people/blocks/schema.ts';
import {
  blockAddress,
  findBlocked,
  findBlockedOf,
} from '../../../src/people/blocks/suppression.ts';
import { foldAddress } from '../../../src/platform/net/address.ts';
import { otherOrganization } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { payloadFor, send, startPipeline, timeline } from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

describe.each(stores)('a blocked address on %s', (store) => {
  let test: TestApp;
  let sink: SmtpSink;
  beforeEach(async () => {
    sink = await startSmtpSink();
    test = await testApp({
      store,
      config: { delivery: { mode: 'relay', relay: { host: sink.host, port: sink.port } } },
    });
  });
  afterEach(async () => {
    await test.close();
    await sink.close();
  });

  const block = (address: string, reason: 'bounce' | 'complaint' | 'manual' = 'bounce') =>
    createBlock(test.app, test.caller, createBlockInput.parse({ address, reason }));

  const message = (id: string) => getMessage(test.app, test.caller, id);

  it('fails the delivery at once, naming the block and the command that deletes it', async () => {
    const { id: blockId } = await block('Ada@example.com', 'complaint');
    await test.clock.advance(60_000);
    const sent = await send(test.app, test.caller, 'ADA@example.com');
    const now = '2026-01-05T12:01:00.000Z';
    expect(sent.status).toBe('failed');
    expect(sent.recipients).toMatchObject([{ email: 'ADA@example.com', status: 'failed' }]);
    expect(sent.deliveries).toMatchObject([
      {
        status: 'failed',
        attemptCount: 0,
        queuedAt: null,
        lastAttemptAt: null,
        failedAt: now,
        terminalAt: now,
        errorCode: 'suppressed',
        errorMessage:
          'ADA@example.com is blocked (complaint) since 2026-01-05T12:00:00.000Z, so nothing was ' +
          'sent. Only the recipient can change that',
        errorDetails: { blockId, reason: 'complaint', blockedSince: '2026-01-05T12:00:00.000Z' },
        scheduling: null,
        attempts: [],
      },
    ]);
    expect(await message(sent.id)).toEqual(sent);
  });

  it('has `accepted` and `failed` with the block in the timeline', async () => {
    const { id: blockId } = await block('ada@example.com');
    const { id, deliveries } = await send(test.app, test.caller, 'ada@example.com');
    expect(await timeline(test.app, test.caller, id)).toEqual([
      'accepted:pending',
      'failed:failed',
    ]);
    const [, failed] = await listMessageEvents(test.app, test.caller, id);
    expect(failed?.metadata).toEqual({
      recipient: 'ada@example.com',
      deliveryId: deliveries[0]?.id,
      errorCode: 'suppressed',
      blockId,
      reason: 'bounce',
      blockedSince: '2026-01-05T12:00:00.000Z',
    });
  });

  it('is never attempted, while the other recipients get the message', async () => {
    await block('ada@example.com');
    await block('cy@example.com');
    const sent = await send(test.app, test.caller, [
      'ada@example.com',
      'bob@example.com',
      'cy@example.com',
    ]);
    expect(sent.status).toBe('pending');
    expect(sent.deliveries.map(({ status }) => status)).toEqual(['failed', 'pending', 'failed']);
    const pipeline = await startPipeline(test.app);
    await sink.waitFor(1);
    await pipeline.idle();
    await pipeline.close();
    expect(sink.messages.map(({ recipients }) => recipients)).toEqual([['bob@example.com']]);
    const after = await message(sent.id);
    expect(after.deliveries.map(({ status, attemptCount }) => [status, attemptCount])).toEqual([
      ['failed', 0],
      ['sent', 1],
      ['failed', 0],
    ]);
    expect(await timeline(test.app, test.caller, sent.id)).toEqual([
      'accepted:pending',
      'failed:pending',
      'failed:pending',
      'processing:processing',
      'sent:sent',
    ]);
  });

  it('fails the message with the last of only blocked recipients', async () => {
    await block('ada@example.com');
    await block('bob@example.com');
    const { id } = await send(test.app, test.caller, ['ada@example.com', 'bob@example.com']);
    expect(await timeline(test.app, test.caller, id)).toEqual([
      'accepted:pending',
      'failed:pending',
      'failed:failed',
    ]);
  });

  it('is matched in cc and bcc, in any letter case and beyond ASCII', async () => {
    await block('JÖRG@example.com');
    await block('bob@bücher.example');
    const { deliveries } = await send(test.app, test.caller, 'ada@example.com', {
      cc: [{ email: 'jörg@example.com' }],
      bcc: [{ email: 'Bob@xn--bcher-kva.example' }],
    });
    expect(deliveries.map(({ errorCode }) => errorCode)).toEqual([
      null,
      'suppressed',
      'suppressed',
    ]);
  });

  it('gets later mail once the block is deleted, not the suppressed mail', async () => {
    const { id } = await block('ada@example.com');
    const before = await send(test.app, test.caller, 'ada@example.com');
    await deleteBlock(test.app, test.caller, id);
    expect((await send(test.app, test.caller, 'ada@example.com')).status).toBe('pending');
    expect((await message(before.id)).status).toBe('failed');
  });

  it('is blocked for its own organization only, in one batch of sends too', async () => {
    const { caller: stranger } = await otherOrganization(test.app);
    await createBlock(test.app, stranger, { address: 'ada@example.com', reason: 'manual' });
    await block('bob@example.com');
    const sent = await Promise.all(
      ['ada@example.com', 'bob@example.com', 'cy@example.com'].map((to) =>
        send(test.app, test.caller, to),
      ),
    );
    expect(sent.map(({ status }) => status)).toEqual(['pending', 'failed', 'pending']);
  });

  it('gives the suppressed answer again for a repeated idempotency key', async () => {
    const { id } = await block('ada@example.com');
    const claim = 'order-7';
    const first = await sendMessage(test.app, test.caller, payloadFor('ada@example.com'), claim);
    await deleteBlock(test.app, test.caller, id);
    expect(await sendMessage(test.app, test.caller, payloadFor('ada@example.com'), claim)).toEqual(
      first,
    );
    expect(first.status).toBe('failed');
  });

  describe('findBlocked', () => {
    it('returns the blocks among the given addresses', async () => {
      const { id } = await block('Ada@example.com', 'manual');
      await block('bob@example.com');
      const wanted = ['ada@example.com', 'cy@example.com'];
      const found = await findBlocked(test.app.store.db, test.caller.organizationId, wanted);
      expect([...found]).toEqual([
        ['ada@example.com', { id, reason: 'manual', createdAt: test.clock.now() }],
      ]);
    });

    it('returns the first of several blocks of an address', async () => {
      const { app, clock, caller } = test;
      const { organizationId } = caller;
      const reported = async (address: string, reason: 'bounce' | 'complaint') => {
        const of = { organizationId, address, reason, messageId: null };
        expect(await app.store.write((trx) => blockAddress(app, trx, of))).toBe(true);
        await clock.advance(1_000);
      };
      await reported('ada@example.com', 'bounce');
      await reported('ada@example.com', 'complaint');
      await reported('bob@example.com', 'complaint');
      await reported('bob@example.com', 'bounce');
      const wanted = ['ada@example.com', 'bob@example.com'];
      const found = await findBlocked(app.store.db, organizationId, wanted);
      expect(found.get('ada@example.com')?.reason).toBe('bounce');
      expect(found.get('bob@example.com')?.reason).toBe('complaint');
    });

    it('accepts no addresses and thousands of them', async () => {
      const { db } = test.app.store;
      const { organizationId } = test.caller;
      await block('a2999@example.com');
      expect(await findBlockedOf(db, [])).toEqual(new Map());
      expect(await findBlocked(db, organizationId, [])).toEqual(new Map());
      const many = Array.from({ length: 3_000 }, (_, i) => `a${i}@example.com`);
      expect([...(await findBlocked(db, organizationId, many)).keys()]).toEqual([
        'a2999@example.com',
      ]);
    });
  });

  describe('blockAddress', () => {
    const bounced = (address: string, messageId: string) =>
      test.app.store.write((trx) =>
        blockAddress(test.app, trx, {
          organizationId: test.caller.organizationId,
          address,
          reason: 'bounce',
          messageId,
        }),
      );

    it('keeps the first block of an address', async () => {
      const first = 'msg_01kdxxxx000000000000aaaa';
      expect(await bounced('Ada@example.com', first)).toBe(true);
      await test.clock.advance(1_000);
      expect(await bounced('ada@example.com', 'msg_01kdxxxx000000000000bbbb')).toBe(false);
      const query = listBlocksQuery.parse({});
      const { items } = await listBlocks(test.app, test.caller, query);
      expect(items).toMatchObject([
        {
          address: 'Ada@example.com',
          reason: 'bounce',
          messageId: first,
          createdAt: '2026-01-05T12:00:00.000Z',
        },
      ]);
    });

    it('is visible to a send in the same transaction', async () => {
      const { organizationId } = test.caller;
      const seen = await test.app.store.write(async (trx) => {
        await blockAddress(test.app, trx, {
          organizationId,
          address: 'Ada@example.com',
          reason: 'complaint',
          messageId: null,
        });
        return findBlocked(trx, organizationId, [foldAddress('ADA@example.com')]);
      });
      expect(seen.get('ada@example.com')?.reason).toBe('complaint');
    });
  });
});
