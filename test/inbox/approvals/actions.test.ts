// Actions in a mailbox: proposals that are not approved, the deciding person, the list, the bound,
// and the time of an expected answer. Mail sent by an approval is test/inbox/replies.
import { beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { createMailbox, deleteMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { createNamespace } from '../../../src/identity/mailboxes/namespaces.ts';
import type { Mailbox } from '../../../src/identity/mailboxes/schema.ts';
import { expireActions } from '../../../src/inbox/approvals/actions.ts';
import { storeProposal } from '../../../src/inbox/approvals/proposals.ts';
import type { MailboxAction, ShownAction } from '../../../src/inbox/approvals/schema.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { act, callerOf, frozen, propose } from './fixtures.ts';

interface List {
  items: MailboxAction[];
  nextCursor: string | null;
}

interface Problem {
  _tag: string;
  message: string;
  retryAfterSeconds: number;
}

const day = 24 * 3_600_000;

describe.each(stores)('actions of a mailbox on %s', (store) => {
  const { test, api } = eachApi({ store });
  let mailbox: Mailbox;
  let agent: Caller;
  let person: HttpApi;
  beforeEach(async () => {
    const { app, operator } = test;
    mailbox = await createMailbox(app, operator, { slug: 'desk' });
    agent = await callerOf(app, operator, { role: 'developer', name: 'agent' });
    const input = { role: 'developer', owner: 'person', name: 'Ada' } as const;
    person = api.as((await createKey(app, operator, input)).key ?? '');
  });

  const path = (rest = '') => `/v1/mailboxes/${mailbox.id}/actions${rest}`;
  const list = async (query = '') => (await api.get<List>(path(query))).body;
  const reject = (id: string, by = person, body: object = { note: 'no' }) =>
    by.post<MailboxAction & Problem>(path(`/${id}/reject`), body);
  const proposed = () => propose(test.app, mailbox.id, agent);
  const events = async () => {
    const url = `/v1/mailboxes/${mailbox.id}/events?order=asc`;
    const { body } = await api.get<{ items: { type: string; data: unknown }[] }>(url);
    return body.items;
  };

  it('a proposal waits for seven days, shows its mail, and is announced by an event', async () => {
    const made = await proposed();
    expect(made).toEqual({
      id: expect.stringMatching(/^act_/),
      mailboxId: mailbox.id,
      type: 'reply',
      state: 'proposed',
      actor: { kind: 'key', id: agent.keyId, displayName: 'agent' },
      messageId: null,
      threadId: null,
      summary: expect.objectContaining({ to: ['ada@example.com'] }),
      createdAt: new Date(test.clock.now()).toISOString(),
      decidedAt: null,
      decidedBy: null,
      note: null,
      expiresAt: new Date(test.clock.now() + 7 * day).toISOString(),
      failure: null,
      digest: 'sha256:0',
      editedDigest: null,
    });
    const { body } = await api.get<ShownAction>(path(`/${made.id}`));
    const content = {
      from: { email: 'nobody@elsewhere.example', name: null },
      ...{ replyTo: [], to: ['ada@example.com'], cc: [], bcc: [], subject: 'Re: hello' },
      ...{ text: 'Hello Ada', html: null, notes: [] },
      attachments: [
        {
          ...{ n: 1, filename: 'a.txt', contentType: 'text/plain', contentId: null },
          ...{ size: 5, digest: 'sha256:1' },
        },
      ],
    };
    expect(body).toEqual({ ...made, content });
    expect((await events()).at(-1)).toMatchObject({ type: 'mailbox.action.proposed', data: made });
  });

  it('a person rejects a proposal once, with a note, and its content is deleted', async () => {
    const { id } = await proposed();
    await test.clock.advance(60_000);
    const answer = await reject(id);
    expect([answer.status, answer.body]).toEqual([
      200,
      expect.objectContaining({
        state: 'rejected',
        note: 'no',
        decidedAt: new Date(test.clock.now()).toISOString(),
        decidedBy: { kind: 'key', id: expect.any(String), displayName: 'Ada' },
      }),
    ]);
    const { body } = await api.get<ShownAction>(path(`/${id}`));
    expect(body).toEqual({ ...answer.body, content: null });
    expect((await events()).at(-1)).toMatchObject({
      type: 'mailbox.action.rejected',
      data: answer.body,
    });
    const audit = await api.get<{ items: object[] }>(`/v1/audit?resource=${id}`);
    expect(audit.body.items).toMatchObject([
      { action: 'action.rejected', details: { mailboxId: mailbox.id, type: 'reply', note: 'no' } },
    ]);
    const again = await reject(id);
    expect([again.status, again.body._tag]).toEqual([409, 'ConflictError']);
    expect(again.body.message).toContain('is already rejected');
  });

  it('a rejection may leave out the note and the body', async () => {
    const first = await proposed();
    expect((await reject(first.id, person, {})).body.note).toBeNull();
    const { id } = await proposed();
    const { status } = await person.request('POST', path(`/${id}/reject`));
    expect(status).toBe(200);
  });

  it('a proposal expires after seven days, by the job or at a late decision', async () => {
    const { id } = await proposed();
    await test.clock.advance(7 * day - 1);
    expect(await expireActions(test.app)).toBe(0);
    await test.clock.advance(1);
    const late = await reject(id);
    expect([late.status, late.body.message]).toEqual([
      409,
      `${id} is already expired: it is decided only once`,
    ]);
    expect(await expireActions(test.app)).toBe(1);
    expect(await expireActions(test.app)).toBe(0);
    const { body } = await api.get<ShownAction>(path(`/${id}`));
    expect(body).toMatchObject({ state: 'expired', decidedAt: null, content: null });
    expect((await reject(id)).status).toBe(409);
  });

  it('a rejection by a service answers 403 with any permission', async () => {
    const { id } = await proposed();
    const owner = await createKey(test.app, test.operator, { role: 'owner' });
    const answer = await reject(id, api.as(owner.key ?? ''));
    expect([answer.status, answer.body._tag]).toEqual([403, 'ForbiddenError']);
  });

  it('a rejection of an unknown proposal answers 404', async () => {
    const { id } = await proposed();
    const unknown = test.app.newId('mailboxAction');
    expect((await reject(unknown)).status).toBe(404);
    const other = await createMailbox(test.app, test.operator, { slug: 'other' });
    const elsewhere = await person.post(`/v1/mailboxes/${other.id}/actions/${id}/reject`, {});
    expect(elsewhere.status).toBe(404);
    await deleteMailbox(test.app, test.operator, mailbox.id);
    expect((await reject(id)).status).toBe(404);
  });

  it('the proposal after a hundred open ones answers 429 until one is decided', async () => {
    for (let i = 0; i < 100; i++) await proposed();
    await expect(proposed()).rejects.toMatchObject({ _tag: 'RateLimitedError', status: 429 });
    const [first] = (await list('?limit=1')).items;
    await reject(first?.id ?? '');
    await proposed();
    await expect(proposed()).rejects.toMatchObject({ retryAfterSeconds: (7 * day) / 1_000 });
  });

  it('the operator proposes nothing and leaves no actions', async () => {
    const { app, operator } = test;
    expect(await act(app, operator, mailbox.id)).toBeNull();
    const about = { mailboxId: mailbox.id, type: 'reply', threadId: null, summary: {} } as const;
    const asked = app.store.write((trx) => storeProposal(app, trx, operator, about, frozen));
    await expect(asked).rejects.toMatchObject({ status: 403 });
    expect((await list()).items).toEqual([]);
  });

  describe('the expected time of an answer', () => {
    const expected = async () => {
      const { app } = test;
      const { reviewExpectedAt } = await app.store.write((trx) =>
        storeProposal(
          app,
          trx,
          agent,
          { mailboxId: mailbox.id, type: 'reply', threadId: null, summary: {} },
          frozen,
        ),
      );
      return reviewExpectedAt - test.clock.now();
    };
    const decidedAfter = async (ms: number) => {
      const { id } = await proposed();
      await test.clock.advance(ms);
      expect((await reject(id)).status).toBe(200);
    };

    it('is a day before five decisions, then their median', async () => {
      for (const minutes of [1, 90, 2, 50]) await decidedAfter(minutes * 60_000);
      expect(await expected()).toBe(day);
      await decidedAfter(10 * 60_000);
      expect(await expected()).toBe(10 * 60_000);
      await decidedAfter(20 * 60_000);
      expect(await expected()).toBe(15 * 60_000);
    });

    it('covers the last fifty decisions, without expired proposals', async () => {
      for (let i = 0; i < 5; i++) await decidedAfter(5 * day);
      for (let i = 0; i < 50; i++) await decidedAfter(1_000);
      await proposed();
      await test.clock.advance(7 * day);
      await expireActions(test.app);
      expect(await expected()).toBe(1_000);
    });
  });

  it('actions are listed newest first, by cursor, filtered by state, type and actor', async () => {
    const { app, operator } = test;
    const other = await callerOf(app, operator, { role: 'developer', name: 'other' });
    await act(app, agent, mailbox.id, 'label');
    await act(app, other, mailbox.id, 'label');
    await act(app, agent, mailbox.id, 'note');
    const { id } = await proposed();
    await reject(id);
    await proposed();
    const all = (await list()).items;
    expect(all.map(({ type, state }) => `${type} ${state}`)).toEqual([
      'reply proposed',
      'reply rejected',
      'note executed',
      'label executed',
      'label executed',
    ]);
    const walked: MailboxAction[] = [];
    for (let query = '?limit=2'; ; ) {
      const { items, nextCursor } = await list(query);
      walked.push(...items);
      if (nextCursor === null) break;
      query = `?limit=2&cursor=${nextCursor}`;
    }
    expect(walked).toEqual(all);
    const count = async (query: string) => (await list(query)).items.length;
    expect(await count('?state=executed')).toBe(3);
    expect(await count('?type=label')).toBe(2);
    expect(await count(`?type=label&actor=${agent.keyId}`)).toBe(1);
    expect(await count(`?state=executed&actor=${agent.keyId}`)).toBe(2);
    const { nextCursor } = await list('?limit=2');
    const { nextCursor: ofAgent } = await list(`?limit=1&actor=${agent.keyId}`);
    expect(await count(`?cursor=${ofAgent}&actor=${agent.keyId}`)).toBe(3);
    for (const query of [
      `?cursor=${nextCursor}&state=executed`,
      `?cursor=${ofAgent}&actor=${other.keyId}`,
      '?cursor=nonsense',
      '?limit=0',
      '?limit=101',
      '?state=done',
      '?type=send',
      '?actor=msg_0123456789abcdefghjk',
    ]) {
      expect([query, (await api.get(path(query))).status]).toEqual([query, 422]);
    }
  });

  describe('over all mailboxes', () => {
    let second: Mailbox;
    beforeEach(async () => {
      second = await createMailbox(test.app, test.operator, { slug: 'second' });
    });
    const all = async (query = '', by = api) =>
      (await by.get<List>(`/v1/mailbox-actions${query}`)).body;
    const idsOf = ({ items }: List) => items.map(({ id }) => id);

    it('are listed newest first, by pages and with the filters of one mailbox', async () => {
      const first = await act(test.app, agent, mailbox.id);
      await test.clock.advance(1_000);
      const { id } = await propose(test.app, second.id, agent);
      expect(idsOf(await all())).toEqual([id, first]);
      const page = await all('?limit=1');
      expect(idsOf(page)).toEqual([id]);
      const { nextCursor } = page;
      expect(idsOf(await all(`?limit=1&cursor=${nextCursor}`))).toEqual([first]);
      expect(idsOf(await all('?state=proposed'))).toEqual([id]);
      expect(idsOf(await all('?type=label'))).toEqual([first]);
      expect(await all('?actor=key_0123456789abcdefghjk')).toEqual({ items: [], nextCursor: null });
    });

    it('leave out deleted mailboxes and other organizations', async () => {
      await propose(test.app, second.id, agent);
      await deleteMailbox(test.app, test.operator, second.id);
      const foreign = await createOrganization(test.app, { name: 'foreign', plan: 'self-hosted' });
      const elsewhere = { ...test.operator, organizationId: foreign.id };
      const theirs = await createMailbox(test.app, elsewhere, { slug: 'theirs' });
      await propose(test.app, theirs.id, await callerOf(test.app, elsewhere, { role: 'owner' }));
      const { id } = await proposed();
      expect(idsOf(await all())).toEqual([id]);
    });

    it.each([
      ['mailboxIds', () => ({ mailboxIds: [second.id] })],
      ['a namespace', () => ({ namespaceId: second.namespaceId })],
    ])('show a key bound with %s its own alone', async (_kind, constraints) => {
      const { id: namespaceId } = await createNamespace(test.app, test.operator, { name: 'x' });
      const apart = await createMailbox(test.app, test.operator, { slug: 'apart', namespaceId });
      await propose(test.app, apart.id, agent);
      const { id } = await propose(test.app, second.id, agent);
      const bound = { role: 'viewer', constraints: constraints() } as const;
      const { key } = await createKey(test.app, test.operator, bound);
      expect(idsOf(await all('', api.as(key ?? '')))).toEqual([id]);
    });
  });
});
