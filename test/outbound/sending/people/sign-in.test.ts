// Sign in by mail, end to end over a relay to a foreign server: the mail, its limits, and that
// nobody can tell a known address.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../../src/access/keys/roles.ts';
import { resendInvitation } from '../../../../src/access/members/members.ts';
import { selectPlaces, updatePerson } from '../../../../src/access/members/queries.ts';
import { createOrganization } from '../../../../src/access/organizations/organizations.ts';
import { countMail, signInLimits } from '../../../../src/access/sessions/mail-limits.ts';
import {
  readMailedLink,
  tokenOfLinkMail,
  useMailedLink,
} from '../../../../src/access/sessions/mailed-links.ts';
import { createMailbox } from '../../../../src/identity/mailboxes/mailboxes.ts';
import { askForLink, linksAreMade } from '../../../../src/outbound/sending/people/sign-in.ts';
import { greetBrowser } from '../../../../src/outbound/sending/people/warnings.ts';
import { present } from '../../../access/members/people.ts';
import { stores } from '../../../support/command.ts';
import { ownDomain, type PeopleWorld, peopleWorld, visitor } from './people-world.ts';

const ada = 'ada@gmail.example';
const minute = 60_000;
const day = 24 * 60 * minute;

describe.each(stores)('a link to sign in, on %s', (store) => {
  let world: PeopleWorld;
  beforeEach(async () => {
    world = await peopleWorld(store);
  });
  afterEach(() => world.close());

  it('reaches the stored address, and signs in once', async () => {
    const personId = await world.join(ada);
    await world.ask('ADA@GMAIL.example');
    const [mail, ...more] = await world.arrived();
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ to: ada, from: expect.stringContaining('console@acme.example') });
    expect(mail?.text).toContain('Firefox on Windows, network 203.0.113.0/24');
    expect(mail?.text).toContain('Auto-Submitted: auto-generated');
    const token = mail?.token ?? '';
    const link = {
      personId,
      purpose: 'sign-in',
      email: ada,
      browser: 'Firefox on Windows',
      network: '203.0.113.0/24',
      askedAt: world.test.clock.now(),
      expiresAt: world.test.clock.now() + 15 * minute,
      sessionHash: null,
    };
    expect(await readMailedLink(world.app, token)).toEqual(link);
    expect(await useMailedLink(world.app, token)).toEqual(link);
    expect(await useMailedLink(world.app, token)).toBeNull();
    expect(await readMailedLink(world.app, token)).toBeNull();
  });

  it('works for 15 minutes', async () => {
    await world.join(ada);
    await world.ask(ada);
    const [mail] = await world.arrived();
    await world.test.clock.advance(15 * minute);
    expect(await readMailedLink(world.app, mail?.token ?? '')).toBeNull();
    expect(await useMailedLink(world.app, mail?.token ?? '')).toBeNull();
  });

  it('proves who is in a session', async () => {
    await world.join(ada);
    await world.ask(ada, { sessionToken: 'session' });
    const [mail] = await world.arrived();
    const used = await useMailedLink(world.app, mail?.token ?? '');
    expect(used).toMatchObject({
      purpose: 'proof',
      sessionHash: expect.stringMatching(/^\w{64}$/),
    });
  });

  it.each<[string, (world: PeopleWorld) => Promise<unknown>]>([
    ['an address of nobody', async () => {}],
    [
      'a person away for 90 days',
      async ({ app, join }) => {
        const id = await join(ada);
        const last_signed_in_at = app.clock.now() - 90 * day - 1;
        await app.store.write((trx) => updatePerson(trx, id, { last_signed_in_at }));
      },
    ],
    [
      'a disabled member',
      async ({ app, join }) => {
        await join(ada);
        await app.store.write((trx) => sql`update members set status = 'disabled'`.execute(trx));
      },
    ],
    [
      'an address with a mailbox here',
      async ({ app, test, join }) => {
        await join(ada);
        await ownDomain(app, test.operator, 'gmail.example');
        await createMailbox(app, test.operator, { slug: 'ada', displayName: null, address: ada });
      },
    ],
    [
      'a domain of another organization',
      async ({ app, join }) => {
        await join(ada);
        const { id } = await createOrganization(app, { name: 'other', plan: 'free' });
        await ownDomain(app, operatorOf(id), 'gmail.example');
      },
    ],
  ])('is not mailed to %s', async (_what, prepare) => {
    await prepare(world);
    await world.ask(ada);
    expect(await world.arrived()).toEqual([]);
  });

  it('is mailed on a domain of an organization of the person', async () => {
    await world.join(ada);
    await ownDomain(world.app, world.test.operator, 'gmail.example');
    await world.ask(ada);
    expect(await world.arrived()).toHaveLength(1);
  });

  it('is refused beyond three that work', async () => {
    await world.join(ada);
    for (let asked = 0; asked < 5; asked++) await world.ask(ada);
    const mails = await world.arrived();
    expect(mails).toHaveLength(3);
    await useMailedLink(world.app, mails[0]?.token ?? '');
    await world.ask(ada);
    expect(await world.arrived()).toHaveLength(1);
  });

  /** Asks `times` times, and uses each link. Returns the number of mails. */
  async function mailsOf(times: number, email: string, more = {}): Promise<number> {
    let mails = 0;
    for (let asked = 0; asked < times; asked++) {
      await world.ask(email, more);
      for (const { token } of await world.arrived()) {
        mails += 1;
        await useMailedLink(world.app, token);
      }
    }
    return mails;
  }

  it('is limited to five an hour from new browsers, and five more from each known browser', async () => {
    const personId = await world.join(ada);
    expect(await mailsOf(6, ada)).toBe(5);
    expect(await mailsOf(1, ada, { browserToken: 'a stranger' })).toBe(0);
    await greetBrowser(world.app, { ...visitor, personId, browserToken: 'known' });
    expect(await mailsOf(6, ada, { browserToken: 'known' })).toBe(5);
    await world.test.clock.advance(60 * minute);
    expect(await mailsOf(1, ada)).toBe(1);
  });

  it('is limited to twenty an hour from a network, for mails that were made', async () => {
    await Promise.all(Array.from({ length: 22 }, (_, i) => world.join(`p${i}@gmail.example`)));
    const from = (last: number) => ({ address: `2001:db8:1:2::${last}` });
    for (let i = 0; i < 30; i++) await world.ask(`nobody${i}@gmail.example`, from(i));
    for (let i = 0; i < 21; i++) await world.ask(`p${i}@gmail.example`, from(i));
    expect(await world.arrived()).toHaveLength(20);
    await world.ask('p21@gmail.example', { address: '2001:db8:1:3::1' });
    expect(await world.arrived()).toHaveLength(1);
  });

  it('is limited to 200 an hour in all', async () => {
    const { app } = world;
    const count = (n: number) => {
      const from = { email: `p${n}@gmail.example`, address: `203.0.${n}.9`, browserHash: null };
      return app.store.write((trx) => countMail(trx, signInLimits(from), app.clock.now()));
    };
    for (let n = 0; n < 200; n++) expect(await count(n)).toBeNull();
    await world.test.clock.advance(minute);
    expect(await count(200)).toBe(59 * minute);
    await world.test.clock.advance(59 * minute);
    expect(await count(200)).toBeNull();
  });

  it('is mailed to a person after 90 days because an owner asks, and signs in', async () => {
    const { app, test } = world;
    const personId = await world.join(ada);
    const [member] = await selectPlaces(app.store.db, personId);
    const again = () => resendInvitation(app, test.operator, member?.id ?? '');
    await expect(again()).rejects.toMatchObject({ status: 409 });
    const last_signed_in_at = app.clock.now() - 91 * day;
    await app.store.write((trx) => updatePerson(trx, personId, { last_signed_in_at }));
    await world.ask(ada);
    expect(await world.arrived()).toEqual([]);
    const owner = await present(
      app,
      await world.join('owner@gmail.example', { role: 'owner' }),
      test.caller.organizationId,
    );
    await resendInvitation(app, owner, member?.id ?? '');
    const [mail] = await world.arrived();
    expect(mail).toMatchObject({ to: ada, text: expect.stringContaining('an owner of your') });
    expect(await useMailedLink(app, mail?.token ?? '')).toMatchObject({ personId });
  });

  it('has no token in the record of a server that quotes it', async () => {
    const { app } = world;
    await world.join(ada);
    let token = '';
    await world.rest(async () => {
      await world.ask(ada);
      const { rows } = await sql<{
        message_id: string;
      }>`select message_id from mailed_links`.execute(app.store.db);
      token = (await tokenOfLinkMail(app, rows[0]?.message_id ?? '')) ?? '';
      world.sink.on(
        { verb: 'dot' },
        `550 5.7.1 spam: https://mail.acme.example/console/link/${token}`,
      );
    });
    await world.pipeline().idle();
    const { rows } = await sql<{ row: string }>`select * from deliveries`.execute(app.store.db);
    const text = JSON.stringify(rows);
    expect(token).toHaveLength(43);
    expect([text.includes('5.7.1 spam'), text.includes(token)]).toEqual([true, false]);
  });
});

describe('whoever asks', () => {
  it('is answered before the address is looked up, with a stopped store too', async () => {
    const world = await peopleWorld('sqlite');
    await world.join(ada);
    const read = world.app.store.db;
    await world.pipeline().close();
    await world.app.store.close();
    expect(askForLink(world.app, { ...visitor, email: ada })).toBeUndefined();
    expect(askForLink(world.app, { ...visitor, email: 'nobody@gmail.example' })).toBeUndefined();
    await linksAreMade(world.app);
    expect(read).toBeDefined();
    await world.sink.close();
  });
});
