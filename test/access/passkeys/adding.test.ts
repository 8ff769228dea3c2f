// Who may add a passkey with a mailed link alone, in organizations with `signIn: strong`.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { updatePerson } from '../../../src/access/members/queries.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { updateOrganization } from '../../../src/access/organizations/queries.ts';
import { registrationOptions, verifyRegistration } from '../../../src/access/passkeys/passkeys.ts';
import { PasskeyRefusal } from '../../../src/access/passkeys/refusals.ts';
import { SoftwareAuthenticator } from '../../support/authenticator.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { join, joined } from './people.ts';

const origin = 'https://mail.example.com';
const day = 24 * 3_600_000;

describe.each(stores)('a mailed link on %s', (store) => {
  let test: TestApp;
  let strongId: string;
  let email: string;
  let count = 0;
  beforeAll(async () => {
    test = await testApp({ store, config: { http: { publicUrl: origin } } });
  });
  beforeEach(async () => {
    count += 1;
    email = `jette-${count}@example.com`;
    strongId = await strong(`Strong ${count}`);
  });
  afterAll(() => test?.close());

  /** Makes an organization that opens by a passkey or the provider alone. */
  async function strong(name: string): Promise<string> {
    const { id } = await createOrganization(test.app, { name, plan: 'self-hosted' });
    await test.app.store.write((trx) => updateOrganization(trx, id, { sign_in: 'strong' }));
    return id;
  }

  /** Adds a passkey, and returns the reason of a refusal or `added`. */
  async function add(personId: string, isStronglyProven = false): Promise<string> {
    const { app } = test;
    const adding = { personId, browser: 'session', isStronglyProven };
    const options = await registrationOptions(app, adding);
    if (options instanceof PasskeyRefusal) return options.reason;
    const response = new SoftwareAuthenticator(origin).create(options);
    const added = await verifyRegistration(app, adding, { response, name: '' });
    return added instanceof PasskeyRefusal ? added.reason : 'added';
  }

  const joinedStrong = (ageMs: number, status: 'active' | 'disabled' = 'active') =>
    joined(test.app, {
      email,
      organizationId: strongId,
      acceptedAt: test.clock.now() - ageMs,
      status,
    });

  it('adds several passkeys without such an organization', async () => {
    const { organizationId } = test.caller;
    const person = await joined(test.app, { email, organizationId, acceptedAt: 0 });
    expect([await add(person), await add(person)]).toEqual(['added', 'added']);
  });

  it.each([
    ['adds the first within 7 days, and no second', 7 * day - 1, 'added'],
    ['adds none after 7 days', 7 * day, 'not-first'],
    ['adds none after the clock was set back by 7 days', -7 * day, 'not-first'],
  ])('%s', async (_what, ageMs, expected) => {
    const person = await joinedStrong(ageMs);
    expect(await add(person)).toBe(expected);
    expect(await add(person)).toBe('not-first');
    expect(await add(person, true)).toBe('added');
  });

  it('adds none where a disabled place is older', async () => {
    expect(await add(await joinedStrong(8 * day, 'disabled'))).toBe('not-first');
  });

  it('adds none where one of two such organizations was joined earlier', async () => {
    const person = await joinedStrong(0);
    const organizationId = await strong(`Earlier ${count}`);
    await join(test.app, person, { email, organizationId, acceptedAt: 0 });
    expect(await add(person)).toBe('not-first');
  });

  it.each([
    ['adds one after a new start', 7 * day - 1, ['added', 'not-first']],
    ['adds none 7 days after a new start', 7 * day, ['not-first', 'not-first']],
  ])('%s', async (_what, ageMs, expected) => {
    const person = await joinedStrong(30 * day);
    const change = { new_start_at: test.clock.now() - ageMs };
    await test.app.store.write((trx) => updatePerson(trx, person, change));
    expect([await add(person), await add(person)]).toEqual(expected);
  });

  it('refuses an answer to a question from before another passkey was added', async () => {
    const person = await joinedStrong(0);
    const adding = { personId: person, browser: 'session', isStronglyProven: false };
    const options = await registrationOptions(test.app, adding);
    if (options instanceof PasskeyRefusal) throw new Error(options.reason);
    expect(await add(person)).toBe('added');
    const response = new SoftwareAuthenticator(origin).create(options);
    const late = await verifyRegistration(test.app, adding, { response, name: '' });
    expect(late).toMatchObject({ reason: 'not-first' });
  });
});
