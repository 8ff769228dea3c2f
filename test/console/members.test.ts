// People of an organization in the console, and the page behind an invitation.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKey, getKey } from '../../src/access/keys/keys.ts';
import { startInvitation } from '../../src/access/members/invitations.ts';
import { createMember, deleteMember } from '../../src/access/members/members.ts';
import { members } from '../../src/access/members/queries.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { present } from '../access/members/people.ts';
import { stores } from '../support/command.ts';
import { browserOf, makePerson } from './persons.ts';
import { type Answer, type Browser, consoleWorld, formOf, problemOf, type World } from './world.ts';

const day = 24 * 3_600_000;

describe.each(stores)('people in the console on %s', (store) => {
  let world: World;
  let owner: Browser;
  beforeEach(async () => {
    world = await consoleWorld(store);
    const { personId } = await makePerson(world, 'jette@example.com', [{ name: 'Jette' }]);
    owner = await browserOf(world, personId, { proof: 'passkey' });
  });
  afterEach(() => world.close());

  const typed = { email: 'mara@example.com', role: 'editor', name: 'Mara', mail: false } as const;

  /** Invites an address without mail. Returns the path of the page. */
  async function invite(email: string = typed.email): Promise<{ id: string; path: string }> {
    const { app, operator } = world.test;
    const { id } = await createMember(app, operator, { ...typed, email });
    const token = await app.store.write(async (trx) => {
      const row = await members.get(trx, operator.organizationId, id);
      return startInvitation(app, trx, row, { messageId: null, livesMs: 7 * day });
    });
    return { id, path: `/console/invitation/${token}` };
  }

  const sessionIn = (answer: Answer): Browser => {
    const cookies = [answer.headers['set-cookie'] ?? []].flat().map(String);
    const cookie = cookies.find((one) => one.startsWith('svc_console=')) ?? '';
    return world.browser(cookie.split(';')[0]);
  };

  const statusOf = async (id: string) =>
    (await members.find(world.test.app.store.db, world.test.operator.organizationId, id))?.status;

  it('shows who has no passkey and who never came', async () => {
    await makePerson(world, 'tariq@example.com', [{ name: 'Tariq', role: 'support' }]);
    const { body } = await owner.get('/console/people');
    expect(body).toContain('Without passkey and single sign-on: ');
    expect(body).toMatch(/Never came: Tariq/);
  });

  it('offers an admin no change of an owner that would work', async () => {
    const { memberIds } = await makePerson(world, 'ada@example.com');
    const { personId } = await makePerson(world, 'tariq@example.com', [{ role: 'admin' }]);
    const admin = await browserOf(world, personId, { proof: 'passkey' });
    const fields = { _action: 'status', status: 'disabled' };
    const { body } = await admin.post(`/console/people/${memberIds[0]}`, fields);
    expect(problemOf(body)).toContain('Only an owner');
  });

  it('names organization, role, inviter and address to somebody new, who accepts by a button', async () => {
    const { id, path } = await invite();
    const { body } = await world.browser().get(path);
    for (const part of ['mara@example.com', 'editor', 'the operator']) expect(body).toContain(part);
    expect(await statusOf(id)).toBe('invited');
    const accepted = await world.browser().post(path, { name: 'Mara B' });
    expect([accepted.status, accepted.headers['refresh']]).toEqual([200, '0; url=/console']);
    const mara = sessionIn(accepted);
    const account = (await mara.get('/console/account')).body;
    for (const text of ['this organization alone', 'Mara B']) expect(account).toContain(text);
    expect([await statusOf(id), (await world.browser().post(path, {})).status]).toEqual([
      'active',
      410,
    ]);
  });

  it('begins a single session for two acceptances at once', async () => {
    const { path } = await invite();
    const both = await Promise.all([
      world.browser().post(path, {}),
      world.browser().post(path, {}),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 410]);
  });

  it('gives no session to somebody known, who signs in and then accepts', async () => {
    const { id: elsewhere } = await createOrganization(world.test.app, {
      name: 'Harbour Festival',
      plan: 'free',
    });
    const { personId } = await makePerson(world, typed.email, [{ organizationId: elsewhere }]);
    const { id, path } = await invite();
    const page = await world.browser().get(path);
    expect(page.body).toContain('Sign in as always');
    const refused = await world.browser().post(path, {});
    expect([refused.status, refused.headers['set-cookie'], await statusOf(id)]).toEqual([
      403,
      undefined,
      'invited',
    ]);
    const stranger = await owner.post(path, {});
    expect([stranger.status, await statusOf(id)]).toEqual([403, 'invited']);
    const known = await browserOf(world, personId);
    const accepted = await known.post(path, {});
    expect([accepted.status, await statusOf(id)]).toEqual([303, 'active']);
    expect((await known.get('/console')).body).toContain('<span>default</span>');
  });

  it('is declined by a button, and ends after seven days', async () => {
    const { id, path } = await invite();
    expect((await world.browser().post(path, { decline: '1' })).status).toBe(200);
    expect(await statusOf(id)).toBeUndefined();
    const late = await invite();
    await world.test.clock.advance(7 * day);
    expect((await world.browser().get(late.path)).status).toBe(410);
    expect((await world.browser().post(late.path, {})).status).toBe(410);
  });

  it('removes a member by a button of the page, whose session ends', async () => {
    const { memberIds, personId } = await makePerson(world, 'tariq@example.com', [
      { role: 'admin', name: 'Tariq' },
    ]);
    const tariq = await browserOf(world, personId, { proof: 'passkey' });
    const path = `/console/people/${memberIds[0]}`;
    const form = formOf((await owner.get(path)).body, 'remove') ?? {};
    const removed = await owner.post(path, form);
    expect(removed.headers['location']).toBe('/console/people');
    expect((await tariq.get('/console')).status).toBe(401);
  });

  it('lists the keys of a member at the removal, and revokes the ticked keys', async () => {
    const { app, operator } = world.test;
    const tariq = await makePerson(world, 'tariq@example.com', [{ role: 'admin' }]);
    const admin = await present(app, tariq.personId, operator.organizationId);
    const [ends, stays] = [
      await createKey(app, admin, { name: 'laptop', role: 'sender' }),
      await createKey(app, admin, { name: 'shop', role: 'sender' }),
    ];
    const foreign = await createKey(app, operator, { name: 'elsewhere', role: 'sender' });
    const path = `/console/people/${tariq.memberIds[0]}`;
    const { body } = await owner.get(path);
    expect([ends, stays, foreign].map(({ id }) => body.includes(`name="${id}"`))).toEqual([
      ...[true, true, false],
    ]);
    const ticked = { _action: 'remove', _sure: '1', [ends.id]: '1', [foreign.id]: '1' };
    expect((await owner.post(path, ticked)).status).toBe(303);
    const made = await Promise.all(
      [ends, stays, foreign].map(({ id }) => getKey(app, operator, id)),
    );
    expect(made.map(({ isActive }) => isActive)).toEqual([false, true, true]);
  });

  it('lets everybody choose the own name, and records it', async () => {
    const { memberIds, personId } = await makePerson(world, 'tariq@example.com', [
      { role: 'viewer' },
    ]);
    const tariq = await browserOf(world, personId);
    await tariq.post('/console/account', { _action: 'rename', name: 'Tariq B' });
    expect((await tariq.get('/console')).body).toContain('Tariq B');
    const audit = await world.api('GET', `/v1/audit?resource=${memberIds[0]}`);
    expect(audit.items?.[0]).toMatchObject({ action: 'member.updated' });
  });

  it('ends the session of a deleted member at the next request', async () => {
    const { memberIds, personId } = await makePerson(world, 'tariq@example.com', [
      { role: 'support' },
    ]);
    const tariq = await browserOf(world, personId);
    await deleteMember(world.test.app, world.test.operator, memberIds[0] ?? '');
    expect((await tariq.get('/console')).status).toBe(401);
  });

  it('makes the operator a member, by an invitation that opens at once', async () => {
    const operator = await world.operator();
    expect((await operator.get('/console')).body).toContain('Become a member');
    const fields = { _action: 'become', email: 'op@example.com', name: 'Op' };
    const made = await operator.post('/console/become-member', fields);
    const path = String(made.headers['location']);
    expect(path).toMatch(/^\/console\/invitation\//);
    const accepted = sessionIn(await operator.post(path, {}));
    expect((await accepted.get('/console')).body).toContain('Op');
  });
});
