// Passkeys that a new `http.publicUrl` leaves behind, in `svc doctor` and in the log of the start.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { updatePerson } from '../../../src/access/members/queries.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { updateOrganization } from '../../../src/access/organizations/queries.ts';
import { insertPasskey } from '../../../src/access/passkeys/queries.ts';
import { examine } from '../../../src/doctor/examine.ts';
import { leftBehindDoubt } from '../../../src/doctor/passkeys.ts';
import { join, joined } from '../../access/passkeys/people.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

describe.each(stores)('passkeys of an earlier host on %s', (store) => {
  let test: TestApp;
  beforeAll(async () => {
    const signIn = { oidc: { issuer: 'https://id.example', clientId: 'svc' } };
    const config = { http: { publicUrl: 'https://new.example.com' }, console: { signIn } };
    test = await testApp({ store, config });
  });
  afterAll(() => test?.close());

  async function addPasskey(personId: string, host: string): Promise<void> {
    const id = test.app.newId('passkey');
    await test.app.store.write((trx) =>
      insertPasskey(trx, {
        id,
        person_id: personId,
        rp_id: host,
        credential_id: id,
        public_key: '',
        counter: 0,
        is_synced: 0,
        name: 'Key',
        created_at: 0,
        last_used_at: null,
        refused_at: null,
      }),
    );
  }

  const finding = async () => (await examine(test.app, { only: ['passkeys'] }))[0];

  it('are no finding before the first passkey, and while all are of this host', async () => {
    expect(await finding()).toMatchObject({ status: 'skipped' });
    const { organizationId } = test.caller;
    const here = await joined(test.app, { email: 'here@example.com', organizationId });
    await addPasskey(here, 'new.example.com');
    expect(await finding()).toMatchObject({
      status: 'ok',
      found: 'every passkey is for new.example.com',
    });
    expect(await leftBehindDoubt(test.app)).toBeNull();
  });

  it('are counted, with the people who have no other way in', async () => {
    const { id: strongId } = await createOrganization(test.app, {
      name: 'Strong',
      plan: 'self-hosted',
    });
    await test.app.store.write((trx) => updateOrganization(trx, strongId, { sign_in: 'strong' }));
    const { organizationId } = test.caller;
    const person = (name: string, of: string) =>
      joined(test.app, { email: `${name}@example.com`, organizationId: of });
    const lost = await person('lost', strongId);
    const byLink = await person('by-link', strongId);
    await join(test.app, byLink, { email: 'by-link@example.com', organizationId });
    const isReceivedHere = { email: 'inbox@sandbox.test', organizationId };
    const received = await joined(test.app, isReceivedHere);
    const byProvider = await person('by-provider', strongId);
    const bound = { oidc_issuer: 'https://id.example', oidc_client: 'svc', oidc_subject: '1' };
    await test.app.store.write((trx) => updatePerson(trx, byProvider, bound));
    const moved = await person('moved', strongId);
    for (const id of [lost, byLink, byProvider, moved, received])
      await addPasskey(id, 'old.example.com');
    await addPasskey(moved, 'new.example.com');
    const doubt =
      'browsers offer 5 passkeys for old.example.com alone, and this service is new.example.com ' +
      '(http.publicUrl). People with no other way in: 2';
    expect(await leftBehindDoubt(test.app)).toBe(doubt);
    expect(await finding()).toMatchObject({
      status: 'warn',
      found: doubt,
      command: 'svc members reset EMAIL',
    });
  });
});
