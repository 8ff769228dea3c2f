// Changes to a thread: by hand, labels, notes, the end of a snooze, and deletion.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import { createMailbox, deleteMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { sweepThreads, wakeThreads } from '../../../src/inbox/threads/jobs.ts';
import type { Thread, ThreadNote, ThreadStanding } from '../../../src/inbox/threads/schema.ts';
import { inLong, stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { arrive, countsOf, type ThreadApi, threadsOver } from './mails.ts';

const dayMs = 86_400_000;
type Refusal = { _tag: string; resource?: string; fields?: Record<string, string[]> };
type Page<T> = { items: T[]; nextCursor: string | null };

describe.each(stores)('a thread, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let threads: ThreadApi;
  let path: string;
  beforeEach(async () => {
    threads = await threadsOver(test.app, api);
    await arrive(test.app, { id: 'first@x' });
    path = `${threads.path}/${(await threads.list()).items[0]?.id}`;
  });

  const change = <Body = Thread>(body: object) => api.request<Body>('PATCH', path, { body });
  const unlabel = (labels: unknown) =>
    api.request<ThreadStanding>('DELETE', `${path}/labels`, { body: { labels } });
  const label = (labels: unknown) => api.post<ThreadStanding>(`${path}/labels`, { labels });
  const audited = async () => {
    const { body } = await api.get<Page<{ action: string; details: unknown }>>('/v1/audit?limit=5');
    return body.items.filter(({ action }) => /^(thread|note)\./.test(action));
  };
  const iso = (ms: number) => new Date(test.clock.now() + ms).toISOString();

  it('is read, starred, moved, prioritized and snoozed, with audit entries', async () => {
    const snoozedUntil = iso(dayMs);
    const wanted = { read: true, starred: true, folder: 'archive', priority: 'high', snoozedUntil };
    const { status, body } = await change(wanted);
    expect([status, body]).toMatchObject([200, wanted]);
    expect((await api.get<Thread>(path)).body).toEqual(body);
    expect(await audited()).toMatchObject([
      { action: 'thread.updated', details: { folder: { before: 'inbox', after: 'archive' } } },
    ]);
    await change({ read: true });
    expect(await audited()).toHaveLength(1);
    expect((await change({ snoozedUntil: null })).body.snoozedUntil).toBeNull();
  });

  it('refuses an invalid state by the field', async () => {
    for (const [body, field] of [
      [{ folder: 'attic' }, 'folder'],
      [{ priority: 'urgent' }, 'priority'],
      [{ snoozedUntil: '2026-01-05T12:00:00Z' }, 'snoozedUntil'],
      [{ snoozedUntil: 'tomorrow' }, 'snoozedUntil'],
      [{ read: 1 }, 'read'],
      [{ subject: 'Another' }, 'subject'],
    ] as const) {
      const before = await api.get(path);
      const answer = await change<Refusal>(body);
      expect([body, answer.status, Object.keys(answer.body.fields ?? {})]).toEqual([
        body,
        422,
        [field],
      ]);
      expect((await api.get(path)).body).toEqual(before.body);
    }
  });

  it('returns unread to inbox within a minute after its snooze, except from trash', async () => {
    await change({ folder: 'archive', read: true, snoozedUntil: iso(dayMs) });
    await test.clock.advance(dayMs - 1);
    expect(await wakeThreads(test.app)).toBe(0);
    await test.clock.advance(1);
    expect(await wakeThreads(test.app)).toBe(1);
    const back = { folder: 'inbox', read: false, snoozedUntil: null };
    expect((await api.get(path)).body).toMatchObject(back);
    await change({ snoozedUntil: iso(1_000) });
    expect((await change({ folder: 'trash' })).body.snoozedUntil).toBeNull();
    await test.clock.advance(2_000);
    expect(await wakeThreads(test.app)).toBe(0);
    expect((await api.get(path)).body).toMatchObject({ folder: 'trash' });
  });

  it('has labels that keep their case and are compared without it', async () => {
    const added = await label(['Urgent', ' Zürich ', 'URGENT']);
    expect([added.status, added.body]).toEqual([
      200,
      {
        id: expect.any(String),
        folder: 'inbox',
        priority: 'normal',
        labels: ['Urgent', 'Zürich'],
        read: false,
        starred: false,
        snoozedUntil: null,
      },
    ]);
    expect((await label(['urgent'])).body.labels).toEqual(['Urgent', 'Zürich']);
    const removed = await unlabel(['ZÜRICH', 'never had it']);
    expect([removed.status, removed.body.labels]).toEqual([200, ['Urgent']]);
    expect((await threads.list('?label=URGENT')).items).toHaveLength(1);
    expect((await threads.list(`?label=${encodeURIComponent('zürich')}`)).items).toEqual([]);
  });

  it('refuses empty, long, multi-line and too many labels', async () => {
    for (const [labels] of [
      [[]],
      [['']],
      [['   ']],
      [['a\r\nb']],
      [['a\0b']],
      [['x'.repeat(65)]],
      [Array.from({ length: 51 }, (_, i) => `l${i}`)],
      ['urgent'],
    ] as const) {
      const { status, body } = await label(labels);
      expect([labels, status, body]).toMatchObject([labels, 422, { _tag: 'ValidationError' }]);
      if (Array.isArray(labels) && labels.length === 0)
        expect((await unlabel([])).status).toBe(422);
    }
  });

  it('has 50 labels at most', async () => {
    const fifty = Array.from({ length: 50 }, (_, i) => `l${String(i).padStart(2, '0')}`);
    expect((await label(fifty)).body.labels).toEqual(fifty);
    const more = await api.post<Refusal>(`${path}/labels`, { labels: ['one more'] });
    expect([more.status, more.body]).toMatchObject([409, { resource: 'thread' }]);
    expect((await api.get<Thread>(path)).body.labels).toEqual(fifty);
  });

  it('has notes, oldest first, by people and keys', async () => {
    const service = await createKey(test.app, test.operator, { name: 'bot', role: 'developer' });
    const asBot = api.as(service.key ?? '');
    const first = await api.post<ThreadNote>(`${path}/notes`, { body: 'one', color: 'yellow' });
    expect([first.status, first.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^note_/),
        author: { kind: 'user', id: test.caller.keyId, displayName: test.caller.keyName },
        editedBy: null,
        body: 'one',
        color: 'yellow',
        pinned: false,
        createdAt: '2026-01-05T12:00:00.000Z',
        updatedAt: '2026-01-05T12:00:00.000Z',
      },
    ]);
    await asBot.post(`${path}/notes`, { body: 'two' });
    await api.post(`${path}/notes`, { body: 'three', pinned: true });
    const page = await api.get<Page<ThreadNote>>(`${path}/notes?limit=2`);
    expect(page.body.items.map(({ body, author }) => [body, author.kind])).toEqual([
      ['one', 'user'],
      ['two', 'key'],
    ]);
    const rest = await api.get<Page<ThreadNote>>(
      `${path}/notes?limit=2&cursor=${page.body.nextCursor}`,
    );
    expect(rest.body).toMatchObject({ items: [{ body: 'three', pinned: true }], nextCursor: null });
  });

  it('has its notes changed and deleted, and the audit omits their text', async () => {
    const { body: note } = await api.post<ThreadNote>(`${path}/notes`, { body: 'a secret' });
    await test.clock.advance(1_000);
    const at = `${path}/notes/${note.id}`;
    const changed = await api.request<ThreadNote>('PATCH', at, {
      body: { body: 'another secret', pinned: true, color: 'blue' },
    });
    const now = { body: 'another secret', pinned: true, color: 'blue', updatedAt: iso(0) };
    const editedBy = { kind: 'user', id: test.caller.keyId, displayName: test.caller.keyName };
    expect([changed.status, changed.body]).toEqual([200, { ...note, ...now, editedBy }]);
    const gone = await api.delete<{ success: boolean }>(at);
    expect([gone.status, gone.body.success]).toEqual([200, true]);
    expect((await api.delete(at)).status).toBe(404);
    const told = await audited();
    expect(told.map(({ action }) => action)).toEqual([
      'note.deleted',
      'note.updated',
      'note.created',
    ]);
    expect(JSON.stringify(told)).not.toContain('secret');
  });

  it('refuses an empty or long note and unknown fields', async () => {
    for (const body of [
      { body: '' },
      { body: ' \n' },
      { body: 'x'.repeat(20_001) },
      { body: 'a', color: 'mauve' },
    ]) {
      expect([body, (await api.post(`${path}/notes`, body)).status]).toEqual([body, 422]);
    }
    expect((await api.post(`${path}/notes`, { body: 'x'.repeat(20_000) })).status).toBe(201);
  });

  it('moves to trash, and from there is deleted with messages, blobs and notes', async () => {
    await arrive(test.app, { inReplyTo: 'first@x' });
    await api.post(`${path}/notes`, { body: 'a note' });
    await label(['a label']);
    const { body } = await api.delete<{ message: string }>(path);
    expect(body.message).toContain('trash');
    expect((await threads.list()).items).toEqual([]);
    expect((await threads.list('?folder=trash')).items).toMatchObject([{ messageCount: 2 }]);
    expect((await api.delete<{ message: string }>(path)).body.message).toContain('2 messages');
    expect((await api.delete(path)).status).toBe(404);
    const tables = ['messages', 'blobs', 'threads', 'thread_messages', 'thread_references'];
    tables.push(
      'thread_labels',
      'thread_notes',
      'thread_search',
      'email_projections',
      'recipients',
    );
    for (const table of tables) {
      const { rows } = await sql`select * from ${sql.table(table)}`.execute(test.app.store.db);
      expect([table, rows]).toEqual([table, []]);
    }
    if (store === 'sqlite') {
      const words = sql`select rowid from thread_search_words`;
      expect((await words.execute(test.app.store.db)).rows).toEqual([]);
    }
    expect((await audited()).map(({ action }) => action)).toContain('thread.deleted');
  });

  it.runIf(inLong(true, false))('is deleted in transactions of 500 messages', async () => {
    const { app } = test;
    const copies = 1_100;
    await app.store.write(async (trx) => {
      const { rows } = await sql<Record<string, unknown>>`select * from messages`.execute(trx);
      const { rows: placed } = await sql<Record<string, unknown>>`
        select * from thread_messages`.execute(trx);
      for (let n = 0; n < copies; n += 1) {
        const id = `msg_${String(n).padStart(24, '0')}`;
        for (const [table, row] of [
          ['messages', { ...rows[0], id, raw_blob_id: null }],
          ['thread_messages', { ...placed[0], message_id: id }],
        ] as const) {
          const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
          await sql`insert into ${sql.table(table)} (${names})
            values (${sql.join(Object.values(row))})`.execute(trx);
        }
      }
    });
    await api.delete(path);
    let writes = 0;
    const { write } = app.store;
    app.store.write = (work, durability) => {
      writes += 1;
      return write(work, durability);
    };
    const { body } = await api.delete<{ message: string }>(path);
    expect([body.message.split(', ')[1], writes]).toEqual([`with ${copies + 1} messages`, 3]);
    const { rows } = await sql`select id from messages`.execute(app.store.db);
    expect(rows).toEqual([]);
  });

  it('is found in its own mailbox alone, as are its messages and notes', async () => {
    await createMailbox(test.app, test.caller, { slug: 'desk', address: 'desk@sandbox.test' });
    const desk = await threadsOver(test.app, api, 'desk@sandbox.test');
    const { body: note } = await api.post<ThreadNote>(`${path}/notes`, { body: 'a note' });
    const id = path.split('/').at(-1);
    for (const at of [`/${id}`, `/${id}/messages`, `/${id}/notes`]) {
      const { status, body } = await api.get<Refusal>(`${desk.path}${at}`);
      expect([at, status, body.resource]).toEqual([at, 404, 'thread']);
    }
    await arrive(test.app, { subject: 'Another', id: 'another@x' });
    const [other] = (await threads.list()).items;
    const foreign = await api.delete<Refusal>(`${threads.path}/${other?.id}/notes/${note.id}`);
    expect([foreign.status, foreign.body.resource]).toEqual([404, 'note']);
    const nonsense = await api.get<Refusal>(`${threads.path}/msg_06dq2k0qz8h3v5m1r9t4w7xy`);
    expect(nonsense.status).toBe(422);
  });

  it('is deleted with its messages 30 days after its mailbox', async () => {
    const { app, caller } = test;
    await deleteMailbox(app, caller, threads.path.split('/').at(3) ?? '');
    expect((await api.get(path)).status).toBe(404);
    await test.clock.advance(30 * dayMs);
    expect(await sweepThreads(app)).toBe(0);
    await test.clock.advance(1);
    expect(await sweepThreads(app)).toBe(1);
    expect(await countsOf(app)).toEqual({ said: [], counted: [] });
    const { rows } = await sql`select * from messages`.execute(app.store.db);
    expect(rows).toEqual([]);
  });
});
