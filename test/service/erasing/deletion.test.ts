// Only the id of a deleted resource is left: every column of every table is searched for a mark
// that was in all its fields.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { sweepThreads } from '../../../src/inbox/threads/jobs.ts';
import { updateContact } from '../../../src/people/contacts/contacts.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { eraseDue } from '../../../src/service/erasing/eraser.ts';
import { config as deskConfig, deskOf } from '../../inbox/replies/world.ts';
import { bothStores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { loopbackConfig } from '../../webhooks/engine.ts';
import {
  eraseAll,
  markedContact,
  markedConversation,
  markedMailbox,
  markedMessage,
  markedReply,
  markedThread,
  withJobs,
} from './marked.ts';
import { mark, tracesInTables } from './traces.ts';

const dayMs = 86_400_000;
const publicUrl = 'https://click.example.com';
const config = { ...loopbackConfig, ...deskConfig, tracking: { publicUrl } };

describe.each(bothStores)('a deletion on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;

  it('erases a sent message', async () => {
    let id = '';
    await withJobs(world, async () => {
      id = await markedMessage(world);
    });
    expect(await tracesInTables(test.app)).toEqual(
      expect.arrayContaining(['idempotency_claims.response', 'webhook_attempts.response']),
    );
    await api.delete(`/v1/messages/${id}`);
    await eraseAll(world);
    expect(await tracesInTables(test.app)).toEqual([]);
  });

  it('erases received mail with its drafts and proposals', async () => {
    let id = '';
    await withJobs(world, async () => {
      id = (await markedThread(world)).messageId;
    });
    expect(await tracesInTables(test.app)).toEqual(
      expect.arrayContaining([
        'draft_files.content',
        'drafts.text',
        'mailbox_actions.summary',
        'mailbox_proposals.content',
        'resource_events.data',
        'thread_notes.body',
        'webhook_bodies.body',
      ]),
    );
    await api.delete(`/v1/messages/${id}`);
    await eraseAll(world);
    expect(await tracesInTables(test.app)).toEqual([]);
  });

  it('erases a reply in a thread that stays', async () => {
    let reply = '';
    await withJobs(world, async () => {
      const { desk, messageId } = await markedThread(world);
      reply = await markedReply(world, desk, messageId);
      await api.delete(`/v1/messages/${messageId}`);
    });
    await eraseAll(world);
    expect(await tracesInTables(test.app)).toContain('messages.subject');
    await api.delete(`/v1/messages/${reply}`);
    await eraseAll(world);
    expect(await tracesInTables(test.app)).toEqual([]);
  });

  it('renames the thread after its first remaining message', async () => {
    const desk = await deskOf(world);
    const first = await desk.arrive({ subject: mark, id: 'first@example.com' });
    await desk.arrive({ subject: 'Another', inReplyTo: 'first@example.com' });
    const subjects = async () => {
      const { body } = await api.get<{ items: { subject: string }[] }>(`${desk.path}/threads`);
      return body.items.map(({ subject }) => subject);
    };
    expect(await subjects()).toEqual([mark]);
    await api.delete(`/v1/messages/${first}`);
    expect(await subjects()).toEqual(['Another']);
  });

  it('erases a mailbox after thirty days', async () => {
    let id = '';
    await withJobs(world, async () => {
      id = await markedMailbox(world);
    });
    await api.delete(`/v1/mailboxes/${id}`);
    await test.clock.advance(31 * dayMs);
    await sweepThreads(test.app);
    await eraseAll(world);
    expect(await tracesInTables(test.app)).toEqual([]);
  });

  it('erases a contact', async () => {
    let id = '';
    await withJobs(world, async () => {
      id = await markedContact(world);
    });
    await api.delete(`/v1/contacts/${id}`);
    await eraseAll(world);
    expect(await tracesInTables(test.app)).toEqual([]);
  });

  it('continues after a process died with some copies erased', async () => {
    const id = await markedContact(world);
    for (let number = 0; number < 120; number++) {
      await updateContact(test.app, test.caller, id, { name: `${mark} ${number}` });
    }
    await api.delete(`/v1/contacts/${id}`);
    const found = async () =>
      (
        await sql<object>`select id from resource_events
        where subject = ${id} and data like ${`%${mark}%`}`.execute(test.app.store.db)
      ).rows.length;
    expect(await found()).toBe(122);
    let writes = 0;
    const { store } = test.app;
    const dies: Store['write'] = (work, durability) =>
      writes++ >= 1 ? Promise.reject(new Error('it died')) : store.write(work, durability);
    const dying = { ...test.app, store: { ...store, write: dies } };
    await expect(eraseDue(dying)).rejects.toThrow('it died');
    expect(await found()).toBe(22);
    await eraseDue(await test.another());
    expect(await found()).toBe(0);
  });

  it('erases a conversation', async () => {
    let id = '';
    await withJobs(world, async () => {
      id = await markedConversation(world);
    });
    await api.delete(`/v1/conversations/${id}`);
    await eraseAll(world);
    expect(await tracesInTables(test.app)).toEqual([]);
  });
});
