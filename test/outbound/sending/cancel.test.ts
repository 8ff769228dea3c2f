// `POST /v1/messages/{id}/cancel` on both stores: the messages that may be cancelled, and the races
// with a daemon that claims at the same moment.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { scheduledPayload } from '../../../src/outbound/messages/send-schema.ts';
import { dropDeliveries } from '../../../src/outbound/queue/desk/queue.ts';
import { cancelMessage } from '../../../src/outbound/queue/schedule/cancel.ts';
import { scheduleMessage } from '../../../src/outbound/sending/schedule/schedule.ts';
import { ConflictError } from '../../../src/platform/errors.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { usedToday } from '../../access/admission/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import { send, startPipeline, timeline } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { heldWrite, payload, someoneWaits } from '../messages/fixtures.ts';
import { claim, queued, waiting } from '../queue/entries.ts';
import { type ServedApi, servedApi } from './fixtures.ts';

const hourMs = 3_600_000;

describe.each(bothStores)('cancelling on %s', (store) => {
  let test: TestApp;
  let api: ServedApi;
  beforeEach(async () => {
    test = await testApp({ store });
    api = servedApi(test);
  });
  afterEach(async () => {
    await api.close();
    await test.close();
  });

  const cancel = (id: string) =>
    api.post<Message & { _tag?: string; message?: string }>(`/v1/messages/${id}/cancel`);

  async function schedule(): Promise<string> {
    const scheduledFor = isoTime(test.clock.now() + hourMs);
    const body = scheduledPayload.parse(payload({}, { scheduledFor }));
    return (await scheduleMessage(test.app, test.caller, body)).id;
  }

  async function change(id: string, set: string): Promise<void> {
    await test.app.store.write((trx) =>
      sql`update deliveries set ${sql.raw(set)} where message_id = ${id}`.execute(trx),
    );
  }

  it('stops a scheduled message for good, and is repeatable', async () => {
    const { app, caller, clock } = test;
    const id = await schedule();
    const { status, body } = await cancel(id);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      status: 'failed',
      deliveries: [{ status: 'failed', errorCode: 'cancelled', scheduling: null }],
    });
    expect((await cancel(id)).body).toEqual(body);
    const pipeline = await startPipeline(app);
    await clock.advance(2 * hourMs);
    await pipeline.idle();
    await pipeline.close();
    expect(await timeline(app, caller, id)).toEqual(['scheduled:scheduled', 'cancelled:failed']);
    expect(await usedToday(test)).toEqual({ emails: 0, messages: 0 });
    const [why] = (await explainMessage(app, caller, id)).recipients;
    expect(why?.happened).toMatch(/^It was not sent/);
  });

  it('stops queued and retried messages for all recipients', async () => {
    const { app, caller, clock } = test;
    const ready = await send(app, caller, ['a@x.example', 'b@x.example']);
    const retried = await waiting(app, caller, 'c@x.example', clock.now() + hourMs);
    for (const id of [ready.id, retried.message_id]) {
      const { status, body } = await cancel(id);
      expect([status, body.status]).toEqual([200, 'failed']);
      expect(new Set(body.deliveries.map(({ errorCode }) => errorCode))).toEqual(
        new Set(['cancelled']),
      );
    }
    expect(await claim(app)).toEqual([]);
    const events = await timeline(app, caller, ready.id);
    expect(events).toEqual(['accepted:pending', 'cancelled:failed', 'cancelled:failed']);
  });

  it('stops the rest of a message that partly bounced and was not sent', async () => {
    const { app, caller } = test;
    const { id, deliveries } = await send(app, caller, ['a@x.example', 'b@x.example']);
    await app.store.write((trx) =>
      sql`update deliveries set status = 'bounced', turn = null, due_at = null,
        error_code = 'invalid-recipient' where id = ${deliveries[0]?.id}`.execute(trx),
    );
    const { body } = await cancel(id);
    expect(body.status).toBe('bounced');
    expect(body.deliveries.map(({ errorCode }) => errorCode)).toEqual([
      'invalid-recipient',
      'cancelled',
    ]);
  });

  it('answers 409 for a message that is sent, partly sent, under way or ended', async () => {
    const { app, caller } = test;
    const refused = async (id: string) => {
      const { status, body } = await cancel(id);
      expect([status, body._tag]).toEqual([409, 'ConflictError']);
      return body.message;
    };
    const { id, deliveries } = await send(app, caller, ['a@x.example', 'b@x.example']);
    await app.store.write((trx) =>
      sql`update deliveries set status = 'sent', turn = null, due_at = null, sent_at = 1
        where id = ${deliveries[0]?.id}`.execute(trx),
    );
    expect(await refused(id)).toMatch(/was sent to 1 of 2 recipients/);
    await change(id, `status = 'sent', turn = null, due_at = null, sent_at = 1`);
    expect(await refused(id)).toMatch(/was sent to 2 of 2/);
    const single = await queued(app, caller, 'c@x.example');
    await claim(app);
    expect(await refused(single.message_id)).toMatch(/is being attempted now/);
    await change(
      single.message_id,
      `status = 'bounced', claimed_by = null, due_at = null, error_code = 'spam'`,
    );
    expect(await refused(single.message_id)).toMatch(/has ended \(bounced\)/);
  });

  it('is refused while one of two copies is attempted, and keeps the other one', async () => {
    const { app, caller } = test;
    const { id, deliveries } = await send(app, caller, ['a@x.example', 'b@x.example']);
    await app.store.write((trx) =>
      sql`update deliveries set claimed_by = 'wrk_1' where id = ${deliveries[1]?.id}`.execute(trx),
    );
    const { status, body } = await cancel(id);
    expect(status).toBe(409);
    expect(body.message).toContain(`${id} is being attempted now`);
    const shown = await getMessage(app, caller, id);
    expect(shown.deliveries.map((one) => one.status)).toEqual(['pending', 'pending']);
  });

  it('answers 404 for an unknown message and for one of another organization', async () => {
    expect((await cancel('msg_0000000000000000')).status).toBe(404);
    expect((await cancel('x')).status).toBe(422);
    const id = await schedule();
    const stranger = { ...test.operator, organizationId: 'org_00000000000000000000000a' };
    await expect(cancelMessage(test.app, stranger, id)).rejects.toThrow('was not found');
  });

  it('in a race with claims either cancels or attempts each message, never both', async () => {
    const { app, caller } = test;
    const other = await test.another();
    const sent = await Promise.all(
      Array.from({ length: 40 }, (_, index) => send(app, caller, `r${index}@x.example`)),
    );
    const cancelling = sent.map(({ id }) =>
      cancelMessage(app, caller, id).then(
        () => true,
        (error: unknown) => {
          if (error instanceof ConflictError) return false;
          throw error;
        },
      ),
    );
    const [cancelled, ...claims] = await Promise.all([
      Promise.all(cancelling),
      ...Array.from({ length: 8 }, (_, index) => claim(index % 2 ? app : other, 7, `wrk_${index}`)),
    ]);
    claims.push(await claim(other));
    const attempted = new Set(claims.flat());
    for (const [index, message] of sent.entries()) {
      const email = message.to[0]?.email ?? '';
      expect([email, attempted.has(email)]).toEqual([email, !cancelled[index]]);
      const { status } = await getMessage(app, caller, message.id);
      expect([email, status]).toEqual([email, cancelled[index] ? 'failed' : 'processing']);
    }
  });

  it.runIf(store === 'postgres')('waits for a concurrent claim and loses to it', async () => {
    const { app, caller } = test;
    const { message_id: id } = await queued(app, caller, 'a@x.example');
    const daemon = await test.another();
    const held = await heldWrite(daemon, async (trx) => {
      await sql`select id from deliveries where message_id = ${id} for update`.execute(trx);
      await sql`update deliveries set claimed_by = 'wrk_1', turn = null, status = 'processing'
        where message_id = ${id}`.execute(trx);
      await sql`update messages set status = 'processing' where id = ${id}`.execute(trx);
    });
    const cancelling = cancelMessage(app, caller, id).catch((error: unknown) => error);
    const dropping = dropDeliveries(app, [id]).catch((error: unknown) => error);
    await someoneWaits(app, 'deliveries');
    await held.commit();
    expect(await cancelling).toBeInstanceOf(ConflictError);
    expect(await dropping).toBeInstanceOf(ConflictError);
    expect((await getMessage(app, caller, id)).status).toBe('processing');
  });
});
