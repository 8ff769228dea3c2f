// Drafts with several editors: a stale version can neither be sent nor changed, a program changes
// its own drafts alone, and a list of large drafts reads little.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/core/api/route.ts';
import {
  createDraft,
  deleteDraft,
  listDrafts,
  sendDraft,
  updateDraft,
} from '../../../src/inbox/replies/drafts.ts';
import type { Draft } from '../../../src/inbox/replies/schema.ts';
import { createNote, deleteNote, updateNote } from '../../../src/inbox/threads/marks/notes.ts';
import { ConflictError, ForbiddenError } from '../../../src/platform/errors.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { agentOf, callerOf } from '../approvals/fixtures.ts';
import { config, type Desk, deskOf } from './world.ts';

describe.each(stores)('a draft, on %s', (store) => {
  const world = eachApi({ store, config });
  let desk: Desk;
  let program: Caller;
  let agent: Caller;
  beforeEach(async () => {
    const { app, operator } = world.test;
    desk = await deskOf(world);
    program = await callerOf(app, operator, { name: 'program', role: 'developer' });
    agent = await agentOf(app, operator, desk.id);
  });

  const invoice = { to: ['ada@example.com'], subject: 'Refund', text: 'We refund 100 EUR.' };
  const write = (by: Caller, body: object = invoice) =>
    createDraft(world.test.app, by, desk.id, body);
  const at = ({ id }: Pick<Draft, 'id'>) => ({ mailboxId: desk.id, draftId: id });
  const change = (by: Caller, draft: Draft, body: object) =>
    updateDraft(world.test.app, by, at(draft), body);
  const fraud = { text: 'We refund 1,000,000 EUR.', bcc: ['thief@example.com'] };

  it('is not sent with an outdated version after a program changed it', async () => {
    const { app, operator } = world.test;
    const seen = await write(operator);
    const now = await change(program, seen, fraud);
    const sent = sendDraft(app, operator, at(seen), { expectedUpdatedAt: seen.updatedAt }, null);
    const error: unknown = await sent.catch((refusal: unknown) => refusal);
    expect(error).toBeInstanceOf(ConflictError);
    expect(String(error)).toContain(now.updatedAt);
    const { rows } = await sql`select id from messages`.execute(app.store.db);
    expect(rows).toEqual([]);
  });

  it('is sent with the current version', async () => {
    const { app, operator } = world.test;
    const seen = await write(operator);
    const expected = { expectedUpdatedAt: seen.updatedAt };
    const { messageId } = await sendDraft(app, operator, at(seen), expected, null);
    const email = await desk.email(messageId);
    expect(email).toMatchObject({ subject: 'Refund', bccEmails: null });
  });

  it('accepts one of several concurrent changes that expect the same version', async () => {
    const { operator } = world.test;
    const seen = await write(operator);
    const expectedUpdatedAt = seen.updatedAt;
    const changes = ['one', 'two', 'three'].map((text) =>
      change(operator, seen, { text, expectedUpdatedAt }),
    );
    const results = await Promise.allSettled(changes);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(ConflictError);
    }
  });

  it('names its author and its last editor', async () => {
    const { operator } = world.test;
    const draft = await write(program);
    expect(draft).toMatchObject({ author: { kind: 'key', id: program.keyId }, editedBy: null });
    const changed = await change(operator, draft, { text: 'x' });
    expect(changed).toMatchObject({
      author: { kind: 'key', id: program.keyId, displayName: 'program' },
      editedBy: { kind: 'user', id: null, displayName: 'operator' },
    });
  });

  it('is not deleted by its program while a person changes it', async () => {
    const { app, operator } = world.test;
    const own = await write(agent);
    const changing = change(operator, own, { text: 'by a person' });
    const deleting = deleteDraft(app, agent, at(own));
    await changing;
    await expect(deleting).rejects.toThrow(ForbiddenError);
  });

  it('stays within 1,000 per mailbox when many are created at once', async () => {
    const { app, operator } = world.test;
    await write(operator);
    await app.store.write((trx) =>
      sql`insert into drafts (id, organization_id, mailbox_id, state, author_kind, byte_count,
          created_at, updated_at, recipients)
        select 'draft_' || n, organization_id, mailbox_id, state, author_kind, 1, 1, 1, recipients
        from drafts cross join (${numbers(store, 994)}) as many`.execute(trx),
    );
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => write(operator)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  it('has two versions after two changes within a millisecond', async () => {
    const { operator } = world.test;
    const first = await write(operator);
    const second = await change(operator, first, { text: 'two' });
    const third = await change(operator, second, { text: 'three' });
    expect(new Set([first, second, third].map(({ updatedAt }) => updatedAt)).size).toBe(3);
  });

  it('is neither changed nor deleted by a proposing key once a person edited it', async () => {
    const { app, operator } = world.test;
    const draft = await write(operator);
    await expect(change(agent, draft, fraud)).rejects.toThrow(ForbiddenError);
    await expect(deleteDraft(app, agent, at(draft))).rejects.toThrow(ForbiddenError);
    const own = await write(agent);
    await expect(change(agent, own, { text: 'better' })).resolves.toMatchObject({ text: 'better' });
    await change(operator, own, { text: 'by a person' });
    await expect(change(agent, own, fraud)).rejects.toThrow(ForbiddenError);
    await expect(deleteDraft(app, agent, at(own))).rejects.toThrow(ForbiddenError);
  });

  it('keeps its files through other changes', async () => {
    const { app, operator } = world.test;
    const attachments = [
      { filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' },
      { filename: 'b.bin', content: 'YmI=' },
    ];
    const draft = await write(operator, { ...invoice, attachments });
    const files = [
      { n: 1, filename: 'a.txt', contentType: 'text/plain', contentId: null, size: 1 },
      { n: 2, filename: 'b.bin', contentType: null, contentId: null, size: 2 },
    ];
    expect(draft.attachments).toEqual(files);
    expect((await change(operator, draft, { text: 'x' })).attachments).toEqual(files);
    const { messageId } = await sendDraft(app, operator, at(draft), {}, null);
    const { rows } = await sql<{
      attachments: string;
    }>`select attachments from contents`.execute(app.store.db);
    expect(messageId).not.toBeNull();
    expect(JSON.parse(rows[0]?.attachments ?? '')).toMatchObject([
      { filename: 'a.txt', size: 1 },
      { filename: 'b.bin', size: 2 },
    ]);
    const left = await sql`select n from draft_files`.execute(app.store.db);
    expect(left.rows).toEqual([]);
  });

  it('loses its files when they are set to null', async () => {
    const { operator } = world.test;
    const attachments = [{ filename: 'a.txt', content: 'YQ==' }];
    const draft = await write(operator, { ...invoice, attachments });
    expect((await change(operator, draft, { attachments: null })).attachments).toEqual([]);
  });

  it('is refused with 409 beyond 1,000 in a mailbox', async () => {
    const { app, operator } = world.test;
    const first = await write(operator);
    await app.store.write((trx) =>
      sql`insert into drafts (id, organization_id, mailbox_id, state, author_kind, byte_count,
          created_at, updated_at, recipients)
        select 'draft_' || n, organization_id, mailbox_id, state, author_kind, 1, 1, 1, recipients
        from drafts cross join (${numbers(store, 998)}) as many`.execute(trx),
    );
    await write(operator);
    await expect(write(operator)).rejects.toThrow(/1000 drafts/);
    await expect(change(operator, first, { text: 'still' })).resolves.toBeDefined();
  });

  it('is refused with 409 when all drafts would exceed 1 GB', async () => {
    const { app, operator } = world.test;
    const draft = await write(operator);
    await app.store.write((trx) =>
      sql`update drafts set byte_count = ${1024 ** 3 - 300}`.execute(trx),
    );
    await expect(write(operator, { text: 'x'.repeat(400) })).rejects.toThrow(/exceed 1 GB/);
    await app.store.write((trx) => sql`update drafts set byte_count = 10`.execute(trx));
    await expect(change(operator, draft, { text: 'x'.repeat(400) })).resolves.toBeDefined();
  });

  it('shows its text in a list unless that is over 64 KB', async () => {
    const { operator } = world.test;
    await write(operator);
    await write(operator, { ...invoice, text: 'x'.repeat(70_000) });
    const { body } = await world.api.get<{ items: Draft[] }>(`${desk.path}/drafts`);
    expect(body.items).toMatchObject([
      { text: null, html: null, contentOmitted: true, subject: 'Refund' },
      { text: invoice.text, contentOmitted: false },
    ]);
  });

  it('of 40 MB is listed a hundred times without its bytes', async () => {
    const { app, operator } = world.test;
    const content = 'A'.repeat(1_000_000);
    const attachments = Array.from({ length: 4 }, () => ({ filename: 'a', content }));
    const { id } = await write(operator, { ...invoice, attachments, html: 'x'.repeat(1_000_000) });
    await app.store.write((trx) =>
      sql`insert into drafts (id, organization_id, mailbox_id, state, author_kind, byte_count,
          created_at, updated_at, recipients, subject, text, html)
        select 'draft_' || n, organization_id, mailbox_id, state, author_kind, byte_count, 1, 1,
          recipients, subject, text, html
        from drafts cross join (${numbers(store, 98)}) as many where id = ${id}`.execute(trx),
    );
    const { body } = await world.api.get<object>(`${desk.path}/drafts?limit=100`);
    expect(JSON.stringify(body).length).toBeLessThan(200_000);
  });

  it('is listed without a read of its files', async () => {
    const { app, operator } = world.test;
    const attachments = [{ filename: 'a', content: 'A'.repeat(20_000_000) }];
    for (let n = 0; n < 5; n++) await write(operator, { ...invoice, attachments });
    const began = startWork();
    await listDrafts(app, operator, desk.id, { limit: 100 });
    expect(workedMs(began)).toBeLessThan(60);
  });

  describe('a note', () => {
    async function writeNote() {
      const { app, operator } = world.test;
      await desk.arrive();
      const { body } = await world.api.get<{ items: { id: string }[] }>(`${desk.path}/threads`);
      const threadId = body.items[0]?.id ?? '';
      const note = await createNote(app, operator, desk.id, threadId, { body: 'Pay 100 EUR' });
      return { note, path: { mailboxId: desk.id, threadId, noteId: note.id } };
    }

    it('names its last editor', async () => {
      const { note, path } = await writeNote();
      expect(note).toMatchObject({ author: { displayName: 'operator' }, editedBy: null });
      const changed = await updateNote(world.test.app, program, path, {
        body: 'Pay 1,000,000 EUR',
      });
      expect(changed).toMatchObject({
        author: { kind: 'user', displayName: 'operator' },
        editedBy: { kind: 'key', id: program.keyId, displayName: 'program' },
      });
    });

    it('is neither changed nor deleted by a proposing key', async () => {
      const { app } = world.test;
      const { path } = await writeNote();
      await expect(updateNote(app, agent, path, { body: 'mine' })).rejects.toThrow(ForbiddenError);
      await expect(deleteNote(app, agent, path)).rejects.toThrow(ForbiddenError);
    });
  });
});

/** Selects the numbers from 1 to `count`. */
function numbers(store: string, count: number) {
  return store === 'postgres'
    ? sql`select n from generate_series(1, ${sql.lit(count)}) as n`
    : sql`with recursive numbered (n) as (select 1 union all select n + 1 from numbered
        where n < ${sql.lit(count)}) select n from numbered`;
}
