// Sessions of persons: organizations and the switch between them, My account, strong organizations,
// and the ends of a session.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { members } from '../../src/access/members/queries.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { updateOrganization } from '../../src/access/organizations/queries.ts';
import { recordProof } from '../../src/access/sessions/person-sessions.ts';
import { endPlace, endSessionsOfPerson } from '../../src/access/sessions/sessions.ts';
import { hashOfToken } from '../../src/platform/runtime/tokens.ts';
import { stores } from '../support/command.ts';
import { browserOf, makePerson } from './persons.ts';
import { type Browser, consoleWorld, type World } from './world.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

describe.each(stores)('a session of a person on %s', (store) => {
  let world: World;
  let other: string;
  let personId: string;
  let memberIds: string[];
  let browser: Browser;
  beforeEach(async () => {
    world = await consoleWorld(store);
    other = (await createOrganization(world.test.app, { name: 'Harbour Festival', plan: 'free' }))
      .id;
    const places = [{ name: 'Jette' }, { organizationId: other, name: 'Jette there' }];
    ({ personId, memberIds } = await makePerson(world, 'jette@example.com', places));
    browser = await browserOf(world, personId, {
      organizationId: world.test.caller.organizationId,
    });
  });
  afterEach(() => world.close());

  const tokenOf = ({ cookie }: Browser) => cookie.split('=')[1] ?? '';
  const switchTo = (organization: string, from = browser) =>
    from.post('/console/switch', { organization });
  const pageOf = async (path: string, from = browser) => (await from.get(path)).body;
  const strengthen = (organizationId: string) =>
    world.test.app.store.write((trx) =>
      updateOrganization(trx, organizationId, { sign_in: 'strong' }),
    );

  it('has the role of the member, and shows the name', async () => {
    expect(await pageOf('/console')).toContain('Jette');
    await world.test.app.store.write((trx) =>
      members.update(trx, world.test.caller.organizationId, memberIds[0] ?? '', { role: 'viewer' }),
    );
    const { status } = await browser.post('/console/blocks', {
      _action: 'add',
      address: 'a@b.example',
    });
    expect(status).toBe(403);
  });

  it('switches to another organization, whose page shows nothing of the first', async () => {
    expect((await switchTo(other)).status).toBe(303);
    expect(await pageOf('/console')).toContain('Jette there');
    expect((await switchTo('org_unknown')).status).toBe(403);
  });

  it('refuses a form of the organization before the switch, and says so', async () => {
    const [, form = ''] = /name="_form" value="([^"]*)"/.exec(await pageOf('/console')) ?? [];
    await switchTo(other);
    const fields = { _form: form, _action: 'add', address: 'ada@example.com' };
    const { status, body } = await browser.post('/console/blocks', fields);
    expect([status, body]).toEqual([409, expect.stringContaining('Nothing was done')]);
    expect(await pageOf('/console/blocks')).not.toContain('ada@example.com');
  });

  it('sends no kept form in another organization, and says so', async () => {
    await world.test.clock.advance(15 * minute);
    const typed = { _action: 'make', name: 'Scanner', role: 'sender' };
    expect((await browser.post('/console/keys', typed)).headers['location']).toBe(
      '/console/asks-again',
    );
    await switchTo(other);
    await recordProof(world.test.app, hashOfToken(tokenOf(browser)), 'passkey');
    const { status, body } = await browser.get('/console/asks-again');
    expect([status, body]).toEqual([409, expect.stringContaining('Nothing was done')]);
    await browser.post('/console/keys', { _kept: '1' });
    await switchTo(world.test.caller.organizationId);
    expect(await pageOf('/console/keys')).not.toContain('Scanner');
    expect(await pageOf('/console/asks-again')).toContain('It is you. Make this key?');
  });

  it('of an invitation opens no other organization', async () => {
    const alone = await browserOf(world, personId, {
      organizationId: world.test.caller.organizationId,
      isAlone: true,
    });
    expect(await pageOf('/console/account', alone)).not.toContain('Harbour Festival');
    expect((await switchTo(other, alone)).status).toBe(403);
  });

  it('lives 30 days at most, 7 days without a request, and shorter where the place says so', async () => {
    const short = await browserOf(world, personId, { longestMs: day / 2 });
    await world.test.clock.advance(day / 2);
    expect([(await short.get('/console')).status, (await browser.get('/console')).status]).toEqual([
      401, 200,
    ]);
    for (let passed = 6; passed < 30; passed += 6) {
      await world.test.clock.advance(6 * day);
      expect([passed, (await browser.get('/console')).status]).toEqual([passed, 200]);
    }
    await world.test.clock.advance(6 * day);
    expect((await browser.get('/console')).status).toBe(401);
    const idle = await browserOf(world, personId);
    await world.test.clock.advance(7 * day);
    expect((await idle.get('/console')).status).toBe(401);
  });

  it('is listed with browser, network and beginning, and ended from another session', async () => {
    const phone = await browserOf(world, personId, {
      browser: 'Safari on iPhone',
      network: '2001:db8:4a2::/48',
    });
    const page = await pageOf('/console/account');
    for (const part of [
      'Firefox on Windows',
      '(this one)',
      'Safari on iPhone',
      '2001:db8:4a2::/48',
      'by mailed link',
    ]) {
      expect(page).toContain(part);
    }
    expect(page).not.toContain(tokenOf(browser));
    const [, id = ''] = /name="id" value="([0-9a-f]{16})"/.exec(page) ?? [];
    await browser.post('/console/account', { _action: 'end', id });
    expect([(await phone.get('/console')).status, (await browser.get('/console')).status]).toEqual([
      401, 200,
    ]);
  });

  it('ends all others by one button, and no session of somebody else', async () => {
    const mine = await browserOf(world, personId);
    const { personId: ada } = await makePerson(world, 'ada@example.com');
    const hers = await browserOf(world, ada);
    await browser.post('/console/account', { _action: 'endOthers', _sure: '1' });
    const statuses = [mine, hers, browser].map(async (one) => (await one.get('/console')).status);
    expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
  });

  it('ends with the place, and stays open where it is in another organization', async () => {
    const there = await browserOf(world, personId, { organizationId: other });
    await world.test.app.store.write((trx) => endPlace(world.test.app, trx, memberIds[0] ?? ''));
    expect([(await browser.get('/console')).status, (await there.get('/console')).status]).toEqual([
      401, 200,
    ]);
    await world.test.app.store.write((trx) => endSessionsOfPerson(world.test.app, trx, personId));
    expect((await there.get('/console')).status).toBe(401);
  });

  it.each(['the place ends', 'the session switches'] as const)(
    'ends a stream within a second when %s',
    async (why) => {
      const { url } = await world.http.listen();
      const query = `in=${world.test.caller.organizationId}`;
      const answer = await fetch(`${url}/console/live?${query}`, {
        headers: { cookie: browser.cookie },
      });
      expect(answer.status).toBe(200);
      let isEnded = false;
      const ended = answer.text().then(() => {
        isEnded = true;
      });
      if (why === 'the session switches') await switchTo(other);
      else
        await world.test.app.store.write((trx) =>
          endPlace(world.test.app, trx, memberIds[0] ?? ''),
        );
      await expect
        .poll(async () => {
          await world.test.clock.advance(1_000);
          return isEnded;
        })
        .toBe(true);
      await ended;
    },
  );

  it('opens an organization with signIn strong by a passkey alone, asked at each request', async () => {
    await strengthen(other);
    await switchTo(other);
    const { status, body } = await browser.get('/console/messages');
    expect([status, body]).toEqual([403, expect.stringContaining('A stronger sign-in is needed')]);
    expect(
      (await browser.post('/console/blocks', { _action: 'add', address: 'a@b.example' })).status,
    ).toBe(403);
    await recordProof(world.test.app, hashOfToken(tokenOf(browser)), 'passkey');
    expect((await browser.get('/console/messages')).status).toBe(200);
    await world.test.clock.advance(15 * minute);
    await recordProof(world.test.app, hashOfToken(tokenOf(browser)), 'link');
    const typed = { _action: 'make', name: 'Scanner', role: 'sender' };
    expect((await browser.post('/console/keys', typed)).headers['location']).toBe(
      '/console/asks-again',
    );
  });

  it('asks everybody for a passkey by a session that has one, and by no other', async () => {
    const fields = { _action: 'signIn', signIn: 'strong' };
    const refused = await browser.post('/console/organization', fields);
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('keep you out')]);
    await recordProof(world.test.app, hashOfToken(tokenOf(browser)), 'passkey');
    expect((await browser.post('/console/organization', fields)).status).toBe(303);
    const link = await browserOf(world, personId, {
      organizationId: world.test.caller.organizationId,
    });
    expect((await link.get('/console/messages')).status).toBe(403);
    expect((await browser.get('/console/organization')).body).toContain('Accept every sign-in');
  });

  it('of a key opens no organization with signIn strong, one of the operator does', async () => {
    const key = await world.signIn(world.test.apiKey);
    const operator = await world.operator();
    await strengthen(world.test.caller.organizationId);
    expect([
      (await key.get('/console/messages')).status,
      (await operator.get('/console/messages')).status,
    ]).toEqual([403, 200]);
  });
});
