// A store with every kind of encrypted text, and a reader of all of them.
import { sql } from 'kysely';
import { startInvitation } from '../../src/access/members/invitations.ts';
import { newMember } from '../../src/access/members/members.ts';
import { newPerson } from '../../src/access/members/persons.ts';
import { insertPerson, members } from '../../src/access/members/queries.ts';
import { makeMailedLink } from '../../src/access/sessions/mailed-links.ts';
import type { App } from '../../src/core/app.ts';
import { objectKeyContext } from '../../src/core/blobs/blobs.ts';
import { insertObject } from '../../src/core/blobs/queries.ts';
import { holdRootKey } from '../../src/core/root-keys/root-keys.ts';
import { Secrets } from '../../src/core/root-keys/secrets.ts';
import { findSendingDomain } from '../../src/identity/domains/queries.ts';
import { startProof } from '../../src/identity/senders/proof.ts';
import { findDefaultSender } from '../../src/identity/senders/queries.ts';
import { encryptedColumns } from '../../src/key-rotation/encrypted-columns.ts';
import { accountContext } from '../../src/outbound/tracking/custom/certificates/acme.ts';
import { keyContext } from '../../src/outbound/tracking/custom/certificates/key-context.ts';
import { enableTracking } from '../../src/outbound/tracking/custom/hosts.ts';
import {
  findHostOfDomain,
  insertAccount,
  updateHost,
} from '../../src/outbound/tracking/custom/queries.ts';
import type { Random } from '../../src/platform/runtime/random.ts';
import { findSigner } from '../../src/receipts/keys.ts';
import { rotateSecret } from '../../src/webhooks/endpoints/webhooks.ts';
import type { TestApp } from '../support/test-app.ts';
import { makeEndpoint } from '../webhooks/engine.ts';

/** Stores a secret of every kind. */
export async function storeAllSecrets(test: TestApp): Promise<void> {
  const { app, operator } = test;
  const { organizationId } = operator;
  const plainHeaders = { authorization: 'Bearer of a test' };
  const endpoint = await makeEndpoint(test, 'http://127.0.0.1:9/hook', { plainHeaders });
  await rotateSecret(app, operator, endpoint);
  await findSigner(app);
  const domain = await findSendingDomain(app.store.db, organizationId, 'sandbox.test');
  const domainId = domain?.id ?? '';
  await enableTracking(app, operator, domainId, { label: 'links' });
  await app.store.write(async (trx) => {
    await holdRootKey(app, trx);
    const sender = await findDefaultSender(trx, organizationId);
    if (sender) await startProof(app, trx, sender, { messageId: app.newId('message'), times: [] });
    const person = newPerson(app, 'ada@people.example');
    await insertPerson(trx, person);
    const link = { personId: person.id, purpose: 'sign-in', email: person.email } as const;
    await makeMailedLink(app, trx, { ...link, browser: 'Firefox', address: '203.0.113.9' }, true);
    const input = { email: 'invited@people.example', role: 'viewer' } as const;
    const member = newMember(app, organizationId, input, null);
    await members.insert(trx, member);
    await startInvitation(app, trx, member, { messageId: app.newId('message'), livesMs: 60_000 });
    const host = await findHostOfDomain(trx, domainId);
    const sealed = (text: string) => app.secrets.encrypt(text, keyContext({ id: host?.id ?? '' }));
    await updateHost(trx, host?.id ?? '', {
      order_key: sealed('key of an order'),
      certificate_key: sealed('key of a certificate'),
    });
    const directory_url = 'https://acme.example/directory';
    const private_key = app.secrets.encrypt('key of an account', accountContext(directory_url));
    await insertAccount(trx, { directory_url, url: null, private_key, created_at: 0 });
    const key = `${organizationId}/digest`;
    await insertObject(trx, {
      ...{ key, driver: 'filesystem', state: 'stored', size: 0, unused_at: null },
      sealed_key: app.secrets.encrypt('key of an object', objectKeyContext(key)),
    });
  });
}

/** Returns every encrypted text by its place, decrypted with these root keys. */
export async function readAllSecrets(
  { store }: App,
  secrets: Secrets,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { table, id, column, contextOf } of encryptedColumns) {
    const { rows } = await sql<{ id: string; text: string }>`
      select ${sql.ref(id)} as id, ${sql.ref(column)} as text from ${sql.table(table)}
      where ${sql.ref(column)} is not null order by 1`.execute(store.db);
    for (const row of rows) {
      const plain = secrets.decrypt(row.text, contextOf(row.id)).toString();
      found.set(`${table}.${column} ${row.id}`, plain);
    }
  }
  return found;
}

/** Returns root keys that no file or other process changes. */
export function fixedSecrets(random: Random, keys: readonly Buffer[]): Secrets {
  const source = { name: 'SVC_SECRET_KEY', file: null, read: () => [...keys], add() {} };
  return new Secrets(source, random);
}
