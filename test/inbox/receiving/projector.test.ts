// The stage after the 250: received mail is parsed once, soon after it, and every read of it is
// served from the stored projection.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { createProjector, type Projector } from '../../../src/inbox/receiving/projector.ts';
import { takeProjections } from '../../../src/outbound/messages/contents/projection-queries.ts';
import { getEmailProjection } from '../../../src/outbound/messages/lists/email-projection.ts';
import { deleteMessage, getMessageRow } from '../../../src/outbound/messages/messages.ts';
import { deleteMessageRow } from '../../../src/outbound/messages/queries.ts';
import { heldWrite, someoneWaits } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { holdParser } from '../../support/held-parser.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { liveBytes } from '../../support/work-time.ts';
import { countParses, projectionStates, receiveMail, shortMail } from './received-mail.ts';

const minuteMs = 60_000;

/** Holds the worker for about half a second, so that the next mail has to queue. */
const slow = Buffer.from(`Content-Type: text/html\r\n\r\n${'<div>'.repeat(25_000)}`);
/** Overruns the deadline of the worker, which then ends. */
const endless = [...shortMail('endless').slice(0, 2), '', '\n'.repeat(5_000_000)];

const newsletter = [
  'From: News <news@example.com>',
  'To: inbox@sandbox.test',
  'Subject: Re: News',
  'List-Id: The weekly news <Weekly.Example.com>',
  'List-Unsubscribe: <https://example.com/u>, <mailto:u@example.com>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
  'Auto-Submitted: auto-generated',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="b"',
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  '',
  '   It is   out.',
  '',
  'On Mon, 5 Jan 2026 at 10:00, Inbox <inbox@sandbox.test> wrote:',
  '> When?',
  '--b',
  'Content-Type: application/pdf',
  'Content-Disposition: attachment; filename="news.pdf"',
  '',
  '12345',
  '--b--',
];

