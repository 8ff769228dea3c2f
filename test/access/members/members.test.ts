// Members: who invites, changes and deletes whom, and the last owner.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import {
  acceptInvitation,
  declineInvitation,
  readInvitation,
} from '../../../src/access/members/invitations.ts';
import {
  createMember,
  deleteMember,
  getMember,
  leaveOrganization,
  listMembers,
  resendInvitation,
  updateMember,
} from '../../../src/access/members/members.ts';
import { memberCaller } from '../../../src/access/members/persons.ts';
import * as queries from '../../../src/access/members/queries.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { beginSession } from '../../../src/access/sessions/sessions.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { invite, join, keyCaller, memberOf, personOf, present } from './people.ts';

const dayMs = 24 * 3_600_000;
const page = { page: 1, limit: 20 };

describe.each(stores)('members on %s', (store) => {
  let test: TestApp;
  let operator: Caller;
  let owner: Caller;
  beforeEach(async () => {
    test = await testApp({ store });
    operator = test.operator;
    owner = await join(test.app, operator, 'ann@people.example', 'owner');
  });
  afterEach(() => test.close());

  const role = (id: string) => getMember(test.app, operator, id).then((member) => member.role);

  describe('an invitation', () => {
    it('makes a place, and the person a caller with its role', async () => {
      const { app } = test;
      const { id, token } = await invite(app, owner, 'Bo@People.Example', 'editor');
      expect(await getMember(app, operator, id)).toMatchObject({
        email: 'bo@people.example',
        status: 'invited',
        invitedBy: memberOf(owner),
        signIn: { link: false, passkey: false, provider: false },
      });
      expect(await readInvitation(app, token)).toMatchObject({
        inviter: 'ann@people.example',
        person: null,
      });
      const accepted = await acceptInvitation(app, token, null);
      expect(accepted).toMatchObject({ isNew: true, member: { status: 'active' } });
      const caller = await present(app, accepted?.personId ?? '', operator.organizationId);
      expect(caller).toMatchObject({ roleName: 'editor', owner: 'person', keyId: null });
      expect(await acceptInvitation(app, token, null)).toBeNull();
    });

    it.each(['resend', 'role', 'deletion', 'time', 'decline', 'inviter', 'disabled inviter'])(
      'ends by: %s',
      async (end) => {
        const { app, clock } = test;
        const admin = await join(app, operator, 'ada@people.example', 'admin');
        const { id, token } = await invite(app, admin, 'bo@people.example', 'editor');
        if (end === 'resend') {
          await app.store.write(async (trx) => {
            await queries.members.update(trx, owner.organizationId, id, { invitation_hash: 'new' });
          });
        }
        if (end === 'role') await updateMember(app, owner, id, { role: 'viewer' });
        if (end === 'deletion') await deleteMember(app, owner, id);
        if (end === 'time') await clock.advance(7 * dayMs);
        if (end === 'decline') expect(await declineInvitation(app, token)).toBe(true);
        if (end === 'inviter') await updateMember(app, owner, memberOf(admin), { role: 'viewer' });
        if (end === 'disabled inviter') {
          await updateMember(app, owner, memberOf(admin), { status: 'disabled' });
          await updateMember(app, owner, memberOf(admin), { status: 'active' });
        }
        expect(await readInvitation(app, token)).toBeNull();
        expect(await acceptInvitation(app, token, null)).toBeNull();
        expect(await declineInvitation(app, token)).toBe(false);
      },
    );

    it('lets somebody known sign in first, and nobody else accept', async () => {
      const { app } = test;
      const other = await createOrganization(app, { name: 'other', plan: 'free' });
      const { token } = await invite(app, operatorOf(other.id), 'ann@people.example', 'viewer');
      await expect(acceptInvitation(app, token, null)).rejects.toThrow(/sign in, and accept/);
      const bo = await join(app, operator, 'bo@people.example', 'viewer');
      await expect(acceptInvitation(app, token, personOf(bo))).rejects.toThrow(/is for ann@/);
      expect(await acceptInvitation(app, token, personOf(owner))).toMatchObject({ isNew: false });
    });

    it('of a known address answers as one of an unknown address', async () => {
      const { app } = test;
      const other = operatorOf((await createOrganization(app, { name: 'o', plan: 'free' })).id);
      const shape = async (email: string) => {
        const made = await createMember(app, other, { email, role: 'viewer', mail: false });
        return { ...made, id: '', email: '' };
      };
      expect(await shape('ann@people.example')).toEqual(await shape('new@people.example'));
    });

    it('is refused as the 21st open one, and for a member', async () => {
      const { app } = test;
      for (let n = 0; n < 20; n++) await invite(app, owner, `p${n}@people.example`, 'viewer');
      await expect(invite(app, owner, 'more@people.example', 'viewer')).rejects.toMatchObject({
        status: 409,
      });
      await test.clock.advance(7 * dayMs);
      await invite(app, owner, 'more@people.example', 'viewer');
      await expect(invite(app, owner, 'ANN@people.example', 'viewer')).rejects.toThrow(/already/);
    });

    it('is accepted by one of two at once', async () => {
      const { app } = test;
      const { token } = await invite(app, owner, 'bo@people.example', 'viewer');
      const both = await Promise.all([
        acceptInvitation(app, token, null),
        acceptInvitation(app, token, null),
      ]);
      expect(both.filter((accepted) => accepted !== null)).toHaveLength(1);
    });
  });

  describe('an owner', () => {
    it('is made, changed and removed by owners alone, by members and keys alike', async () => {
      const { app } = test;
      const admin = await join(app, operator, 'ada@people.example', 'admin');
      const adminKey = await keyCaller(app, operator, { role: 'admin', owner: 'person' });
      const all = { permissions: { '*': ['*'] }, owner: 'person' } as const;
      const key = await keyCaller(app, operator, all);
      const editor = await join(app, operator, 'ed@people.example', 'editor');
      for (const caller of [admin, adminKey, key]) {
        const denied = { status: 403 };
        const id = memberOf(owner);
        await expect(updateMember(app, caller, id, { name: 'x' })).rejects.toMatchObject(denied);
        await expect(deleteMember(app, caller, id)).rejects.toMatchObject(denied);
        await expect(resendInvitation(app, caller, id)).rejects.toMatchObject(denied);
        await expect(invite(app, caller, 'x@y.example', 'owner')).rejects.toMatchObject(denied);
        const grant = updateMember(app, caller, memberOf(editor), { role: 'owner' });
        await expect(grant).rejects.toMatchObject(denied);
      }
      await updateMember(app, owner, memberOf(editor), { role: 'owner' });
      expect(await role(memberOf(editor))).toBe('owner');
    });

    it('who is the last is not removed, demoted, disabled or gone, but by the operator', async () => {
      const { app } = test;
      const id = memberOf(owner);
      const key = await keyCaller(app, operator, { role: 'owner', owner: 'person' });
      const denied = { status: 409 };
      await expect(updateMember(app, key, id, { role: 'admin' })).rejects.toMatchObject(denied);
      await expect(updateMember(app, key, id, { status: 'disabled' })).rejects.toMatchObject(
        denied,
      );
      await expect(deleteMember(app, key, id)).rejects.toMatchObject(denied);
      await expect(leaveOrganization(app, owner)).rejects.toMatchObject(denied);
      await updateMember(app, operator, id, { role: 'admin' });
      expect(await role(id)).toBe('admin');
    });

    it('and a second owner do not both leave at once', async () => {
      const { app } = test;
      const second = await join(app, operator, 'bo@people.example', 'owner');
      const both = await Promise.allSettled([
        updateMember(app, owner, memberOf(second), { status: 'disabled' }),
        updateMember(app, second, memberOf(owner), { status: 'disabled' }),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });

    it('does not change the own role', async () => {
      const { app } = test;
      await join(app, operator, 'bo@people.example', 'owner');
      const own = updateMember(app, owner, memberOf(owner), { role: 'viewer' });
      await expect(own).rejects.toMatchObject({ status: 403 });
      await updateMember(app, owner, memberOf(owner), { name: 'Ann' });
      await leaveOrganization(app, owner);
    });
  });

  it('are given no role that can do more than the caller', async () => {
    const { app } = test;
    const input = { owner: 'person', permissions: { members: ['*'], messages: ['*'] } } as const;
    const key = await keyCaller(app, operator, input);
    const beyond = invite(app, key, 'bo@people.example', 'developer');
    await expect(beyond).rejects.toThrow(/permissions that you lack/);
    const service = await keyCaller(app, operator, { role: 'owner' });
    await expect(invite(app, service, 'bo@people.example', 'viewer')).rejects.toMatchObject({
      status: 403,
    });
  });

  it('who are disabled or deleted lose their sessions at once', async () => {
    const { app } = test;
    const bo = await join(app, operator, 'bo@people.example', 'developer');
    const place = { personId: personOf(bo), organizationId: operator.organizationId };
    await beginSession(app, operator);
    expect(await memberCaller(app.store.db, place)).not.toBeNull();
    await updateMember(app, owner, memberOf(bo), { status: 'disabled' });
    expect(await memberCaller(app.store.db, place)).toBeNull();
    await updateMember(app, owner, memberOf(bo), { status: 'active' });
    expect(await memberCaller(app.store.db, place)).not.toBeNull();
    await deleteMember(app, owner, memberOf(bo));
    expect(await queries.findPerson(app.store.db, place.personId)).toBeUndefined();
  });

  describe('a name', () => {
    it('is free for another person once its person has no place', async () => {
      await join(test.app, operator, 'bo@people.example', 'owner');
      await deleteMember(test.app, operator, memberOf(owner));
      const again = await join(test.app, operator, 'ann@people.example', 'viewer');
      expect(personOf(again)).not.toBe(personOf(owner));
    });

    it('is free once its member is deleted', async () => {
      const { id } = await invite(test.app, owner, 'bo@people.example', 'viewer');
      await deleteMember(test.app, owner, id);
      await invite(test.app, owner, 'bo@people.example', 'viewer');
    });

    it('is free once its person is gone', async () => {
      const { app } = test;
      const binding = { oidc_issuer: 'https://idp.example', oidc_client: 'c', oidc_subject: 's' };
      const bind = (caller: Caller) =>
        app.store.write((trx) => queries.updatePerson(trx, personOf(caller), binding));
      await bind(owner);
      const bo = await join(app, operator, 'bo@people.example', 'owner');
      await expect(bind(bo)).rejects.toThrow(/unique/i);
      await deleteMember(app, operator, memberOf(owner));
      await bind(bo);
    });
  });

  it('keep the person who has another place', async () => {
    const { app } = test;
    const other = operatorOf((await createOrganization(app, { name: 'o', plan: 'free' })).id);
    await join(app, other, 'ann@people.example', 'viewer');
    await deleteMember(app, operator, memberOf(owner));
    expect(await queries.findPerson(app.store.db, personOf(owner))).toBeDefined();
    expect((await listMembers(app, operator, page)).items).toEqual([]);
  });

  it('invited have no status to set, and are mailed again by resend alone', async () => {
    const { app } = test;
    const { id } = await invite(app, owner, 'bo@people.example', 'viewer');
    const status = updateMember(app, owner, id, { status: 'active' });
    await expect(status).rejects.toMatchObject({ status: 409 });
    const bo = await join(app, operator, 'eve@people.example', 'viewer');
    const again = () => resendInvitation(app, owner, memberOf(bo));
    await expect(again()).rejects.toMatchObject({ status: 409 });
  });
});
