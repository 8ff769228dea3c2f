// Retention deletes ended messages older than `retention.messagesDays`, with all their rows; usage
// stays. It pauses between batches and ends with the daemon.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { listMailboxes } from '../../../src/identity/mailboxes/mailboxes.ts';
import { createProjector } from '../../../src/inbox/receiving/projector.ts';
import { forward } from '../../../src/inbox/replies/answers.ts';
import { listThreads } from '../../../src/inbox/threads/threads.ts';
import { deleteOldMessages } from '../../../src/outbound/messages/forget/retention.ts';
import { getEmailProjection } from '../../../src/outbound/messages/lists/email-projection.ts';
import { getMessage, listMessages } from '../../../src/outbound/messages/messages.ts';
import { resendMessage } from '../../../src/outbound/sending/resend.ts';
import { readRawMail } from '../../../src/outbound/sending/stored-parts.ts';
import { linkKeeper } from '../../../src/outbound/tracking/kept-links.ts';
import { ConflictError } from '../../../src/platform/errors.ts';
import { receiveMail, shortMail } from '../../inbox/receiving/received-mail.ts';
import { stores, type TestStore } from '../../support/command.ts';
import { send, startPipeline } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { passingTime } from '../../support/virtual-clock.ts';
import { noRows, rowCounts } from './fixtures.ts';

const dayMs = 86_400_000;
const quiet = { isPressing: () => false, isWorking: () => false };

let test: TestApp | undefined;
afterEach(() => test?.close());

async function withOld(store: TestStore, messagesDays: number | null) {
  test = await testApp({ store, config: { retention: { messagesDays } } });
  const { app, caller } = test;
  const attachments = [{ filename: 'a.txt', content: 'eA==' }];
  for (let number = 0; number < 55; number++) {
    await send(app, caller, 'delivered@simulator.test', {
      email: { text: `${number}`, attachments },
    });
  }
  await receiveMail(app, shortMail('in'));
  const pipeline = await startPipeline(app);
  await pipeline.idle();
  await pipeline.close();
  return later(test, 2);
}

/** Starts the service again, days later. */
async function later({ clock, another, caller, operator }: TestApp, days: number) {
  clock.set(clock.now() + days * dayMs);
  return { app: await another(), clock, caller, operator };
}

type Service = Awaited<ReturnType<typeof later>>;

/** Runs the retention, while time passes. */
function run({ app, clock }: Service, surroundings = quiet): Promise<number> {
  const { signal } = new AbortController();
  const parts = { ...surroundings, keeper: linkKeeper };
  return passingTime(clock, deleteOldMessages(app, parts, signal), 100);
}

const usage = async ({ app }: Pick<Service, 'app'>) =>
  (await sql<object>`select * from counters order by 1, 2, 3`.execute(app.store.db)).rows;

describe.each(stores)('retention on %s', (store) => {
  it('deletes older messages with their rows, and keeps newer ones and the usage', async () => {
    const old = await withOld(store, 1);
    const counted = await usage(old);
    const { id } = await send(old.app, old.caller, 'ada@example.com');
    const before = await usage(old);
    expect(await run(old)).toBe(56);
    const query = { page: 1, limit: 100 } as const;
    const { items, pagination } = await listMessages(old.app, old.caller, query);
    expect(items.map((one) => one.id)).toEqual([id]);
    expect(pagination.total).toBe(1);
    const rows = await rowCounts(old.app);
    expect(rows).toEqual({
      ...noRows,
      messages: 1,
      contents: 1,
      recipients: 1,
      deliveries: 1,
      events: 1,
    });
    expect(await usage(old)).toEqual(before);
    expect(counted.length).toBeGreaterThan(0);
    expect(await run(old)).toBe(0);
  });

  it('keeps all messages without messagesDays, and unfinished ones with it', async () => {
    const old = await withOld(store, null);
    expect(await run(old)).toBe(0);
    await test?.close();
    test = await testApp({ store, config: { retention: { messagesDays: 1 } } });
    await send(test.app, test.caller, 'ada@example.com');
    expect(await run(await later(test, 3))).toBe(0);
  });

  it('does not age messages by a clock that is set forward', async () => {
    const old = await withOld(store, 30);
    old.clock.set(old.clock.now() + 365 * dayMs);
    expect(await run(old)).toBe(0);
  });

  it('pauses between batches, longer beside other work, and ends with a stop', async () => {
    const { app, clock } = await withOld(store, 1);
    const stopping = new AbortController();
    const parts = { ...quiet, isWorking: () => true, keeper: linkKeeper };
    const done = deleteOldMessages(app, parts, stopping.signal);
    const left = async () => (await rowCounts(app)).messages;
    while ((await left()) > 6) await clock.advance(0);
    await clock.advance(40);
    expect(await left()).toBe(6);
    stopping.abort();
    expect(await done).toBe(50);
  });
});