describe.each(stores)('the projection of received mail on %s', (store) => {
  let test: TestApp;
  let app: App;
  let projector: Projector;
  beforeEach(async () => {
    test = await testApp({ store });
    app = test.app;
    projector = createProjector(app);
  });
  afterEach(() => test.close());

  const ask = (id: string, of = app) => getEmailProjection(of, test.caller, id, {});
  const states = () => projectionStates(app);

  /** Projects until nothing is due now. */
  async function projectAll(by = projector): Promise<number> {
    let taken = 0;
    for (let more = await by.projectDue(); more > 0; more = await by.projectDue()) taken += more;
    return taken;
  }

  it('leaves no text of a mail in memory', async () => {
    const mails = 16;
    const text = `${'word '.repeat(12)}\r\n`.repeat(16_000);
    // Loads what the first mail needs.
    await receiveMail(app, shortMail('first'));
    await projectAll();
    const before = liveBytes();
    for (let n = 0; n < mails; n++) {
      await receiveMail(app, [...shortMail(`mail ${n}`).slice(0, 2), '', text]);
    }
    expect(await projectAll()).toBe(mails);
    expect(liveBytes() - before).toBeLessThan((mails * text.length) / 4);
  });

  it('is queued in the same transaction as the 250', async () => {
    const id = await receiveMail(app, shortMail('one'));
    const due = test.clock.now();
    expect(await states()).toEqual([{ id, due, tries: 0, isParsed: false, text: null }]);
    await app.store.write((trx) =>
      sql`alter table email_projections rename to elsewhere`.execute(trx),
    );
    await expect(receiveMail(app, shortMail('two'))).rejects.toThrow('email_projections');
    const { rows } = await sql<{ id: string }>`select id from messages`.execute(app.store.db);
    expect(rows).toEqual([{ id }]);
  });

  it('stores every field of a newsletter', async () => {
    await receiveMail(app, newsletter);
    expect(await projectAll()).toBe(1);
    const { rows } = await sql<Record<string, unknown>>`select * from email_projections`.execute(
      app.store.db,
    );
    const json = (name: string) => JSON.parse(String(rows[0]?.[name]));
    expect(rows).toMatchObject([
      {
        due_at: null,
        parsed_at: test.clock.now(),
        is_auto_reply: 1,
        auto_reply_reason: 'auto-response',
        list_id: 'weekly.example.com',
        list_unsubscribe_url: 'https://example.com/u',
        list_unsubscribe_email: 'u@example.com',
        preview: 'It is out.',
        has_quoted_content: 1,
        quoted_content: expect.stringContaining('When?'),
        text: expect.stringContaining('It is   out.'),
        html: null,
      },
    ]);
    expect(json('list_headers')).toEqual([
      { name: 'List-Id', value: 'The weekly news <Weekly.Example.com>' },
      { name: 'List-Unsubscribe', value: '<https://example.com/u>, <mailto:u@example.com>' },
      { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
    ]);
    expect(json('attachments')).toMatchObject([
      { index: 0, partNumber: '2', filename: 'news.pdf', contentType: 'application/pdf', size: 5 },
    ]);
  });

  it('gives the same email before and after the stage has parsed it', async () => {
    const [before, after] = [
      await receiveMail(app, newsletter),
      await receiveMail(app, newsletter),
    ];
    const first = await ask(before);
    await projectAll();
    // The second mail has a later place in their thread.
    const neutral = { id: '', messageIdHeader: '', deliveries: [], threadPosition: null };
    expect({ ...(await ask(after)), ...neutral }).toEqual({ ...first, ...neutral });
    // Parsing has given the first mail its place.
    expect(await ask(before)).toEqual({ ...first, threadPosition: 0 });
    expect(first).toMatchObject({
      newContent: '   It is   out.',
      isAutoReply: true,
      attachments: [
        { filename: 'news.pdf', contentType: 'application/pdf', contentId: null, size: 5 },
      ],
    });
  });

  it('parses each of 200 mails once, however often they are read', async () => {
    const mails = 200;
    const parses = countParses(app);
    const ids = await Promise.all(
      Array.from({ length: mails }, (_, index) => receiveMail(app, shortMail(`mail ${index}`))),
    );
    expect(await projectAll()).toBe(mails);
    expect(parses.count).toBe(mails);
    for (const [index, id] of ids.entries()) {
      const { text, parsingErrors } = await ask(id);
      expect([text, parsingErrors?.map(({ code }) => code)]).toEqual([
        `mail ${index}\n`,
        ['missing-header'],
      ]);
    }
    expect(parses.count).toBe(mails);
    expect((await states()).filter(({ due }) => due !== null)).toEqual([]);
  });

  it('parses a mail that is read first, and only completes it in the stage', async () => {
    const parses = countParses(app);
    const id = await receiveMail(app, shortMail('soon'));
    expect((await ask(id)).text).toBe('soon\n');
    expect(await states()).toMatchObject([{ id, due: test.clock.now(), isParsed: true }]);
    expect(await projectAll()).toBe(1);
    expect(await states()).toMatchObject([{ id, due: null, isParsed: true, text: 'soon\n' }]);
    expect(parses.count).toBe(1);
  });

  it('parses a mail without a projection at its first read and stores it', async () => {
    const parses = countParses(app);
    const id = await receiveMail(app, shortMail('old'));
    await app.store.write((trx) => sql`delete from email_projections`.execute(trx));
    const first = await ask(id);
    expect(await states()).toEqual([{ id, due: null, tries: 0, isParsed: true, text: 'old\n' }]);
    expect(await ask(id)).toEqual(first);
    expect(parses.count).toBe(1);
    expect(await projectAll()).toBe(0);
  });

  it('parses a mail once for concurrent reads of two daemons', async () => {
    const other = await test.another();
    const id = await receiveMail(app, shortMail('both'));
    await app.store.write((trx) => sql`delete from email_projections`.execute(trx));
    await app.mime.parse(Buffer.from('warm: up\r\n\r\n'));
    const held = app.mime.parse(slow);
    const parses = countParses(app);
    const answers = await Promise.all([ask(id), ask(id), ask(id, other), projectAll()]);
    await held;
    expect(answers.slice(0, 3).map((one) => (one as { text: string }).text)).toEqual(
      Array(3).fill('both\n'),
    );
    expect(parses.count).toBe(1);
    expect(await states()).toMatchObject([{ id, isParsed: true }]);
  });

  it('is deleted with its message, parsed or queued', async () => {
    const parsed = await receiveMail(app, newsletter);
    await projectAll();
    const waiting = await receiveMail(app, shortMail('later'));
    for (const id of [parsed, waiting]) await deleteMessage(app, test.caller, id);
    expect(await states()).toEqual([]);
    expect(await projectAll()).toBe(0);
  });

  it.each(['by the stage', 'at a read', 'at a read of old mail'])(
    'leaves no row when the message is deleted while it is parsed %s',
    async (by) => {
      const id = await receiveMail(app, shortMail('gone'));
      if (by.endsWith('old mail')) {
        await app.store.write((trx) => sql`delete from email_projections`.execute(trx));
      }
      const parser = holdParser(app);
      const parsing = by === 'by the stage' ? projectAll() : ask(id);
      while (parser.calls === 0) await nextTurn();
      await deleteMessage(app, test.caller, id);
      parser.release();
      await parsing;
      expect(await states()).toEqual([]);
      await expect(ask(id)).rejects.toThrow(id);
    },
  );

  /** Warms up a worker, starts `work`, and kills the worker during its first mail. */
  async function endsWorker<T>(work: () => Promise<T>): Promise<T> {
    await app.mime.parse(Buffer.from('warm: up\r\n\r\n'));
    const parses = countParses(app);
    const working = work();
    while (parses.count === 0) await nextTurn();
    // The clock runs ahead of the CPU time, so that the limit by the wall clock ends the worker.
    await test.clock.advance(10 * 2_000);
    return working;
  }

  it('tries a mail that ends the worker three times, then stores the fields of its header', async () => {
    const { clock } = test;
    const bad = await receiveMail(app, endless);
    const good = await receiveMail(app, shortMail('good'));
    for (let tries = 1; tries <= 3; tries++) {
      await endsWorker(() => projectAll());
      const row = (await states()).find(({ id }) => id === bad);
      expect([row?.tries, row?.isParsed]).toEqual([tries, tries === 3]);
      await clock.advance(minuteMs);
    }
    expect(await projectAll()).toBe(0);
    const parses = countParses(app);
    expect(await ask(bad)).toMatchObject({
      subject: 'endless',
      text: null,
      parsingErrors: [{}, { code: 'parse-timeout' }],
    });
    expect(await ask(good)).toMatchObject({ text: 'good\n' });
    expect(parses.count).toBe(0);
  });

  it('stores a mail that ends the worker at each read after the third read', async () => {
    const id = await receiveMail(app, endless);
    await app.store.write((trx) => sql`delete from email_projections`.execute(trx));
    for (let tries = 1; tries <= 3; tries++) {
      const { parsingErrors } = await endsWorker(() => ask(id));
      expect(parsingErrors?.at(-1)?.code).toBe('parse-timeout');
      expect(await states()).toMatchObject([{ tries, isParsed: tries === 3 }]);
    }
    const parses = countParses(app);
    await ask(id);
    expect(parses.count).toBe(0);
  });

  it('stores a mail that crashes daemons unparsed, and parses its neighbours', async () => {
    const { clock } = test;
    for (const text of ['one', 'two', 'three']) await receiveMail(app, shortMail(text));
    const taking = { leaseUntil: 0, limit: 16, isBegun: false };
    const claimAndDie = (isBegun: boolean, limit: number) =>
      app.store.write((trx) => {
        const now = clock.now();
        return takeProjections(trx, { ...taking, now, leaseUntil: now + minuteMs, isBegun, limit });
      });
    expect(await claimAndDie(false, 16)).toHaveLength(3);
    await clock.advance(minuteMs);
    // From the second claim on, each mail is claimed alone.
    const [guilty] = await claimAndDie(true, 1);
    expect(await projector.projectDue()).toBe(1);
    expect(await projector.projectDue()).toBe(1);
    expect(await projector.projectDue()).toBe(0);
    await clock.advance(minuteMs);
    expect(await claimAndDie(true, 1)).toEqual([{ ...guilty, tries: 3 }]);
    await clock.advance(minuteMs);
    const parses = countParses(app);
    expect(await projectAll()).toBe(1);
    expect(parses.count).toBe(0);
    expect(await states()).toMatchObject(Array(3).fill({ due: null, isParsed: true }));
    expect((await ask(guilty?.message_id ?? '')).parsingErrors?.at(-1)?.code).toBe('parser-failed');
  });

  it('keeps a mail queued without counting tries while the parser is closed', async () => {
    const id = await receiveMail(app, shortMail('later'));
    await app.mime.close();
    for (let round = 0; round < 5; round++) {
      expect(await projector.projectDue()).toBe(1);
      expect(await projector.projectDue()).toBe(0);
      await test.clock.advance(1_000);
    }
    const due = test.clock.now();
    expect(await states()).toEqual([{ id, due, tries: 0, isParsed: false, text: null }]);
  });

  it('hands back a mail that was not begun in half of its lease', async () => {
    const large = [...shortMail('large'), 'x'.repeat(40_000)];
    const ids = [await receiveMail(app, large), await receiveMail(app, large)];
    const { parse } = app.mime;
    Object.assign(app.mime, {
      parse(...given: Parameters<typeof parse>) {
        test.clock.set(test.clock.now() + minuteMs / 2 + 1);
        return parse(...given);
      },
    });
    expect(await projector.projectDue()).toBe(2);
    expect(await states()).toMatchObject([
      { id: ids[0], isParsed: true },
      { id: ids[1], tries: 0, isParsed: false, due: test.clock.now() + 1_000 },
    ]);
  });

  it('hands claimed mail back at once when the daemon stops', async () => {
    await receiveMail(app, shortMail('one'));
    await receiveMail(app, shortMail('two'));
    const parser = holdParser(app);
    await projector.start();
    while (parser.calls === 0) await nextTurn();
    await projector.stop();
    expect(await states()).toMatchObject(Array(2).fill({ tries: 0, isParsed: false }));
    parser.release();
  });

  describe('during a burst', () => {
    const parsed = async () => (await states()).filter(({ isParsed }) => isParsed).length;
    const mails = (count: number) =>
      Promise.all(Array.from({ length: count }, () => receiveMail(app, shortMail('x'))));
    const sends = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, i) => send(app, test.caller, `u${i}@a.example`)),
      );

    afterEach(() => projector.stop());

    it.each([
      ['sends', () => sends(16)],
      ['mails', () => mails(8)],
    ])('pauses during a burst of %s, for 10 s at most', async (_what, burst) => {
      const passes = async (ms: number) => {
        await burst();
        await test.clock.advance(ms);
      };
      const tries = async () => (await states()).reduce((sum, one) => sum + one.tries, 0);
      await mails(1);
      await burst();
      await projector.start();
      for (let waitedMs = 0; waitedMs < 1_000; waitedMs += 40) await passes(40);
      expect(await tries()).toBe(0);
      await app.store.write((trx) =>
        sql`update email_projections set due_at = due_at - 8900`.execute(trx),
      );
      await passes(40);
      expect(await tries()).toBe(0);
      for (let waitedMs = 0; waitedMs < 200; waitedMs += 40) await passes(40);
      while ((await parsed()) === 0) await nextTurn();
    });

    it('pauses less as queued mail grows older', async () => {
      await mails(70);
      await app.store.write((trx) =>
        sql`update email_projections set due_at = due_at - 100000`.execute(trx),
      );
      await sends(16);
      await projector.start();
      while ((await parsed()) < 64) await nextTurn();
      // A pause of 100 ms after the batch would leave these unparsed.
      for (let waitedMs = 0; waitedMs < 40; waitedMs += 10) {
        await sends(16);
        // The clock runs ahead of the CPU time, so that the limit by the wall clock ends the
        // worker.
        await test.clock.advance(10);
      }
      expect((await states()).filter(({ tries }) => tries > 0)).toHaveLength(70);
    });

    it('resumes after the burst', async () => {
      await mails(20);
      await projector.start();
      await test.clock.advance(50);
      expect(await parsed()).toBe(0);
      // The clock runs ahead of the CPU time, so that the limit by the wall clock ends the worker.
      await test.clock.advance(100);
      while ((await parsed()) < 20) await nextTurn();
    });
  });
});

