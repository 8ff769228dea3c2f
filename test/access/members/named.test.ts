// What a member made bears the member, and ends with the place: runs, scheduled mail, keys, audit.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKey, rotateKey, updateKey } from '../../../src/access/keys/keys.ts';
import { revokedKeyCheck } from '../../../src/access/keys/send-checks.ts';
import {
  createMember,
  deleteMember,
  resendInvitation,
  updateMember,
} from '../../../src/access/members/members.ts';
import { standingCaller } from '../../../src/access/members/persons.ts';
import type { UpdateMember } from '../../../src/access/members/schema.ts';
import { callerOfRun } from '../../../src/campaigns/walk/walked-run.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { listAudit } from '../../../src/history/audit/audit.ts';
import { UnauthorizedError } from '../../../src/platform/errors.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { join, memberOf } from './people.ts';

describe.each(stores)('the act of a member on %s', (store) => {
  let test: TestApp;
  let bo: Caller;
  beforeEach(async () => {
    test = await testApp({ store });
    bo = await join(test.app, test.operator, 'bo@people.example', 'admin');
  });
  afterEach(() => test.close());

  it('names the member in the audit and as the maker of a key', async () => {
    const { app, operator } = test;
    const key = await createKey(app, bo, { role: 'sender' });
    expect(key.createdBy).toBe(memberOf(bo));
    const { items } = await listAudit(app, operator, { action: 'key.created', limit: 1 });
    expect(items[0]?.actor).toEqual({
      ...{ type: 'member', keyId: null, keyName: null, role: 'admin' },
      memberId: memberOf(bo),
      memberName: 'bo@people.example',
      memberEmail: 'bo@people.example',
    });
  });

  type Act = (key: string, other: string) => Promise<unknown>;
  const acts: [string, Act][] = [
    ['makes a key', () => createKey(test.app, bo, { role: 'sender' })],
    ['rotates a key', (key) => rotateKey(test.app, bo, key)],
    [
      'limits a key',
      (key) => updateKey(test.app, bo, key, { constraints: { domains: ['a.example'] } }),
    ],
    [
      'invites',
      () => createMember(test.app, bo, { email: 'x@people.example', role: 'viewer', mail: false }),
    ],
    ['changes a member', (_key, other) => updateMember(test.app, bo, other, { name: 'Other' })],
    ['removes a member', (_key, other) => deleteMember(test.app, bo, other)],
    ['invites again', (_key, other) => resendInvitation(test.app, bo, other)],
  ];
  const ends: [string, UpdateMember][] = [
    ['disabled', { status: 'disabled' }],
    ['given a lower role', { role: 'viewer' }],
  ];
  describe.each(ends)('of somebody %s while the request ran', (_how, end) => {
    it.each(acts)('neither %s nor leaves a trace', async (_what, act) => {
      const { app, operator } = test;
      const { id: key } = await createKey(app, operator, { role: 'sender' });
      const { id: other } = await createMember(app, operator, {
        ...{ email: 'other@people.example', role: 'viewer', mail: false },
      });
      await updateMember(app, operator, memberOf(bo), end);
      const before = await listAudit(app, operator, { limit: 100 });
      await expect(act(key, other)).rejects.toThrow(UnauthorizedError);
      expect(await listAudit(app, operator, { limit: 100 })).toEqual(before);
    });
  });

  it('is a scheduled mail that a disabled member sends no more', async () => {
    const { app, operator } = test;
    const { organizationId } = operator;
    const due = async () => {
      const send = {
        organizationId,
        keyId: memberOf(bo),
        caller: null as Caller | null,
        right: null,
      };
      const refusalOf = await revokedKeyCheck.prepare(app, app.store.db, [send]);
      return { refusal: await refusalOf(send), caller: send.caller };
    };
    expect(await due()).toMatchObject({ refusal: null, caller: { roleName: 'admin' } });
    await updateMember(app, operator, memberOf(bo), { status: 'disabled' });
    expect(await due()).toMatchObject({ refusal: { status: 403 }, caller: null });
  });

  it('stands with the rights of now, and falls with the place', async () => {
    const { app, operator } = test;
    const run = { created_by: memberOf(bo), organization_id: operator.organizationId };
    const standing = () => callerOfRun(app.store.db, run);
    expect(await standing()).toMatchObject({ by: { kind: 'member' } });
    await updateMember(app, operator, memberOf(bo), { role: 'viewer' });
    expect(await standing()).toBeNull();
    await updateMember(app, operator, memberOf(bo), { role: 'admin', status: 'disabled' });
    expect(await standing()).toBeNull();
    await deleteMember(app, operator, memberOf(bo));
    expect(await standingCaller(app.store.db, memberOf(bo))).toBeNull();
  });
});
