// The person behind an identity of the provider: binding, joining, roles by a claim, fresh proofs.
import { describe, expect, it } from 'vitest';
import { newPerson } from '../../../src/access/members/persons.ts';
import * as queries from '../../../src/access/members/queries.ts';
import {
  beginPersonSession,
  findPersonSession,
} from '../../../src/access/sessions/person-sessions.ts';
import { unbindAddress, unbindIssuer } from '../../../src/access/sessions/unbind.ts';
import type { Identity } from '../../../src/access/single-sign-on/identity.ts';
import { joinDoubt } from '../../../src/access/single-sign-on/join-doubt.ts';
import {
  bindIdentity,
  personOfIdentity,
  personOfInvitation,
  proveIdentity,
} from '../../../src/access/single-sign-on/people.ts';
import { claimedRole } from '../../../src/access/single-sign-on/role-claim.ts';
import type { App } from '../../../src/core/app.ts';
import { listAudit } from '../../../src/history/audit/audit.ts';
import { hashOfToken } from '../../../src/platform/runtime/tokens.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

type Oidc = App['config']['console']['signIn']['oidc'];

const issuer = 'https://id.example.com';
const mara: Identity = {
  issuer,
  clientId: 'svc',
  subject: 'u1',
  email: 'mara@example.com',
  isEmailVerified: true,
  hostedDomain: null,
  name: 'Mara',
  authTime: null,
  roleClaim: undefined,
};
const link = hashOfToken('invitation');

