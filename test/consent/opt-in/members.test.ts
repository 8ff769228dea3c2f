// Members of double opt-in groups: who is asked, when, and how often.
import { describe, expect, it } from 'vitest';
import { startOfDay } from '../../../src/access/admission/plans.ts';
import { findUsage } from '../../../src/access/admission/queries.ts';
import {
  pauseOrganization,
  resumeOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { addMembers } from '../../../src/consent/opt-in/members.ts';
import { pendingAmong } from '../../../src/consent/opt-in/queries.ts';
import { createSender, listSenders, updateSender } from '../../../src/identity/senders/senders.ts';
import { deleteContact } from '../../../src/outbound/messages/forget/forget-contact.ts';
import { drain, useToday } from '../../access/admission/fixtures.ts';
import { stores } from '../../support/command.ts';
import { dayMs, hourMs, optInWorld } from './opt-in-world.ts';

const unknownContact = 'contact_06dq2k0qz8h3v5m1r9t4w7xy';
const unknownGroup = 'usg_06dq2k0qz8h3v5m1r9t4w7xy';

describe.each(stores)('members of a double opt-in group on %s', (store) => {
  const world = optInWorld({ store });
  const { test, api, turn, group, contact, add, members, mails, press } = world;
  const results = async (answer: ReturnType<typeof add>) =>
    (await answer).body.items.map(({ status, result }) => [status, result]);

  it('refuses lists of the wrong size and ids of another kind with 422', async () => {
    const id = await group();
    const tooMany = Array.from({ length: 1_001 }, () => unknownContact);
    for (const contactIds of [[], [''], ['usg_x'], [null], 'all', tooMany, undefined]) {
      const { status } = await api.post(`/v1/unsubscribe-groups/${id}/members`, { contactIds });
      expect([contactIds?.length, status]).toEqual([contactIds?.length, 422]);
    }
  });

  it('answers 404 that names an unknown group or contact', async () => {
    const ada = await contact('ada@example.com');
    const noGroup = await add(unknownGroup, ada);
    expect([noGroup.status, JSON.stringify(noGroup.body)]).toEqual([
      404,
      expect.stringContaining(unknownGroup),
    ]);
    const id = await group();
    const noContact = await add(id, ada, unknownContact);
    expect([noContact.status, JSON.stringify(noContact.body)]).toEqual([
      404,
      expect.stringContaining(unknownContact),
    ]);
    expect((await members(id)).items).toEqual([]);
  });

  it('names a contact without an address in a 422', async () => {
    const id = await group();
    const { body: nobody } = await api.post<{ id: string }>('/v1/contacts', { identities: [] });
    const answer = await add(id, await contact('ada@example.com'), nobody.id);
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toContain(`${nobody.id} has no email address`);
    expect(JSON.stringify(answer.body)).toContain('contactIds.1');
  });

  it('answers 409 with advice for a group without confirm', async () => {
    const id = await group({ confirm: false });
    const { status, body } = await add(id, await contact('ada@example.com'));
    expect([status, JSON.stringify(body)]).toEqual([409, expect.stringContaining('--confirm')]);
  });

  it('answers 409 with advice without a default sender', async () => {
    const { app, caller } = test;
    const id = await group();
    const { items } = await listSenders(app, caller, { page: 1, limit: 100 });
    for (const sender of items) await updateSender(app, caller, sender.id, { isDefault: false });
    const { status, body } = await add(id, await contact('ada@example.com'));
    expect([status, JSON.stringify(body)]).toEqual([
      409,
      expect.stringContaining('svc senders create'),
    ]);
    expect((await members(id)).items).toEqual([]);
  });

  it('answers 409 with advice for a default sender that is not verified', async () => {
    const id = await group();
    await createSender(test.app, test.caller, { email: 'a@unproven.example', isDefault: true });
    const { status, body } = await add(id, await contact('ada@example.com'));
    expect([status, JSON.stringify(body)]).toEqual([
      409,
      expect.stringContaining('unproven.example'),
    ]);
  });

  it('mails each added contact once', async () => {
    const id = await group({ description: 'Once a month' });
    const ids = [
      await contact('ada@example.com', { name: 'Ada' }),
      await contact('bob@example.com'),
    ];
    expect(await results(add(id, ...ids))).toEqual([
      ['pending', 'asked'],
      ['pending', 'asked'],
    ]);
    for (let i = 0; i < 5; i++) await turn();
    const sent = await mails();
    expect(new Set(sent.map(({ to }) => to))).toEqual(
      new Set(['ada@example.com', 'bob@example.com']),
    );
    expect(sent[0]?.subject).toBe('Please confirm: News');
    for (const part of [sent[0]?.text, sent[0]?.html]) {
      // The description is on the page alone.
      expect(part).not.toContain('Once a month');
      expect(part).toContain('/c/');
    }
    expect(await pendingAmong(test.app.store.db, id, ids)).toEqual(new Set(ids));
  });

  it('answers in the order of the request and takes a repeated id once', async () => {
    const id = await group();
    const [a, b] = [await contact('a@example.com'), await contact('b@example.com')];
    const { items } = (await add(id, b, a, b)).body;
    expect(items.map(({ contactId }) => contactId)).toEqual([b, a]);
  });

  it('mails at most once an hour and three times in all', async () => {
    const id = await group();
    const ada = await contact('ada@example.com');
    const told: string[] = [];
    const again = async () => {
      told.push((await add(id, ada)).body.items[0]?.result ?? '');
      await turn();
      await turn();
    };
    await again();
    await again();
    await turn(hourMs - 10_000);
    await again();
    for (let i = 0; i < 4; i++) {
      await turn(hourMs);
      await again();
    }
    expect(told).toEqual(['asked', 'recent', 'recent', 'asked', 'asked', 'limit', 'limit']);
    expect(await mails()).toHaveLength(3);
  });

  it('keeps the count of mails over a removal', async () => {
    const id = await group();
    const ada = await contact('ada@example.com');
    for (let i = 0; i < 5; i++) {
      await add(id, ada);
      await turn();
      await turn(hourMs);
      await api.request('DELETE', `/v1/unsubscribe-groups/${id}/members`, {
        body: { contactIds: [ada] },
      });
    }
    expect(await results(add(id, ada))).toEqual([['pending', 'limit']]);
    expect(await mails()).toHaveLength(3);
  });

  it('mails once for 20 concurrent requests', async () => {
    const id = await group();
    const ids = [await contact('ada@example.com'), await contact('bob@example.com')];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => add(id, ...(i % 2 ? ids : ids.toReversed()))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (let i = 0; i < 3; i++) await turn();
    expect(await mails()).toHaveLength(2);
  });

  it('mails once with two daemons', async () => {
    const id = await group();
    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, i) => contact(`c${i}@example.com`)),
    );
    const { createConfirmationLoop } = await import('../../../src/consent/opt-in/loop.ts');
    const other = createConfirmationLoop(await test.another());
    other.start();
    await add(id, ...ids);
    for (let i = 0; i < 5; i++) {
      await turn();
      await other.idle();
    }
    await other.stop();
    const sent = await mails();
    expect(new Set(sent.map(({ to }) => to)).size).toBe(12);
    expect(sent).toHaveLength(12);
  });

  it('mails five contacts of each organization in a second', async () => {
    const id = await group();
    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, i) => contact(`c${i}@example.com`)),
    );
    await turn();
    await add(id, ...ids);
    const counts: number[] = [];
    for (let i = 0; i < 4; i++) {
      await turn();
      counts.push((await mails()).length);
    }
    expect(counts).toEqual([5, 10, 12, 12]);
  });

  it('keeps a confirmed contact confirmed', async () => {
    const id = await group();
    const ada = await contact('ada@example.com');
    await add(id, ada);
    await turn();
    await press((await mails())[0]?.link ?? '');
    await turn(2 * hourMs);
    expect(await results(add(id, ada))).toEqual([['confirmed', 'confirmed']]);
    await turn();
    expect(await mails()).toHaveLength(1);
    expect(await pendingAmong(test.app.store.db, id, [ada])).toEqual(new Set());
  });

  it('sends no mail to a blocked address and says so', async () => {
    const id = await group();
    const ada = await contact('ada@example.com');
    await api.post('/v1/email/blocks', { address: 'ADA@example.com', reason: 'manual' });
    expect(await results(add(id, ada))).toEqual([['pending', 'blocked']]);
    await turn();
    expect(await mails()).toEqual([]);
  });

  it('sends no mail to an address that was blocked after the request', async () => {
    const id = await group();
    const ada = await contact('ada@example.com');
    await turn();
    await add(id, ada);
    await api.post('/v1/email/blocks', { address: 'ada@example.com', reason: 'manual' });
    await turn();
    expect(await mails()).toEqual([]);
    expect((await members(id)).items).toMatchObject([{ mails: 0, nextMailAt: null }]);
  });

  it('refuses members while sending is paused, and keeps due mails back', async () => {
    const { app } = test;
    const { organizationId } = test.caller;
    const id = await group();
    const [ada, bob] = [await contact('ada@example.com'), await contact('bob@example.com')];
    await turn();
    await add(id, ada);
    await pauseOrganization(app, organizationId, { note: 'review' });
    expect((await add(id, bob)).status).toBe(403);
    await turn();
    expect(await mails()).toEqual([]);
    await resumeOrganization(app, organizationId, {});
    await turn(hourMs);
    expect((await mails()).map(({ to }) => to)).toEqual(['ada@example.com']);
  });

  it('waits for an hour while the organization has no sender', async () => {
    const { app, caller } = test;
    const id = await group();
    const ada = await contact('ada@example.com');
    await turn();
    await add(id, ada);
    const { items } = await listSenders(app, caller, { page: 1, limit: 100 });
    for (const sender of items) await updateSender(app, caller, sender.id, { isDefault: false });
    await turn();
    expect((await members(id)).items).toMatchObject([{ mails: 0 }]);
    for (const sender of items) await updateSender(app, caller, sender.id, { isDefault: true });
    await turn();
    expect(await mails()).toEqual([]);
    await turn(hourMs);
    expect(await mails()).toHaveLength(1);
  });

  it('waits for the daily quota with its reason, and counts on the day it leaves', async () => {
    const { app, caller } = test;
    const { organizationId } = caller;
    const used = async () => {
      const rows = await findUsage(app.store.db, [organizationId], startOfDay(app.clock.now()));
      return rows[0]?.emails ?? 0;
    };
    const id = await group();
    const ids = [await contact('ada@example.com'), await contact('bob@example.com')];
    await updateOrganization(app, organizationId, { plan: 'free', paymentMethodOnFile: true });
    await test.clock.advance(dayMs);
    await useToday(test, 999);
    expect((await add(id, ...ids)).status).toBe(200);
    for (let i = 0; i < 3; i++) await turn();
    expect(await mails()).toHaveLength(1);
    expect(await used()).toBe(1_000);
    expect((await members(id)).items.map(({ mails, waitReason }) => [mails, waitReason])).toEqual(
      expect.arrayContaining([
        [1, null],
        [0, 'daily-quota'],
      ]),
    );
    await turn(dayMs);
    for (let i = 0; i < 2; i++) await turn();
    expect(await mails()).toHaveLength(2);
    expect(await used()).toBe(1);
    expect((await members(id)).items.map(({ waitReason }) => waitReason)).toEqual([null, null]);
  });

  it('continues within 30 s of a plan that has room', async () => {
    const { app, caller } = test;
    const id = await group();
    await updateOrganization(app, caller.organizationId, { plan: 'free' });
    await useToday(test, 100);
    await add(id, await contact('ada@example.com'));
    for (let i = 0; i < 2; i++) await turn();
    expect(await mails()).toEqual([]);
    await updateOrganization(app, caller.organizationId, { plan: 'self-hosted' });
    for (let i = 0; i < 30; i++) await turn();
    expect(await mails()).toHaveLength(1);
  });

  it('waits for the rate, and leaves half of the bucket to requests', async () => {
    const { app, caller } = test;
    const { organizationId } = caller;
    const id = await group();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await contact(`c${i}@example.com`));
    await updateOrganization(app, organizationId, { plan: 'free', paymentMethodOnFile: true });
    await drain(app, { organizationId, keyId: null });
    expect((await add(id, ...ids)).status).toBe(200);
    await turn();
    const early = (await mails()).length;
    expect(early).toBeLessThan(5);
    const reasons = (await members(id)).items.map(({ waitReason }) => waitReason);
    expect(reasons.filter((reason) => reason === 'rate')).toHaveLength(5 - early);
    for (let i = 0; i < 10; i++) await turn();
    expect(await mails()).toHaveLength(5);
  });

  it('sends no mail of a key that was revoked after the request', async () => {
    const id = await group();
    const [ada, bob] = [await contact('ada@example.com'), await contact('bob@example.com')];
    const { body } = await api.post<{ id: string; key: string }>('/v1/api-keys', {
      ...{ name: 'news', role: 'developer' },
    });
    const path = `/v1/unsubscribe-groups/${id}/members`;
    await turn();
    expect((await api.as(body.key).post(path, { contactIds: [ada] })).status).toBe(200);
    await addMembers(test.app, test.operator, id, [bob]);
    await api.delete(`/v1/api-keys/${body.id}`);
    await turn();
    await turn();
    expect((await mails()).map(({ to }) => to)).toEqual(['bob@example.com']);
    expect((await members(id)).items).toMatchObject([{ mails: 1 }, { mails: 0, nextMailAt: null }]);
  });

  it('names the key that asked as the origin of a mail', async () => {
    const id = await group();
    const [ada, bob] = [await contact('ada@example.com'), await contact('bob@example.com')];
    await add(id, ada);
    await addMembers(test.app, test.operator, id, [bob]);
    for (let i = 0; i < 2; i++) await turn();
    const origins = await Promise.all(
      (await mails()).map(async (mail) => {
        const { body } = await api.get<{ origin: object }>(`/v1/messages/${mail.id}`);
        return [mail.to, body.origin];
      }),
    );
    expect(Object.fromEntries(origins)).toMatchObject({
      'ada@example.com': { via: 'service', keyId: test.caller.keyId },
      'bob@example.com': { via: 'service', keyId: null },
    });
  });

  it('lists members by cursor and state, the newest contact first', async () => {
    const id = await group();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await contact(`c${i}@example.com`));
    await add(id, ...ids);
    await turn();
    await press((await mails())[0]?.link ?? '');
    const first = await members(id, '?limit=3');
    const rest = await members(id, `?limit=3&cursor=${first.nextCursor}`);
    const listed = [...first.items, ...rest.items].map(({ contactId }) => contactId);
    expect(listed).toEqual(ids.toReversed());
    expect(rest.nextCursor).toBeNull();
    const confirmed = await members(id, '?status=confirmed');
    expect(confirmed.items).toMatchObject([
      { status: 'confirmed', confirmedAt: expect.any(String) },
    ]);
    expect((await members(id, '?status=pending')).items).toHaveLength(4);
    const foreign = await api.get(
      `/v1/unsubscribe-groups/${id}/members?status=pending&cursor=${first.nextCursor}`,
    );
    expect(foreign.status).toBe(422);
  });

  it('judges a removed member as pending', async () => {
    const id = await group();
    const ada = await contact('ada@example.com');
    await add(id, ada);
    await turn();
    await press((await mails())[0]?.link ?? '');
    const path = `/v1/unsubscribe-groups/${id}/members`;
    const remove = () => api.request('DELETE', path, { body: { contactIds: [ada] } });
    expect((await remove()).body).toEqual({ removed: 1 });
    expect((await remove()).body).toEqual({ removed: 0 });
    expect((await members(id)).items).toEqual([]);
    expect(await pendingAmong(test.app.store.db, id, [ada])).toEqual(new Set([ada]));
  });

  it('forgets the confirmation of a deleted contact and of a deleted group', async () => {
    const [a, b] = [await group(), await group({ name: 'Offers' })];
    const [ada, bob] = [await contact('ada@example.com'), await contact('bob@example.com')];
    await add(a, ada, bob);
    await add(b, bob);
    await deleteContact(test.app, test.caller, ada);
    expect((await members(a)).items).toMatchObject([{ contactId: bob }]);
    await api.delete(`/v1/unsubscribe-groups/${a}`);
    expect(await pendingAmong(test.app.store.db, a, [ada, bob])).toEqual(new Set());
    await turn();
    expect((await mails()).map(({ to }) => to)).toEqual(['bob@example.com']);
  });

  it('refuses a test key for an address beyond the local mailboxes', async () => {
    const id = await group();
    const ada = await contact('ada@example.com');
    const { body } = await api.post<{ key: string }>('/v1/api-keys', {
      ...{ name: 'test', role: 'developer', mode: 'test' },
    });
    const path = `/v1/unsubscribe-groups/${id}/members`;
    expect((await api.as(body.key).post(path, { contactIds: [ada] })).status).toBe(403);
    const local = await contact('inbox@sandbox.test');
    expect((await api.as(body.key).post(path, { contactIds: [local] })).status).toBe(200);
  });
});

describe('members of a double opt-in group where mail leaves the machine', () => {
  const world = optInWorld({ config: { delivery: { mode: 'direct' } } });

  it('answer 422 without a public address for their links', async () => {
    const { group, contact, add, members } = world;
    const id = await group();
    const { status, body } = await add(id, await contact('ada@example.com'));
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('publicUrl')]);
    expect((await members(id)).items).toEqual([]);
  });

  it('get no mail after an import without a public address', async () => {
    const { api, group, turn, mails, members } = world;
    const id = await group();
    await api.request('POST', `/v1/contacts/import?requireConfirmation=${id}`, {
      ...{ body: 'email\na@example.com\n', headers: { 'content-type': 'text/csv' } },
    });
    await turn();
    await turn();
    expect(await mails()).toEqual([]);
    expect((await members(id)).items).toMatchObject([{ mails: 0, nextMailAt: expect.any(String) }]);
  });
});