describe('the projection on two daemons of one postgres', () => {
  let test: TestApp;
  beforeEach(async () => {
    test = await testApp({ store: 'postgres' });
  });
  afterEach(() => test.close());

  it('shares the mail and parses none twice', async () => {
    const other = await test.another();
    const counts = [countParses(test.app), countParses(other)];
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => receiveMail(test.app, shortMail(`mail ${i}`))),
    );
    const projectors = [createProjector(test.app), createProjector(other)];
    const rounds = projectors.map(async (one) => {
      while ((await one.projectDue()) > 0);
    });
    await Promise.all(rounds);
    const parsed = counts.map(({ count }) => count);
    expect(Math.min(...parsed)).toBeGreaterThan(0);
    expect(parsed.reduce((sum, count) => sum + count)).toBe(100);
    const states = await projectionStates(test.app);
    expect(states.filter(({ due, isParsed }) => due !== null || !isParsed)).toEqual([]);
    expect(new Set(states.map(({ text }) => text)).size).toBe(100);
  });

  it('takes over from a dead daemon when the lease has run out', async () => {
    const other = createProjector(await test.another());
    for (let i = 0; i < 5; i++) await receiveMail(test.app, shortMail(`mail ${i}`));
    const now = test.clock.now();
    await test.app.store.write((trx) =>
      takeProjections(trx, { now, leaseUntil: now + minuteMs, limit: 16, isBegun: false }),
    );
    test.clock.set(now + minuteMs - 1);
    expect(await other.projectDue()).toBe(0);
    test.clock.set(now + minuteMs);
    for (let i = 0; i < 5; i++) expect(await other.projectDue()).toBe(1);
    expect(await projectionStates(test.app)).toMatchObject(
      Array.from({ length: 5 }, (_, i) => ({ due: null, text: `mail ${i}\n` })),
    );
  });

  it('keeps the row of the second daemon when the first one is too late', async () => {
    const other = await test.another();
    const id = await receiveMail(test.app, shortMail('late'));
    const parser = holdParser(test.app);
    const late = createProjector(test.app).projectDue();
    while (parser.calls === 0) await nextTurn();
    test.clock.set(test.clock.now() + minuteMs);
    expect(await createProjector(other).projectDue()).toBe(1);
    await other.store.write((trx) => sql`update email_projections set text = 'kept'`.execute(trx));
    parser.release();
    expect(await late).toBe(1);
    expect(await projectionStates(test.app)).toMatchObject([{ id, due: null, text: 'kept' }]);
  });

  it.each([
    ['by the stage', 'messages', false],
    ['at a read of old mail', 'messages', true],
  ])(
    'leaves no row when the other daemon deletes the message while it is parsed %s',
    async (by, table, isOld) => {
      const { app, caller } = test;
      const other = await test.another();
      const id = await receiveMail(app, shortMail('gone'));
      if (isOld) await app.store.write((trx) => sql`delete from email_projections`.execute(trx));
      const parser = holdParser(app);
      const parsing: Promise<unknown> =
        by === 'by the stage'
          ? createProjector(app).projectDue()
          : getEmailProjection(app, caller, id, {});
      while (parser.calls === 0) await nextTurn();
      const theirs = await heldWrite(other, async (trx) =>
        deleteMessageRow(trx, await getMessageRow(trx, caller.organizationId, id)),
      );
      parser.release();
      await someoneWaits(app, table);
      await theirs.commit();
      await parsing;
      expect(await projectionStates(app)).toEqual([]);
    },
  );
});
