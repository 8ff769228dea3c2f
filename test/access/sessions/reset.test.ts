// The new start of a person by the operator: `svc members reset`.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findPerson, updatePerson } from '../../../src/access/members/queries.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { registrationOptions, verifyRegistration } from '../../../src/access/passkeys/passkeys.ts';
import { selectPasskeys } from '../../../src/access/passkeys/queries.ts';
import { PasskeyRefusal } from '../../../src/access/passkeys/refusals.ts';
import { resetPerson } from '../../../src/access/sessions/reset.ts';
import { listAudit } from '../../../src/history/audit/audit.ts';
import { SoftwareAuthenticator } from '../../support/authenticator.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { join, joined } from '../passkeys/people.ts';

const origin = 'https://mail.example.com';
const email = 'jette@example.com';

describe.each(stores)('a new start on %s', (store) => {
  let test: TestApp;
  beforeEach(async () => {
    test = await testApp({ store, config: { http: { publicUrl: origin } } });
  });
  afterEach(() => test.close());

  async function withPasskey(): Promise<string> {
    const { organizationId } = test.caller;
    const personId = await joined(test.app, { email, organizationId });
    const adding = { personId, browser: 'session', isStronglyProven: true };
    const options = await registrationOptions(test.app, adding);
    if (options instanceof PasskeyRefusal) throw new Error(options.reason);
    const response = new SoftwareAuthenticator(origin).create(options);
    await verifyRegistration(test.app, adding, { response, name: 'Blue key' });
    const bound = { oidc_issuer: 'https://id.example', oidc_client: 'svc', oidc_subject: '1' };
    await test.app.store.write((trx) => updatePerson(trx, personId, { ...bound, bound_at: 1 }));
    return personId;
  }

  const actions = async (organizationId: string) => {
    const asker = { ...test.operator, organizationId };
    const { items } = await listAudit(test.app, asker, { limit: 20 });
    return items
      .filter(({ action }) => action.startsWith('member.'))
      .map(({ action, actor, details }) => [action, actor.type, details]);
  };

  it('ends passkeys and binding of the person, however the address is written', async () => {
    const personId = await withPasskey();
    expect(await resetPerson(test.app, 'Jette@EXAMPLE.com')).toEqual({ email });
    expect(await selectPasskeys(test.app.store.db, personId)).toEqual([]);
    expect(await findPerson(test.app.store.db, personId)).toMatchObject({
      oidc_subject: null,
      bound_at: null,
      new_start_at: test.clock.now(),
    });
  });

  it('is in the audit of each organization where the person is active', async () => {
    const personId = await withPasskey();
    const organizations = [];
    for (const [name, status] of [
      ['Second', 'active'],
      ['Third', 'disabled'],
    ] as const) {
      const { id } = await createOrganization(test.app, { name, plan: 'self-hosted' });
      await join(test.app, personId, { email, organizationId: id, status });
      organizations.push(id);
    }
    await resetPerson(test.app, email);
    expect(await actions(test.caller.organizationId)).toEqual([
      ['member.reset', 'operator', {}],
      ['member.passkey-added', 'member', { name: 'Blue key' }],
    ]);
    expect(await Promise.all(organizations.map(actions))).toEqual([
      [['member.reset', 'operator', {}]],
      [],
    ]);
  });

  it.each(['nobody@example.com', 'no address', ''])('is refused for %j', async (address) => {
    await expect(resetPerson(test.app, address)).rejects.toThrow('was not found');
  });
});
