// Installations in a mailbox: they propose and send under their own name, and a proposal leaves
// only while the installation could still make it.
import { beforeEach, describe, expect, it } from 'vitest';
import type { MailboxAction } from '../../../src/inbox/approvals/schema.ts';
import {
  grant,
  type Installed,
  installed,
  switchTo,
  type Wanted,
} from '../../access/keys/installation-fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { apiOf, config, type Desk, deskOf, type Listed, type Problem } from './world.ts';

describe.each(stores)('an installation in a mailbox on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;
  let desk: Desk;
  let triage: Installed;
  let own: HttpApi;
  let person: HttpApi;

  const wanted = (more: Partial<Wanted> = {}): Wanted => ({
    ...{ permissions: ['mailboxes:read', 'mailboxes:write', 'mailboxes:send'] },
    ...{ constraints: { mailboxIds: [desk.id] }, sendMode: 'approval' },
    ...more,
  });

  beforeEach(async () => {
    desk = await deskOf(world);
    triage = await installed(test, wanted());
    own = api.as(triage.plaintext);
    person = await apiOf(world, { owner: 'person', name: 'Ada' });
  });

  const actor = () => ({ kind: 'installation', id: triage.id, displayName: 'Triage' });
  const proposed = async () =>
    (await desk.reply(await desk.arrive(), { text: 'Thank you' }, own)).body.actionId ?? '';
  const approved = (id: string) =>
    person.post<MailboxAction & Problem>(`${desk.path}/actions/${id}/approve`, {});

  it('proposes mail under its own name, which a person approves', async () => {
    const { body } = await approved(await proposed());
    expect(body).toMatchObject({ state: 'executed', actor: actor() });
    expect(body.messageId).not.toBeNull();
  });

  it('sends and labels under its own name with the send mode send', async () => {
    await grant(test, triage, wanted({ sendMode: 'send' }));
    const sent = await desk.reply(await desk.arrive(), { text: 'Thank you' }, own);
    expect(sent.body.status).not.toBe('proposed');
    const threads = await api.get<Listed<{ id: string }>>(`${desk.path}/threads`);
    const thread = `${desk.path}/threads/${threads.body.items[0]?.id}`;
    expect((await own.post(`${thread}/labels`, { labels: ['order'] })).status).toBe(200);
    const { body } = await api.get<Listed<MailboxAction>>(
      `${desk.path}/actions?actor=${triage.id}`,
    );
    expect(body.items.map((action) => [action.type, action.actor])).toEqual([
      ['label', actor()],
      ['reply', actor()],
    ]);
  });

  it('writes notes as their author, and changes only those', async () => {
    await desk.arrive();
    const threads = await api.get<Listed<{ id: string }>>(`${desk.path}/threads`);
    const notes = `${desk.path}/threads/${threads.body.items[0]?.id}/notes`;
    const { body } = await own.post<{ id: string; author: object }>(notes, { body: 'an order' });
    expect(body.author).toEqual(actor());
    const mine = `${notes}/${body.id}`;
    expect((await own.request('PATCH', mine, { body: { body: 'two' } })).status).toBe(200);
    const { body: other } = await api.post<{ id: string }>(notes, { body: 'mine' });
    const theirs = `${notes}/${other.id}`;
    expect((await own.request('PATCH', theirs, { body: { body: 'two' } })).status).toBe(403);
    const next = api.as((await installed(test, wanted())).plaintext);
    expect((await next.request('PATCH', mine, { body: { body: 'three' } })).status).toBe(403);
  });

  it.each<[string, () => Promise<void>, string]>([
    ['is disabled', () => switchTo(test, triage, false), 'disabled or deleted'],
    [
      'lost its permission',
      () => grant(test, triage, wanted({ permissions: ['mailboxes:read'] })),
      'lacks the permission mailboxes:send',
    ],
    ['lost its send mode', () => grant(test, triage, wanted({ sendMode: 'none' })), 'never sends'],
    [
      'lost the mailbox',
      () =>
        grant(test, triage, wanted({ constraints: { mailboxIds: [test.app.newId('mailbox')] } })),
      'only its own mailboxes',
    ],
  ])('has a proposal that fails at its approval once it %s', async (_what, take, words) => {
    const id = await proposed();
    await take();
    const { body } = await approved(id);
    expect(body).toMatchObject({
      state: 'failed',
      failure: { _tag: 'ForbiddenError', message: expect.stringContaining(words) },
    });
    expect(body.messageId).toBeNull();
  });

  it('reaches the other mailboxes of its organization only without a scope', async () => {
    const other = await deskOf(world, 'other');
    expect((await own.get(other.path)).status).toBe(403);
    await grant(test, triage, wanted({ constraints: null }));
    expect((await own.get(other.path)).status).toBe(200);
    const answer = await other.send({ to: ['bo@example.com'], subject: 'x', text: 'y' }, own);
    expect([answer.status, answer.body.status]).toEqual([201, 'proposed']);
  });
});