describe.each(stores)('an identity of the provider on %s', (store) => {
  const test = eachApp({ store });
  const organizationId = () => test.caller.organizationId;

  /** Returns the app with this configuration of single sign-on. */
  function withOidc(change: Partial<Oidc>): App {
    const { console, ...rest } = test.app.config;
    const oidc: Oidc = {
      ...console.signIn.oidc,
      issuer,
      clientId: 'svc',
      domains: ['example.com'],
      join: { organization: organizationId(), role: 'viewer' },
      ...change,
    };
    const config = { ...rest, console: { ...console, signIn: { ...console.signIn, oidc } } };
    return Object.create(test.app, { config: { value: config } });
  }

  const byGroups = (owners = false): Partial<Oidc> => ({
    join: { organization: organizationId(), role: null },
    roles: {
      claim: 'groups',
      map: { admins: 'admin', writers: 'editor', ...(owners && { bosses: 'owner' }) },
      owners,
    },
  });

  /** Stores a place, and its person unless it is invited. Returns the id of the person. */
  async function place(change: Partial<queries.MemberRow> = {}): Promise<string> {
    const { app, clock } = test;
    const email = change.email ?? 'mara@example.com';
    const person = newPerson(app, email);
    const isInvited = change.status === 'invited';
    const row: queries.MemberRow = {
      id: app.newId({ prefix: 'mem' }),
      organization_id: organizationId(),
      person_id: isInvited ? null : person.id,
      email,
      name: null,
      role: 'editor',
      status: 'active',
      invited_by: null,
      invitation_hash: isInvited ? link : null,
      invitation_token: null,
      invitation_message_id: null,
      expires_at: isInvited ? clock.now() + 60_000 : null,
      accepted_at: null,
      last_seen_at: null,
      created_at: clock.now(),
      updated_at: clock.now(),
      ...change,
    };
    await app.store.write(async (trx) => {
      if (!isInvited) await queries.insertPerson(trx, person);
      await queries.members.insert(trx, row);
    });
    return person.id;
  }

  const bind = (personId: string, identity = mara) =>
    bindIdentity(withOidc({}), personId, identity);
  const placeOf = (email: string) =>
    queries.findMemberByEmail(test.app.store.db, organizationId(), email);
  const rows = async () => [await placeOf('mara@example.com'), await people()];
  const people = () => queries.findPersonByEmail(test.app.store.db, 'mara@example.com');

  it('of a new address joins with the role of the configuration', async () => {
    const result = await personOfIdentity(withOidc({}), mara);
    expect(result).toMatchObject({ organizationId: organizationId() });
    expect(await placeOf('mara@example.com')).toMatchObject({
      status: 'active',
      role: 'viewer',
      name: 'Mara',
      person_id: 'personId' in result ? result.personId : '',
    });
    expect(await personOfIdentity(withOidc({}), { ...mara, email: 'new@example.com' })).toEqual({
      personId: 'personId' in result ? result.personId : '',
      organizationId: null,
    });
  });

  const outside: readonly (readonly [string, Partial<Identity>, Partial<Oidc>])[] = [
    ['without an address', { email: null }, {}],
    ['with an unproven address', { isEmailVerified: false }, {}],
    ['of another domain', { email: 'mara@example.net' }, {}],
    ['of a subdomain', { email: 'mara@a.example.com' }, {}],
    ['of another hosted domain', { hostedDomain: 'example.net' }, {}],
    ['of Google without a hosted domain', { issuer: 'https://accounts.google.com' }, {}],
    ['where no role is configured', {}, { join: { organization: null, role: null } }],
  ];

  it.each(outside)('%s opens nothing', async (_, change, oidc) => {
    const identity = { ...mara, ...change };
    expect(await personOfIdentity(withOidc(oidc), identity)).toEqual({ refused: 'no-place' });
    expect(await rows()).toEqual([undefined, undefined]);
  });

  it('reads the same for unknown addresses, members, disabled members and bound persons', async () => {
    await place({ email: 'active@example.com' });
    await place({ email: 'away@example.com', status: 'disabled' });
    const bound = await place({ email: 'bound@example.com' });
    await bind(bound, { ...mara, subject: 'u7' });
    const app = withOidc({ join: { organization: organizationId(), role: null } });
    for (const name of ['active', 'away', 'bound', 'unknown']) {
      const identity = { ...mara, email: `${name}@example.com` };
      expect(await personOfIdentity(app, identity), name).toEqual({ refused: 'no-place' });
      if (name === 'unknown') continue;
      // Nor do known people come in where new ones join.
      const joining = await personOfIdentity(withOidc({}), identity);
      expect(joining, name).toEqual({ refused: 'no-place' });
    }
    expect(await queries.findPersonByBinding(test.app.store.db, mara)).toBeUndefined();
  });

  it('of an invited address accepts the invitation', async () => {
    await place({ status: 'invited', role: 'support' });
    const app = withOidc({ join: { organization: organizationId(), role: null } });
    expect(await personOfIdentity(app, mara)).toMatchObject({ organizationId: organizationId() });
    expect(await placeOf('mara@example.com')).toMatchObject({
      status: 'active',
      role: 'support',
      invitation_hash: null,
    });
  });

  it('does not revive an invitation that ended', async () => {
    await place({ status: 'invited', expires_at: test.clock.now() - 1 });
    const app = withOidc({ join: { organization: organizationId(), role: null } });
    expect(await personOfIdentity(app, mara)).toEqual({ refused: 'no-place' });
  });

  it('that is bound signs in by subject, whatever the address', async () => {
    const personId = await place();
    expect(await bind(personId)).toEqual({ personId, organizationId: null });
    const unproven = { ...mara, email: 'boss@example.com', isEmailVerified: false };
    expect(await personOfIdentity(withOidc({}), unproven)).toMatchObject({ personId });
    for (const other of [{ subject: 'u2' }, { clientId: 'x' }, { issuer: 'https://b.example' }]) {
      const result = await personOfIdentity(withOidc({}), { ...mara, ...other });
      expect(result).toEqual({ refused: 'no-place' });
    }
  });

  it('is never bound twice, and a binding is never replaced', async () => {
    const personId = await place();
    await bind(personId);
    const second = await place({ email: 'ben@example.com' });
    expect(await bind(second)).toEqual({ refused: 'bound-elsewhere' });
    expect(await bind(personId, { ...mara, subject: 'u2' })).toEqual({ refused: 'already-bound' });
    expect(await bind(personId)).toEqual({ personId, organizationId: null });
  });

  it('of a disabled person opens nothing', async () => {
    const personId = await place({ status: 'disabled' });
    await bind(personId);
    expect(await personOfIdentity(withOidc({}), mara)).toEqual({ refused: 'disabled' });
  });

  it('accepts no invitation of an inviter without the right to give the role', async () => {
    await place({ email: 'ben@example.com', role: 'developer' });
    const { id = '' } = (await placeOf('ben@example.com')) ?? {};
    await place({ status: 'invited', role: 'admin', invited_by: id });
    const app = withOidc({ join: { organization: organizationId(), role: null } });
    expect(await personOfIdentity(app, mara)).toEqual({ refused: 'no-place' });
    expect(await personOfInvitation(app, link, mara)).toEqual({ refused: 'invitation-ended' });
  });

  describe('with an invitation', () => {
    const accept = (identity: Identity, oidc: Partial<Oidc> = {}) =>
      personOfInvitation(withOidc(oidc), link, identity);

    it('accepts it, without a proven address', async () => {
      await place({ status: 'invited' });
      const result = await accept({ ...mara, isEmailVerified: false });
      expect(result).toMatchObject({ organizationId: organizationId() });
      expect(await accept(mara)).toEqual({ refused: 'invitation-ended' });
    });

    it('of a different address changes nothing', async () => {
      await place({ status: 'invited' });
      const before = await rows();
      expect(await accept({ ...mara, email: 'ben@example.com' })).toEqual({
        refused: 'other-address',
      });
      expect(await rows()).toEqual(before);
    });

    it('binds a known person only by a proven address', async () => {
      const person = newPerson(test.app, 'mara@example.com');
      await test.app.store.write((trx) => queries.insertPerson(trx, person));
      await place({ status: 'invited' });
      for (const weak of [{ isEmailVerified: false }, { email: null }]) {
        expect(await accept({ ...mara, ...weak })).toEqual({ refused: 'no-place' });
      }
      expect(await accept(mara)).toMatchObject({ personId: person.id });
    });

    it('that ended is refused', async () => {
      await place({ status: 'invited', expires_at: test.clock.now() });
      expect(await accept(mara)).toEqual({ refused: 'invitation-ended' });
    });
  });

  describe('with a claim for roles', () => {
    const signIn = (roleClaim: unknown, owners = false) =>
      personOfIdentity(withOidc(byGroups(owners)), { ...mara, roleClaim });

    it('gives the role at each sign-in', async () => {
      await signIn(['writers']);
      expect(await placeOf('mara@example.com')).toMatchObject({ role: 'editor' });
      await signIn(['writers', 'admins']);
      expect(await placeOf('mara@example.com')).toMatchObject({ role: 'admin' });
    });

    it.each([undefined, null, 7, {}, [7], Array.from({ length: 1001 }, () => 'admins')])(
      'changes nothing for %j',
      async (roleClaim) => {
        await bind(await place());
        const before = await rows();
        expect(await signIn(roleClaim)).toEqual({ refused: 'unreadable-role' });
        expect(await rows()).toEqual(before);
      },
    );

    it.each([[[]], [['guests']], ['guests'], [['__proto__']]])(
      'disables the place for %j, and does not enable it again',
      async (roleClaim) => {
        await bind(await place());
        expect(await signIn(roleClaim)).toEqual({ refused: 'disabled' });
        expect(await placeOf('mara@example.com')).toMatchObject({ status: 'disabled' });
        expect(await signIn(['admins'])).toEqual({ refused: 'disabled' });
      },
    );

    it('keeps the last owner', async () => {
      const personId = await place({ role: 'owner' });
      await bind(personId);
      for (const roleClaim of [['guests'], ['writers']]) {
        expect(await signIn(roleClaim)).toMatchObject({ personId });
        expect(await placeOf('mara@example.com')).toMatchObject({
          role: 'owner',
          status: 'active',
        });
      }
      await place({ email: 'ben@example.com', role: 'owner' });
      await signIn(['writers']);
      expect(await placeOf('mara@example.com')).toMatchObject({ role: 'editor' });
    });

    it('makes owners only where the configuration allows it', async () => {
      await bind(await place());
      await signIn(['bosses'], true);
      expect(await placeOf('mara@example.com')).toMatchObject({ role: 'owner' });
    });

    it('lets nobody new in without a role', async () => {
      expect(await signIn(['guests'])).toEqual({ refused: 'no-role' });
      expect(await signIn(undefined)).toEqual({ refused: 'unreadable-role' });
      expect(await rows()).toEqual([undefined, undefined]);
    });

    it('holds in its organization alone', async () => {
      const personId = await place();
      await bind(personId);
      const elsewhere = { organization: `org_${'0'.repeat(20)}`, role: null };
      const app = withOidc({ ...byGroups(), join: elsewhere });
      expect(await personOfIdentity(app, { ...mara, roleClaim: ['guests'] })).toMatchObject({
        personId,
      });
      expect(await placeOf('mara@example.com')).toMatchObject({ role: 'editor' });
    });
  });

  describe('as a fresh proof', () => {
    it.each([
      [0, false, 'fresh'],
      [-30_000, false, 'fresh'],
      [-90_000, false, 'not-fresh'],
      [null, false, 'not-fresh'],
      [null, true, 'fresh'],
      [-90_000, true, 'not-fresh'],
    ] as const)('asked at %j, with only %j, is %s', async (asked, only, expected) => {
      const personId = await place();
      await bind(personId);
      const begunAt = test.clock.now();
      const authTime = asked === null ? null : begunAt + asked;
      const of = { personId, organizationId: organizationId(), begunAt };
      const result = await proveIdentity(withOidc({ only }), of, { ...mara, authTime });
      expect('refused' in result ? result.refused : 'fresh').toBe(expected);
    });

    it('of another identity is refused', async () => {
      const personId = await place();
      await bind(personId);
      const of = { personId, organizationId: organizationId(), begunAt: 0 };
      const other = { ...mara, subject: 'u2', authTime: 1 };
      expect(await proveIdentity(withOidc({}), of, other)).toEqual({ refused: 'bound-elsewhere' });
    });
  });

  it('finds an organization of the configuration that the store lacks', async () => {
    expect(await joinDoubt(test.app)).toBeNull();
    expect(await joinDoubt(withOidc({}))).toBeNull();
    const organization = `org_${'0'.repeat(20)}`;
    const doubt = await joinDoubt(withOidc({ join: { organization, role: null } }));
    expect(doubt).toMatch(/join\.organization is org_0{20}, .* only hold nowhere/);
  });

  it('is unbound by address and by issuer, which the audit says', async () => {
    const personId = await place();
    await bind(personId);
    const signedIn = { personId, browser: 'x', network: '' };
    const [ended, stays] = [
      await beginPersonSession(test.app, { ...signedIn, proof: 'provider' }),
      await beginPersonSession(test.app, { ...signedIn, proof: 'link' }),
    ];
    await unbindAddress(test.app, 'Mara@Example.com');
    const open = [ended, stays].map((token) =>
      findPersonSession(test.app, hashOfToken(token ?? '')),
    );
    expect(await Promise.all(open)).toMatchObject([null, { personId }]);
    expect(await people()).toMatchObject({ oidc_subject: null, bound_at: null });
    await expect(unbindAddress(test.app, 'mara@example.com')).rejects.toThrow('was not found');
    await bind(await place({ email: 'ben@example.com' }));
    expect(await unbindIssuer(test.app, 'https://other.example.com')).toBe(0);
    expect(await unbindIssuer(test.app, issuer)).toBe(1);
    expect(await unbindIssuer(test.app, issuer)).toBe(0);
    const { items } = await listAudit(test.app, test.operator, { limit: 10 });
    const unbound = items.filter(({ action }) => action === 'member.provider-unbound');
    expect(unbound.map(({ actor }) => actor.memberEmail)).toEqual([
      'ben@example.com',
      'mara@example.com',
    ]);
    expect(unbound[0]).toMatchObject({ actor: { type: 'member' }, details: { issuer } });
  });
});

it('takes the role of most rights of several values', () => {
  const map = { a: 'viewer', b: 'developer', c: 'sender' } as const;
  expect(claimedRole(['a', 'c', 'b'], map)).toEqual({ role: 'developer' });
  expect(claimedRole('a', map)).toEqual({ role: 'viewer' });
  expect(claimedRole('toString', map)).toBe('none');
});
