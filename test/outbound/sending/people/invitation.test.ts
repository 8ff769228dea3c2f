// The mail of an invitation: a send of the caller, that belongs to the service.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../../src/access/keys/roles.ts';
import { createMember } from '../../../../src/access/members/members.ts';
import { reviewOnboarding } from '../../../../src/access/organizations/onboarding.ts';
import {
  createOrganization,
  pauseOrganization,
  updateOrganization,
} from '../../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../../src/core/api/route.ts';
import type { ConfigInput } from '../../../../src/core/config/config.ts';
import { mailInvitation } from '../../../../src/outbound/sending/people/invitation.ts';
import { invitingNames } from '../../../../src/outbound/sending/people/words.ts';
import { usedToday, useToday } from '../../../access/admission/fixtures.ts';
import { stores } from '../../../support/command.ts';
import { ownDomain, type PeopleWorld, peopleWorld } from './people-world.ts';

const ada = 'ada@gmail.example';

function invite(
  { app, test }: PeopleWorld,
  { caller = test.operator, email = ada, inviter = 'Jette' }: Partial<Invited> = {},
): Promise<string> {
  const { organizationId } = caller;
  const times = { memberId: 'mem_x', expiresAt: app.clock.now(), name: null, role: 'editor' };
  return app.store.write((trx) =>
    mailInvitation(app, trx, caller, { organizationId, email, inviter, ...times }),
  );
}

interface Invited {
  caller: Caller;
  email: string;
  inviter: string;
}

const fieldsOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: { _tag: string; fieldErrors?: object }) =>
      error.fieldErrors ? Object.keys(error.fieldErrors) : error._tag,
  );

describe.each(stores)('an invitation, on %s', (store) => {
  let world: PeopleWorld;
  beforeEach(async () => {
    world = await peopleWorld(store);
  });
  afterEach(() => world.close());

  it('is mailed by the service, and counts for the inviting organization', async () => {
    const asked = { email: ada, role: 'editor', name: null, mail: true } as const;
    await createMember(world.app, world.test.operator, asked);
    const [mail] = await world.arrived();
    expect(mail?.from).toContain('console@acme.example');
    expect(mail?.text).toContain('operator invites you to default at mail.acme.example');
    expect(await usedToday(world.test)).toEqual({ emails: 1, messages: 1 });
  });

  it.each<[string, (world: PeopleWorld) => Promise<unknown>, unknown]>([
    ['a pause', ({ app }) => pauseOrganization(app, 'default', { note: 'look' }), 'ForbiddenError'],
    [
      'a rejection',
      ({ app }) => reviewOnboarding(app, 'default', { verdict: 'rejected', note: 'no' }),
      'ForbiddenError',
    ],
    [
      'a spent quota',
      async ({ app, test }) => {
        await updateOrganization(app, 'default', { plan: 'free' });
        await useToday(test, 1_000);
      },
      'PaymentRequiredError',
    ],
  ])('is refused by %s', async (_what, stop, expected) => {
    await stop(world);
    expect(await fieldsOf(invite(world))).toBe(expected);
  });

  it.each(['approval', 'send'] as const)(
    'by a key that may not send is refused: %s',
    async (sendMode) => {
      const caller = { ...world.test.caller, sendMode, permissions: { members: ['*'] } };
      expect(await fieldsOf(invite(world, { caller }))).toBe('ForbiddenError');
    },
  );

  it('to an address of this service, or of the domain of another organization, answers 422', async () => {
    expect(await fieldsOf(invite(world, { email: 'ada@sandbox.test' }))).toEqual(['email']);
    const { id } = await createOrganization(world.app, { name: 'other', plan: 'free' });
    await ownDomain(world.app, operatorOf(id), 'gmail.example');
    expect(await fieldsOf(invite(world))).toEqual(['email']);
    expect(await fieldsOf(invite(world, { caller: operatorOf(id) }))).toBeNull();
  });

  it('gets five invitations a day, from all organizations together', async () => {
    const { id } = await createOrganization(world.app, { name: 'other', plan: 'free' });
    const callers = [world.test.operator, operatorOf(id)];
    for (let made = 0; made < 5; made++) {
      await invite(world, { caller: callers[made % 2] ?? world.test.operator });
    }
    for (const caller of callers) {
      expect(await fieldsOf(invite(world, { caller }))).toBe('RateLimitedError');
    }
  });
});

it.each<[ConfigInput, string]>([
  [{ http: { publicUrl: null } }, 'http.publicUrl'],
  [{ console: { enabled: false } }, 'console.enabled'],
  [{ console: { signIn: { from: 'x@elsewhere.example' } } }, 'console.signIn.from'],
])('with %j answers 422 on %s', async (config, field) => {
  const world = await peopleWorld('sqlite', config);
  expect(await fieldsOf(invite(world))).toEqual([field]);
  await world.close();
});

it.each([
  ['Acme', 'Jette', 'Acme', 'Jette'],
  ['https://evil.example/x', 'a@b.example', 'httpsevilexamplex', 'abexample'],
  ['Ｅｖｉｌ．example。com', 'a\r\nb', 'Evilexamplecom', 'a b'],
  ['o'.repeat(80), 'i'.repeat(80), `${'o'.repeat(35)}…`, `${'i'.repeat(23)}…`],
])('names %j and %j as %j and %j', (organization, inviter, ...expected) => {
  const names = invitingNames(organization, inviter);
  expect([names.organization, names.inviter]).toEqual(expected);
});