describe.each(stores)('retention of contents on %s', (store) => {
  const later2 = async (made: TestApp) => later(made, 2);

  async function withMail() {
    test = await testApp({ store, config: { retention: { contentDays: 1 } } });
    const { app, caller } = test;
    const attachments = [{ filename: 'a.txt', content: 'eA==' }];
    const sent = await send(app, caller, 'delivered@simulator.test', {
      email: {
        subject: 'Kept subject',
        text: 'secretword',
        html: '<p>secretword</p>',
        attachments,
      },
    });
    await receiveMail(app, ['From: ada@example.com', 'Subject: greeting', '', 'hiddenword']);
    const pipeline = await startPipeline(app);
    await pipeline.idle();
    await pipeline.close();
    const { items } = await listMessages(app, caller, { page: 1, limit: 100 });
    const received = items.find(({ direction }) => direction === 'inbound');
    if (!received) throw new Error('no received mail');
    await createProjector(app).projectDue();
    const [mailbox] = (await listMailboxes(app, caller, { page: 1, limit: 1 })).items;
    const search = async (of: App, q: string) =>
      (await listThreads(of, caller, mailbox?.id ?? '', { q, limit: 10 })).items.map(
        ({ preview }) => preview,
      );
    return { made: test, sent, received, search, mailboxId: mailbox?.id ?? '' };
  }

  const emailQuery = { includeStorageUrls: false, urlExpiresIn: 60 } as never;

  it('removes texts, files and raw mail of older messages, and leaves the rest of them', async () => {
    const { made, sent, received, search, mailboxId } = await withMail();
    expect(await search(made.app, 'hiddenword')).toEqual(['hiddenword']);
    const before = await rowCounts(made.app);
    expect(before.contents + before.blobs).toBeGreaterThan(1);
    const old = await later2(made);
    const young = await send(old.app, old.caller, 'ada@example.com', {
      email: { text: 'secretword' },
    });
    expect(await run(old)).toBe(2);
    const after = await rowCounts(old.app);
    expect(after).toMatchObject({ messages: 3, contents: 1, blobs: 0 });
    expect(after.events).toBe(before.events + 1);
    for (const { id } of [sent, received]) {
      const email = await getEmailProjection(old.app, old.caller, id, emailQuery);
      expect(email).toMatchObject({ html: null, text: null, newContent: null, attachments: [] });
      await expect(readRawMail(old.app, old.caller, id)).rejects.toThrow('retention.contentDays');
    }
    const kept = await getMessage(old.app, old.caller, sent.id);
    expect(kept).toMatchObject({ subject: 'Kept subject', status: 'delivered' });
    expect(kept.deliveries).toHaveLength(1);
    await expect(resendMessage(old.app, old.caller, sent.id, null)).rejects.toThrow(ConflictError);
    const place = { mailboxId, messageId: received.id };
    const onwards = { to: ['bob@example.com'] };
    await expect(forward(old.app, old.caller, place, onwards, null)).rejects.toThrow(
      `${received.id} has no content any more: retention.contentDays removed it`,
    );
    expect((await rowCounts(old.app)).messages).toBe(3);
    expect((await readRawMail(old.app, old.caller, young.id)).body.length).toBeGreaterThan(100);
    expect(await search(old.app, 'hiddenword')).toEqual([]);
    expect(await search(old.app, 'greeting')).toEqual([null]);
    expect(await run(old)).toBe(0);
  });

  it('keeps the content of what has not ended, and all of it without contentDays', async () => {
    test = await testApp({ store, config: { retention: { contentDays: 1 } } });
    await send(test.app, test.caller, 'ada@example.com');
    expect(await run(await later2(test))).toBe(0);
    await test.close();
    const old = await withOld(store, null);
    expect(await run(old)).toBe(0);
    expect((await rowCounts(old.app)).contents).toBeGreaterThan(0);
  });

  it('passes over many messages without content, a bounded number at a time', async () => {
    test = await testApp({ store, config: { retention: { contentDays: 1 } } });
    const { app, caller } = test;
    for (let number = 0; number < 30; number++) {
      await send(app, caller, 'delivered@simulator.test', { email: { text: `${number}` } });
    }
    const pipeline = await startPipeline(app);
    await pipeline.idle();
    await pipeline.close();
    const old = await later2(test);
    expect(await run(old)).toBe(30);
    expect(await run(old)).toBe(0);
    expect((await rowCounts(old.app)).contents).toBe(0);
  });
});
