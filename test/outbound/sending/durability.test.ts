// The durability of each answer: every acceptance of a message or a received mail asks for a commit
// that survives a power failure, and answers after it. `now` on each store: test/platform/store.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { receive } from '../../../src/inbox/receiving/receive.ts';
import { resolveAddressee } from '../../../src/inbox/receiving/resolve.ts';
import { scheduledPayload } from '../../../src/outbound/messages/send-schema.ts';
import { sendBatch } from '../../../src/outbound/sending/batch.ts';
import { handIn } from '../../../src/outbound/sending/hand-in/hand-in.ts';
import { scheduleMessage } from '../../../src/outbound/sending/schedule/schedule.ts';
import { sendMessage } from '../../../src/outbound/sending/send.ts';
import type { Durability } from '../../../src/platform/store/db.ts';
import { stores } from '../../support/command.ts';
import { payloadFor } from '../../support/delivery.ts';
import { inboundEnvelope } from '../../support/inbound-envelope.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const mail = Buffer.from(
  ['From: inbox@sandbox.test', 'To: ada@example.com', 'Subject: Hello', '', 'Hello.', ''].join(
    '\r\n',
  ),
);

async function receiveFor(app: App, address: string): Promise<unknown> {
  const addressee = await resolveAddressee(app, address);
  if (addressee.kind === 'refused') throw new Error(`${address} was refused`);
  const envelope = inboundEnvelope([addressee], 'ada@example.com');
  return receive(app, envelope, mail);
}

const answers: Record<string, (test: TestApp) => Promise<unknown>> = {
  'a send': ({ app, caller }) => sendMessage(app, caller, payloadFor('ada@example.com'), null),
  'a send with an idempotency key': ({ app, caller }) =>
    sendMessage(app, caller, payloadFor('ada@example.com'), 'key'),
  'a batch': ({ app, caller }) => sendBatch(app, caller, [payloadFor('ada@example.com')], 'key'),
  'a scheduled send': ({ app, caller, clock }) => {
    const scheduledFor = new Date(clock.now() + 3_600_000).toISOString();
    const body = { ...payloadFor('ada@example.com'), scheduledFor };
    return scheduleMessage(app, caller, scheduledPayload.parse(body));
  },
  'a mail handed in': ({ app, caller }) =>
    handIn(app, caller, {
      raw: mail,
      recipients: ['ada@example.com'],
      allowsUtf8: false,
      bareDomain: null,
      via: 'smtp',
      user: null,
    }),
  'a mail for a mailbox': ({ app }) => receiveFor(app, 'inbox@sandbox.test'),
  'a received report': ({ app }) => receiveFor(app, 'fbl@bounce.sandbox.test'),
};

describe.each(stores)('answers on %s', (store) => {
  let test: TestApp;
  /** Durability asked for by each write, in order. */
  let asked: Durability[];
  /** Releases the answers of all writes. */
  let release: () => void;

  beforeEach(async () => {
    test = await testApp({ store });
    asked = [];
    const held = Promise.withResolvers<void>();
    release = held.resolve;
    const { write } = test.app.store;
    const holding: typeof write = async (work, durability = 'now') => {
      asked.push(durability);
      const value = await write(work, durability);
      if (durability === 'now') await held.promise;
      return value;
    };
    Object.assign(test.app.store, { write: holding });
  });
  afterEach(async () => {
    release();
    await test.close();
  });

  it.each(Object.keys(answers))('to %s wait for the durable commit', async (name) => {
    let isAnswered = false;
    const answer = answers[name]?.(test).then((value) => {
      isAnswered = true;
      return value;
    });
    await expect.poll(() => asked.length).toBe(1);
    for (let turn = 0; turn < 100; turn += 1) await nextTurn();
    expect(asked).toEqual(['now']);
    expect(isAnswered).toBe(false);
    release();
    expect(await answer).toBeTruthy();
  });
});
