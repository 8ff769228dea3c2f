// Changes of threads by a key are actions in their mailbox: labels, notes, moves and snoozes.
// Requests without an effect, the operator's changes and mere marks of a thread are not.
import { beforeEach, describe, expect, it } from 'vitest';
import type { MailboxAction } from '../../../src/inbox/approvals/schema.ts';
import type { Thread, ThreadNote } from '../../../src/inbox/threads/schema.ts';
import { updateThread } from '../../../src/inbox/threads/threads.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { apiOf, config, type Desk, deskOf, type Listed } from './world.ts';

describe.each(stores)('the actions of a key in a mailbox on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;
  let desk: Desk;
  let agent: HttpApi;
  let thread: Thread;
  beforeEach(async () => {
    desk = await deskOf(world);
    const constraints = { mailboxIds: [desk.id] };
    agent = await apiOf(world, { name: 'agent', constraints, sendMode: 'approval' });
    await desk.arrive();
    const { body } = await api.get<Listed<Thread>>(`${desk.path}/threads`);
    thread = body.items[0] as Thread;
  });

  const actions = async () => {
    const { body } = await api.get<Listed<MailboxAction>>(`${desk.path}/actions`);
    return body.items.map(({ type, state, threadId, summary }) => ({
      ...{ type, state, threadId, summary },
    }));
  };
  const ask = (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
    agent.request<ThreadNote>(method, `${desk.path}/threads/${thread.id}${path}`, {
      ...(body && { body }),
    });

  it('are listed, newest first, for each sendMode', async () => {
    const labels = ['urgent'];
    await ask('POST', '/labels', { labels });
    await ask('DELETE', '/labels', { labels });
    const { body: note } = await ask('POST', '/notes', { body: 'a secret of ours' });
    await ask('PATCH', `/notes/${note.id}`, { pinned: true });
    await ask('DELETE', `/notes/${note.id}`);
    await ask('PATCH', '', { folder: 'archive' });
    await ask('PATCH', '', { snoozedUntil: '2026-02-01T00:00:00Z' });
    await ask('DELETE', '');
    await ask('DELETE', '');
    const of = { state: 'executed', threadId: thread.id };
    const folder = (before: string, after: string | null) => ({ folder: { before, after } });
    const snoozedUntil = (before: string | null, after: string | null) => ({
      snoozedUntil: { before, after },
    });
    const until = '2026-02-01T00:00:00.000Z';
    const listed = await actions();
    expect(listed.reverse()).toEqual([
      { ...of, type: 'label', summary: { labels: { before: [], after: labels } } },
      { ...of, type: 'label', summary: { labels: { before: labels, after: [] } } },
      { ...of, type: 'note', summary: { noteId: note.id, change: 'created' } },
      { ...of, type: 'note', summary: { noteId: note.id, change: 'updated' } },
      { ...of, type: 'note', summary: { noteId: note.id, change: 'deleted' } },
      { ...of, type: 'move', summary: folder('inbox', 'archive') },
      { ...of, type: 'move', summary: snoozedUntil(null, until) },
      {
        ...of,
        type: 'move',
        summary: { ...folder('archive', 'trash'), ...snoozedUntil(until, null) },
      },
      { ...of, type: 'move', summary: folder('trash', null) },
    ]);
    expect(JSON.stringify(listed)).not.toContain('secret');
  });

  it('leave out requests without effect, mere marks of a thread and changes of the operator', async () => {
    await ask('DELETE', '/labels', { labels: ['never'] });
    await ask('PATCH', '', { folder: 'inbox' });
    await ask('PATCH', '', { read: true, starred: true, priority: 'high' });
    await updateThread(test.app, test.operator, desk.id, thread.id, { folder: 'archive' });
    expect(await actions()).toEqual([]);
  });
});
