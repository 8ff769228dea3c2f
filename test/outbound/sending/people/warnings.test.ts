// Mails that warn persons: of a new browser, of a link by the operator, of a reset; and the finding
// of `svc doctor` about persons whom no mail reaches.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptInvitation } from '../../../../src/access/members/invitations.ts';
import { createMember } from '../../../../src/access/members/members.ts';
import { createMemberInput } from '../../../../src/access/members/schema.ts';
import { useMailedLink } from '../../../../src/access/sessions/mailed-links.ts';
import { makeLinkFor } from '../../../../src/access/sessions/operator-link.ts';
import { beginPersonSession } from '../../../../src/access/sessions/person-sessions.ts';
import { selectSessionsOfPerson } from '../../../../src/access/sessions/queries.ts';
import { resetPerson } from '../../../../src/access/sessions/reset.ts';
import { examine } from '../../../../src/doctor/examine.ts';
import { personMailDoubt } from '../../../../src/doctor/persons.ts';
import { listAudit } from '../../../../src/history/audit/audit.ts';
import { createMailbox } from '../../../../src/identity/mailboxes/mailboxes.ts';
import { greetBrowser } from '../../../../src/outbound/sending/people/warnings.ts';
import { stores } from '../../../support/command.ts';
import { ownDomain, type PeopleWorld, peopleWorld, visitor } from './people-world.ts';

const ada = 'ada@gmail.example';

describe.each(stores)('a person is warned, on %s', (store) => {
  let world: PeopleWorld;
  let personId: string;
  beforeEach(async () => {
    world = await peopleWorld(store);
    personId = await world.join(ada);
  });
  afterEach(() => world.close());

  const greet = (browserToken: string) =>
    greetBrowser(world.app, { ...visitor, personId, browserToken });
  const sessions = () => selectSessionsOfPerson(world.app.store.db, personId);
  const signIn = () =>
    beginPersonSession(world.app, { personId, proof: 'link', browser: 'b', network: 'n' });

  it('of the first sign-in from a new browser, with a button that ends all sessions', async () => {
    await greet('first');
    await greet('first');
    expect(await world.arrived()).toEqual([]);
    await greet('second');
    const [mail, ...more] = await world.arrived();
    expect([mail?.to, more]).toEqual([ada, []]);
    await signIn();
    expect(await sessions()).toHaveLength(1);
    expect(await useMailedLink(world.app, mail?.token ?? '')).toMatchObject({
      purpose: 'end-sessions',
    });
    expect(await sessions()).toEqual([]);
  });

  it('without a link where this service receives the mail', async () => {
    await ownDomain(world.app, world.test.operator, 'gmail.example');
    await greet('first');
    await createMailbox(world.app, world.test.operator, {
      slug: 'ada',
      displayName: null,
      address: ada,
    });
    await greet('second');
    await world.pipeline().idle();
    const { rows } = await sql<{ text: string }>`select text from contents`.execute(
      world.app.store.db,
    );
    expect(rows.map(({ text }) => text.includes('/console/link/'))).toEqual([false]);
  });

  it('of a link by the operator, as are the owners, and the link signs in', async () => {
    await world.join('owner@gmail.example', { role: 'owner' });
    const { url, email } = await makeLinkFor(world.app, 'ADA@gmail.example');
    expect(email).toBe(ada);
    const mails = await world.arrived();
    expect(new Set(mails.map(({ to }) => to))).toEqual(new Set([ada, 'owner@gmail.example']));
    const token = url.split('/').at(-1) ?? '';
    expect(mails.filter(({ text }) => text.includes(token))).toEqual([]);
    const { items } = await listAudit(world.app, world.test.operator, {
      action: 'member.link-made',
      limit: 10,
    });
    expect(items).toMatchObject([{ actor: { type: 'operator' } }]);
    expect(await useMailedLink(world.app, token)).toMatchObject({ personId, purpose: 'sign-in' });
  });

  it('not of the link of an invitation, which accepts it', async () => {
    const { app, test } = world;
    const input = { email: 'new@gmail.example', role: 'viewer', mail: false } as const;
    await createMember(app, test.operator, createMemberInput.parse(input));
    const { url } = await makeLinkFor(app, 'new@gmail.example');
    const token = url.split('/console/invitation/')[1] ?? '';
    expect(await acceptInvitation(app, token, null)).toMatchObject({ isNew: true });
    await expect(makeLinkFor(app, 'nobody@gmail.example')).rejects.toThrow('nobody');
  });

  it('of a reset', async () => {
    await resetPerson(world.app, ada);
    expect(await world.arrived()).toMatchObject([{ to: ada, token: '' }]);
  });

  it('and named by doctor where no link reaches', async () => {
    const find = async () => (await examine(world.app, { only: ['people'] }))[0];
    expect(await find()).toMatchObject({ status: 'ok' });
    await ownDomain(world.app, world.test.operator, 'gmail.example');
    await createMailbox(world.app, world.test.operator, {
      slug: 'ada',
      displayName: null,
      address: ada,
    });
    expect(await find()).toMatchObject({ status: 'warn', found: expect.stringContaining(ada) });
  });
});

describe('a sender of the service that may not send', () => {
  it('is a warning of the start and of doctor once there are persons', async () => {
    const world = await peopleWorld('sqlite', {
      console: { signIn: { from: 'nobody@elsewhere.example' } },
    });
    const doubt = await personMailDoubt(world.app);
    expect(doubt).toContain('no link to sign in and no invitation can be mailed');
    const [finding] = await examine(world.app, { only: ['people'] });
    expect(finding).toMatchObject({ status: 'warn', found: doubt });
    await world.join(ada);
    await world.ask(ada);
    expect(await world.arrived()).toEqual([]);
    await world.close();
  });
});
