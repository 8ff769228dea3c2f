// A block made while mail to its address is queued: the mail ends at its turn like it would have at
// acceptance, for each reason to wait.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { holdQueue, releaseHold } from '../../../src/outbound/queue/desk/holds.ts';
import { createBlock, deleteBlock } from '../../../src/people/blocks/blocks.ts';
import { createBlockInput } from '../../../src/people/blocks/schema.ts';
import { otherOrganization } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, send, startPipeline, timeline } from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const minute = 60_000;

describe.each(stores)('a block made while mail is queued, on %s', (store) => {
  let test: TestApp;
  let sink: SmtpSink;
  let pipeline: RunningPipeline | undefined;
  beforeEach(async () => {
    sink = await startSmtpSink();
    test = await testApp({
      store,
      config: { delivery: { mode: 'relay', relay: { host: sink.host, port: sink.port } } },
    });
  });
  afterEach(async () => {
    await pipeline?.close();
    pipeline = undefined;
    await test.close();
    await sink.close();
  });

  const block = (address: string) =>
    createBlock(test.app, test.caller, createBlockInput.parse({ address }));
  const message = (id: string) => getMessage(test.app, test.caller, id);
  const run = async () => {
    pipeline ??= await startPipeline(test.app);
    await pipeline.idle();
  };

  it('fails an unattempted delivery as suppressed, in the words used at acceptance', async () => {
    const { id } = await send(test.app, test.caller, 'Ada@example.com');
    const { id: blockId } = await block('aDA@example.com');
    await test.clock.advance(minute);
    const ended = new Date(test.clock.now()).toISOString();
    await run();
    const { status, deliveries } = await message(id);
    expect(status).toBe('failed');
    expect(deliveries).toMatchObject([
      {
        status: 'failed',
        attemptCount: 0,
        errorCode: 'suppressed',
        errorMessage: expect.stringContaining(`svc blocks delete ${blockId}`),
        errorDetails: { blockId, reason: 'manual' },
        terminalAt: ended,
        updatedAt: ended,
        scheduling: null,
        attempts: [],
      },
    ]);
    expect(await timeline(test.app, test.caller, id)).toEqual([
      'accepted:pending',
      'failed:failed',
    ]);
    expect(sink.received).toBe(0);
  });

  it('stops a retry, and keeps the earlier attempts', async () => {
    sink.on({ verb: 'RCPT', times: 1 }, '451 4.3.0 later');
    const { id } = await send(test.app, test.caller, 'ada@example.com');
    await run();
    await expect.poll(async () => (await message(id)).deliveries[0]?.errorCode).not.toBeNull();
    await block('ada@example.com');
    await expect
      .poll(async () => {
        await test.clock.advance(minute);
        return (await message(id)).status;
      })
      .toBe('failed');
    expect((await message(id)).deliveries).toMatchObject([
      { errorCode: 'suppressed', attemptCount: 1, attempts: [{ code: 451 }] },
    ]);
    expect(sink.received).toBe(0);
  });

  it('stops a held delivery once it is released', async () => {
    const hold = await holdQueue(test.app, { domain: 'example.com' }, null);
    const { id } = await send(test.app, test.caller, 'ada@example.com');
    await run();
    await block('ada@example.com');
    expect((await message(id)).status).toBe('pending');
    await releaseHold(test.app, { holdId: hold.id });
    await run();
    await expect.poll(async () => (await message(id)).status).toBe('failed');
  });

  it('stops its own address and organization only, in one batch with others', async () => {
    const { caller: stranger } = await otherOrganization(test.app);
    const { id } = await send(test.app, test.caller, ['ada@example.com', 'bob@example.com']);
    await block('ada@example.com');
    await createBlock(test.app, stranger, { address: 'bob@example.com', reason: 'manual' });
    await run();
    await expect.poll(() => sink.messages.length).toBe(1);
    await run();
    const { deliveries } = await message(id);
    expect(deliveries.map(({ status }) => status).sort()).toEqual(['failed', 'sent']);
    expect(sink.messages[0]?.recipients).toEqual(['bob@example.com']);
  });

  it('stops nothing when deleted before the turn', async () => {
    const { id } = await send(test.app, test.caller, 'ada@example.com');
    await deleteBlock(test.app, test.caller, (await block('ada@example.com')).id);
    await run();
    await expect.poll(async () => (await message(id)).status).toBe('sent');
  });
});
