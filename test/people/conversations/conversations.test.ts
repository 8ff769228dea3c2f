// Conversations over HTTP, and in sends, on both stores; rules that they share with other nouns are
// in test/http/resources.test.ts, the effects of mail in mail.test.ts and counts.test.ts.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { type Conversation, conversationNoun } from '../../../src/people/conversations/schema.ts';
import { receiveMail } from '../../inbox/receiving/received-mail.ts';
import { otherOrganization, payload, send } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';

const path = '/v1/conversations';

type Refusal = { _tag: string; message: string; resource?: string; id?: string; fields?: object };

const everyField = new Set(
  `id title externalId status primaryChannel channels priority urgency tags isTest
  messageCount lastActivityAt createdAt description parentConversationId statusReason complexity
  categories metadata context isInternal isPrivate contacts startedAt lastHumanActivityAt resolvedAt
  archivedAt resolutionType resolutionNotes updatedAt`.split(/\s+/),
);

describe.each(stores)('conversations on %s', (store) => {
  const { test, api } = eachApi({ store });

  async function make(body: object = {}): Promise<Conversation> {
    const answer = await api.post<Conversation>(path, body);
    expect([answer.status, answer.body]).toEqual([201, answer.body]);
    return answer.body;
  }
  const show = async (id: string) => (await api.get<Conversation>(`${path}/${id}`)).body;
  const list = async (query: string) =>
    (await api.get<Page<Conversation>>(`${path}?${query}`)).body;
  const patch = <Body = Conversation>(id: string, body: object) =>
    api.request<Body>('PATCH', `${path}/${id}`, { body });
  const move = <Body = Conversation>(id: string, name: string, body?: object) =>
    api.request<Body>('POST', `${path}/${id}/${name}`, body ? { body } : {});
  const sendInto = (conversationId: string, email = {}, top = {}) =>
    send(api, payload(email, { conversationId, ...top }));
  const answerTo = ({ id }: Message, ...more: string[]) =>
    receiveMail(test.app, [
      'From: ada@example.com',
      `In-Reply-To: <${id}@sandbox.test>`,
      ...more,
      'Subject: Re: Hello',
      '',
      'Thanks.',
    ]);

  it('2.7: have every field, and keep the given values', async () => {
    const plain = await make();
    expect(new Set(Object.keys(plain))).toEqual(everyField);
    expect(plain).toMatchObject({
      ...{ status: 'active', primaryChannel: 'email', channels: ['email'], priority: 0 },
      ...{ urgency: 'normal', complexity: null, tags: [], categories: [], contacts: [] },
      ...{ messageCount: 0, startedAt: null, lastActivityAt: null, lastHumanActivityAt: null },
      ...{ isTest: false, isInternal: false, isPrivate: false, metadata: {} },
    });
    expect(plain.context).toEqual({
      customerData: {},
      previousConversations: [],
      sessionVariables: {},
      workflowState: { currentStep: null, completedSteps: [], pendingSteps: [], workflowData: {} },
    });
    const given = {
      title: 'A late invoice',
      externalId: 'case-1',
      description: 'It came late.\nTwice.',
      parentConversationId: plain.id,
      priority: 100,
      urgency: 'urgent',
      complexity: 'complex',
      tags: ['billing', 'vip'],
      categories: ['invoices'],
      metadata: { orders: 2, isNew: true },
      context: {
        customerData: { since: '2024' },
        previousConversations: [plain.id],
        sessionVariables: { page: 3 },
        workflowState: {
          currentStep: 'triage',
          completedSteps: ['greet'],
          pendingSteps: ['refund'],
          workflowData: { amount: 12.5 },
        },
      },
      isInternal: true,
      isPrivate: true,
    };
    const full = await make(given);
    expect(full).toMatchObject(given);
    expect(await show(full.id)).toEqual(full);
    const changed = await patch(full.id, {
      title: null,
      context: null,
      tags: ['vip'],
      priority: 1,
    });
    expect(changed.body).toMatchObject({
      title: null,
      tags: ['vip'],
      priority: 1,
      urgency: 'urgent',
    });
    expect(changed.body.context).toEqual(plain.context);
    expect(await show(full.id)).toEqual(changed.body);
  });

  it('are rejected with 422 for invalid and oversized fields', async () => {
    for (const [kind, body, field] of [
      ['a line break in a title', { title: 'A\r\nBcc: b@c.d' }, 'title'],
      ['a priority of 101', { priority: 101 }, 'priority'],
      ['an urgency of its own', { urgency: 'asap' }, 'urgency'],
      ['a complexity of its own', { complexity: 'hard' }, 'complexity'],
      ['a status', { status: 'resolved' }, 'status'],
      ['101 tags', { tags: Array(101).fill('a') }, 'tags'],
      ['a tag with a comma', { tags: ['a,b'] }, 'tags.0'],
      [
        '51 keys of metadata',
        { metadata: Object.fromEntries(Array(51).fill(1).entries()) },
        'metadata',
      ],
      [
        'a context of 33 KB',
        {
          context: {
            customerData: Object.fromEntries([...'abcdefg'].map((k) => [k, 'x'.repeat(5_000)])),
          },
        },
        'context',
      ],
    ] as [string, object, string][]) {
      const { status, body: refusal } = await api.post<Refusal>(path, body);
      expect([kind, status, Object.keys(refusal.fields ?? {})]).toEqual([kind, 422, [field]]);
      expect((await list('')).pagination.total).toBe(0);
    }
  });

  it("answer 409 for another's external id, and name that conversation", async () => {
    const { id } = await make({ externalId: 'case-1' });
    const again = await api.post<Refusal>(path, { externalId: 'case-1' });
    expect([again.status, again.body.resource]).toEqual([409, 'conversation']);
    expect(again.body.message).toContain(id);
    const other = await make({ externalId: 'case-2' });
    const taken = await patch<Refusal>(other.id, { externalId: 'case-1' });
    expect([taken.status, taken.body.message]).toEqual([409, expect.stringContaining(id)]);
    expect((await patch(other.id, { externalId: 'case-2' })).status).toBe(200);
  });

  it('answer 404 for an unknown parent', async () => {
    const { id } = await make();
    const unknown = test.app.newId(conversationNoun);
    const missing = await patch<Refusal>(id, { parentConversationId: unknown });
    expect([missing.status, missing.body.id]).toEqual([404, unknown]);
  });

  it('answer 422 for themselves as parent', async () => {
    const { id } = await make();
    const own = await patch<Refusal>(id, { parentConversationId: id });
    expect([own.status, Object.keys(own.body.fields ?? {})]).toEqual([
      422,
      ['parentConversationId'],
    ]);
  });

  it('4.5 add tags once, ignore the removal of a missing tag, and bound tags at 100', async () => {
    const { id } = await make({ tags: ['a', 'b', 'a'] });
    const added = await api.post<Conversation>(`${path}/${id}/tags`, { tags: ['c', 'a'] });
    expect([added.status, added.body.tags]).toEqual([200, ['a', 'b', 'c']]);
    const removed = await api.request<Conversation>('DELETE', `${path}/${id}/tags`, {
      body: { tags: ['b', 'never'] },
    });
    expect([removed.status, removed.body.tags]).toEqual([200, ['a', 'c']]);
    const none = await api.request<Refusal>('DELETE', `${path}/${id}/tags`, { body: { tags: [] } });
    expect([none.status, Object.keys(none.body.fields ?? {})]).toEqual([422, ['tags']]);
    const many = Array.from({ length: 99 }, (_, index) => `t${index}`);
    const over = await api.post<Refusal>(`${path}/${id}/tags`, { tags: many });
    expect([over.status, Object.keys(over.body.fields ?? {})]).toEqual([422, ['tags']]);
    expect((await show(id)).tags).toEqual(['a', 'c']);
    expect((await list('tag=b')).pagination.total).toBe(0);
    expect((await list('tag=c')).items.map((conversation) => conversation.id)).toEqual([id]);
  });

  it('are filtered by status, tag, external id and contact, alone and together, and counted', async () => {
    const ada = await api.post<{ id: string }>('/v1/contacts', { email: 'Ada@example.com' });
    const made: string[] = [];
    for (let i = 0; i < 6; i++) {
      const { id } = await make({ externalId: `x${i}`, tags: i % 2 ? ['odd'] : [] });
      if (i < 3) await sendInto(id);
      if (i === 1) await move(id, 'resolve');
      made.push(id);
    }
    const foundBy = async (query: string) => {
      const { items, pagination } = await list(query);
      return [...items.map(({ id }) => made.indexOf(id)), `of ${pagination.total}`];
    };
    const contact = `contactId=${ada.body.id}`;
    expect(await foundBy('')).toEqual([5, 4, 3, 2, 1, 0, 'of 6']);
    expect(await foundBy('limit=2&page=2')).toEqual([3, 2, 'of 6']);
    expect(await foundBy('status=waiting')).toEqual([2, 0, 'of 2']);
    expect(await foundBy('status=active&limit=1')).toEqual([5, 'of 3']);
    expect(await foundBy('tag=odd&limit=2')).toEqual([5, 3, 'of 3']);
    expect(await foundBy('tag=odd&status=resolved')).toEqual([1, 'of 1']);
    expect(await foundBy('externalId=x3')).toEqual([3, 'of 1']);
    expect(await foundBy('externalId=x3&status=waiting')).toEqual(['of 0']);
    expect(await foundBy('externalId=x3&tag=odd')).toEqual([3, 'of 1']);
    expect(await foundBy(contact)).toEqual([2, 1, 0, 'of 3']);
    expect(await foundBy(`${contact}&status=waiting&limit=1`)).toEqual([2, 'of 2']);
    expect(await foundBy(`${contact}&tag=odd`)).toEqual([1, 'of 1']);
    expect(await foundBy(`${contact}&externalId=x2`)).toEqual([2, 'of 1']);
    expect(await foundBy(`${contact}&externalId=x4`)).toEqual(['of 0']);
    const { apiKey } = await otherOrganization(test.app);
    const other = api.as(apiKey);
    const foreign = await other.get<Page<Conversation>>(`${path}?${contact}`);
    expect([foreign.status, foreign.body.pagination.total]).toEqual([200, 0]);
  });

  it('change state by resolve, archive and reopen with their times, and answer 409 otherwise', async () => {
    const { id } = await make();
    const resolved = await move(id, 'resolve', {
      resolutionType: 'automated',
      resolutionNotes: 'Refunded',
      statusReason: 'A refund closes it',
    });
    expect([resolved.status, resolved.body]).toEqual([200, resolved.body]);
    expect(resolved.body).toMatchObject({
      ...{ status: 'resolved', statusReason: 'A refund closes it' },
      ...{ resolutionType: 'automated', resolutionNotes: 'Refunded', archivedAt: null },
    });
    expect(resolved.body.resolvedAt).toBe(resolved.body.updatedAt);
    const twice = await move<Refusal>(id, 'resolve');
    expect([twice.status, twice.body.resource]).toEqual([409, 'conversation']);
    const archived = await move(id, 'archive');
    expect(archived.body).toMatchObject({ status: 'archived', statusReason: null });
    expect(archived.body.archivedAt).toBe(archived.body.updatedAt);
    expect(archived.body.resolvedAt).toBe(resolved.body.resolvedAt);
    for (const name of ['resolve', 'archive']) expect((await move(id, name)).status).toBe(409);
    const reopened = await move(id, 'reopen', { statusReason: 'It came back' });
    expect(reopened.body).toMatchObject({
      ...{ status: 'active', statusReason: 'It came back', resolvedAt: null, archivedAt: null },
      ...{ resolutionType: null, resolutionNotes: null },
    });
    expect((await move(id, 'reopen')).status).toBe(409);
    expect((await move(id, 'resolve')).body.resolutionType).toBe('manual');
    const bad = await move<Refusal>(id, 'reopen', { resolutionType: 'manual' });
    expect([bad.status, Object.keys(bad.body.fields ?? {})]).toEqual([422, ['resolutionType']]);
  });

  it.each([
    ['active', [], 'waiting', 'active'],
    ['waiting', ['send'], 'waiting', 'active'],
    ['resolved', ['resolve'], 'resolved', 'active'],
    ['archived', ['archive'], 'archived', 'archived'],
  ])('change from %s by messages as the table of states says', async (status, moves, out, back) => {
    const at = async () => {
      const { id } = await make();
      const first = await sendInto(id);
      await answerTo(first);
      for (const name of moves) await (name === 'send' ? sendInto(id) : move(id, name));
      const { messageCount, ...conversation } = await show(id);
      expect(conversation.status).toBe(status);
      return { id, first, messageCount };
    };
    const sent = await at();
    const message = await sendInto(sent.id);
    expect(message.conversationId).toBe(sent.id);
    expect(await show(sent.id)).toMatchObject({
      status: out,
      messageCount: sent.messageCount + 1,
    });
    const answered = await at();
    await answerTo(answered.first);
    const after = await show(answered.id);
    expect(after).toMatchObject({ status: back, messageCount: answered.messageCount + 1 });
    expect(after.resolvedAt).toBeNull();
  });

  it('take times and contacts from their messages, and tell human from automatic activity', async () => {
    await api.post('/v1/contacts', { email: 'Ada@example.com', name: 'Ada' });
    const bob = await api.post<{ id: string }>('/v1/contacts', { email: 'bob@example.com' });
    const { id } = await make();
    const first = await sendInto(id);
    const names = async () => (await show(id)).contacts.map(({ name }) => name);
    const started = await show(id);
    expect(started).toMatchObject({
      startedAt: first.createdAt,
      lastActivityAt: first.createdAt,
      statusReason: `${first.id} was sent`,
      contacts: [
        {
          name: 'Ada',
          displayName: null,
          identities: [{ channel: 'email', identifier: 'Ada@example.com', verified: false }],
        },
      ],
    });
    const human = started.lastHumanActivityAt;
    await test.clock.advance(1_000);
    const auto = await answerTo(first, 'Auto-Submitted: auto-replied');
    const after = await show(id);
    expect(after.lastHumanActivityAt).toBe(human);
    expect(Date.parse(after.lastActivityAt ?? '')).toBe(test.clock.now());
    expect(after.statusReason).toBe(`${auto} was received`);
    await answerTo(first);
    expect((await show(id)).lastHumanActivityAt).toBe(after.lastActivityAt);
    await sendInto(id, {}, { to: [{ contactId: bob.body.id }, { email: 'ADA@example.com' }] });
    expect((await names()).sort()).toEqual(['Ada', null]);
    await api.delete(`/v1/contacts/${bob.body.id}`);
    expect(await names()).toEqual(['Ada']);
  });

  it('match a contact by address in any letter case', async () => {
    await api.post('/v1/contacts', { email: 'Ada@example.com', name: 'Ada' });
    const { id } = await make();
    await sendInto(id, {}, { to: [{ email: 'aDA@EXAMPLE.com' }] });
    expect((await show(id)).contacts.map(({ name }) => name)).toEqual(['Ada']);
  });

  it('show the 20 contacts that came first', async () => {
    const { id } = await make();
    const contacts: string[] = [];
    for (let i = 0; i < 25; i++) {
      const { body } = await api.post<{ id: string }>('/v1/contacts', { email: `c${i}@x.example` });
      contacts.push(body.id);
    }
    const sendTo = (ids: readonly string[]) =>
      sendInto(id, {}, { to: ids.map((contactId) => ({ contactId })) });
    const shown = async () => new Set((await show(id)).contacts.map((contact) => contact.id));
    await sendTo(contacts.slice(0, 15));
    expect(await shown()).toEqual(new Set(contacts.slice(0, 15)));
    await sendTo(contacts);
    expect(await shown()).toEqual(new Set(contacts.slice(0, 20)));
  });

  it("count a send as human activity from a person's key, not from a service's", async () => {
    const { id } = await make();
    const at = async (owner: 'person' | 'service') => {
      const { key } = await createKey(test.app, test.operator, { role: 'sender', owner });
      const keyed = api.as(key ?? '');
      await test.clock.advance(1_000);
      const { createdAt } = await send(keyed, payload({}, { conversationId: id }));
      return createdAt;
    };
    await at('service');
    expect((await show(id)).lastHumanActivityAt).toBeNull();
    expect(await at('person')).toBe((await show(id)).lastHumanActivityAt);
  });

  it('answer 404 to a send into an unknown or foreign conversation, and store nothing', async () => {
    const { apiKey } = await otherOrganization(test.app);
    const other = api.as(apiKey);
    const foreign = (await other.post<Conversation>(path, {})).body;
    for (const conversationId of [test.app.newId(conversationNoun), foreign.id]) {
      const body = payload({}, { conversationId });
      const answer = await api.post<Refusal>('/v1/messages', body);
      expect([answer.status, answer.body.resource, answer.body.id]).toEqual([
        ...[404, 'conversation', conversationId],
      ]);
    }
    expect((await other.get<Conversation>(`${path}/${foreign.id}`)).body).toEqual(foreign);
  });

  it('include a reply to one of their messages, and count a repeated send once', async () => {
    const { id } = await make();
    const first = await sendInto(id);
    const reply = await send(api, payload({ inReplyToMessageId: first.id }));
    expect(reply.conversationId).toBe(id);
    const headers = { 'Idempotency-Key': 'once' };
    const body = payload({}, { conversationId: id });
    const [original, repeated] = await Promise.all([
      send(api, body, headers),
      send(api, body, headers),
    ]);
    expect(original.id).toBe(repeated.id);
    expect((await show(id)).messageCount).toBe(3);
    const listed = await api.get<Page<Message>>(`/v1/messages?conversationId=${id}`);
    expect(listed.body.items.map((message) => message.id)).toEqual([
      original.id,
      reply.id,
      first.id,
    ]);
    expect(listed.body.pagination.total).toBe(3);
  });

  it('keep their messages when deleted, and drop a deleted message from the count', async () => {
    const { id } = await make({ tags: ['a'] });
    const first = await sendInto(id);
    const second = await sendInto(id);
    await api.delete(`/v1/messages/${second.id}`);
    expect((await show(id)).messageCount).toBe(1);
    // More messages than one transaction changes.
    await test.app.store.write(async (trx) => {
      await sql`insert into messages (id, organization_id, direction, status, from_email,
          message_id_header, conversation_id, track_opens, track_clicks, is_test, delivery_count,
          created_at, updated_at)
        select 'msg_' || value, organization_id, direction, status, from_email, message_id_header,
          conversation_id, 0, 0, 0, 0, 0, 0
        from messages, (with recursive n(value) as
          (select 1 union all select value + 1 from n where value < 1200) select value from n) n
        where messages.id = ${first.id}`.execute(trx);
      await sql`update conversations set message_count = 1201`.execute(trx);
    });
    expect((await api.delete(`${path}/${id}`)).status).toBe(200);
    const { rows } = await sql<{ n: number }>`select count(*) as n from messages
      where conversation_id is not null`.execute(test.app.store.db);
    expect(Number(rows[0]?.n)).toBe(0);
    const kept = await api.get<Message>(`/v1/messages/${first.id}`);
    expect([kept.status, kept.body.conversationId]).toEqual([200, null]);
    expect((await api.delete(`${path}/${id}`)).status).toBe(404);
    expect((await list('')).pagination.total).toBe(0);
    expect((await list('tag=a')).pagination.total).toBe(0);
    // An answer to a message of a deleted conversation has no conversation.
    const answer = await answerTo(first);
    expect((await api.get<Message>(`/v1/messages/${answer}`)).body.conversationId).toBeNull();
  });

  it('publish an event for their creation, each change, and each message in or change of state', async () => {
    const { id } = await make();
    const first = await sendInto(id);
    // Changes no state: message.accepted reports it.
    await sendInto(id);
    await answerTo(first);
    await answerTo(first);
    await move(id, 'resolve');
    await patch(id, { urgency: 'high' });
    await patch(id, { urgency: 'high' });
    const log = await api.get<{ items: { type: string; data: Conversation }[] }>(
      `/v1/events?subject=${id}&order=asc`,
    );
    expect(
      log.body.items.map(({ type, data }) => [type, data.status, data.messageCount, data.urgency]),
    ).toEqual([
      ['conversation.created', 'active', 0, 'normal'],
      ['conversation.updated', 'waiting', 1, 'normal'],
      ['conversation.updated', 'active', 3, 'normal'],
      ['conversation.updated', 'active', 4, 'normal'],
      ['conversation.updated', 'resolved', 4, 'normal'],
      ['conversation.updated', 'resolved', 4, 'high'],
    ]);
    const audit = await api.get<{ items: { action: string }[] }>(`/v1/audit?resource=${id}`);
    expect(audit.body.items.map(({ action }) => action)).toEqual([
      'conversation.updated',
      'conversation.resolved',
      'conversation.created',
    ]);
  });
});
