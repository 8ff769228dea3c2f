// The table of encrypted columns against a store with every kind of secret, and against the calls
// of the cipher.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encryptedColumns } from '../../src/key-rotation/encrypted-columns.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { storeAllSecrets } from './all-secrets.ts';

const byText = (a = '', b = '') => (a < b ? -1 : 1);

/**
 * Columns whose texts each file encrypts. A new call of the cipher needs a row here and in the
 * table.
 */
const callers: Readonly<Record<string, string[]>> = {
  'access/sessions/mailed-links.ts': ['mailed_links.token'],
  'core/blobs/blobs.ts': ['blob_objects.sealed_key'],
  'access/members/invitations.ts': ['members.invitation_token'],
  'receipts/keys.ts': ['receipt_keys.private_key'],
  'identity/domains/domains.ts': ['domain_keys.private_key'],
  'identity/senders/proof.ts': ['senders.proof_token'],
  'outbound/tracking/custom/certificates/acme.ts': ['acme_accounts.private_key'],
  // The key of the order becomes that of its certificate.
  'outbound/tracking/custom/certificates/order.ts': [
    'tracking_hosts.order_key',
    'tracking_hosts.certificate_key',
  ],
  'webhooks/endpoints/secrets.ts': [
    'webhook_endpoints.secret',
    'webhook_endpoints.previous_secret',
    'webhook_endpoints.headers',
  ],
  // These encrypt texts of the files above anew.
  'core/root-keys/root-keys.ts': [],
  'key-rotation/rotate.ts': [],
};

const listed = encryptedColumns.map(({ table, column }) => `${table}.${column}`).toSorted(byText);

let test: TestApp;
beforeAll(async () => {
  test = await testApp();
  await storeAllSecrets(test);
});
afterAll(() => test.close());

/** Finds the columns of all tables with a text of the cipher. */
async function columnsWithCipherText(): Promise<string[]> {
  const { db } = test.app.store;
  const tables = await sql<{ name: string }>`
    select name from sqlite_master where type = 'table' and sql not like 'create virtual%'`.execute(
    db,
  );
  const found: string[] = [];
  for (const { name: table } of tables.rows) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(
      db,
    );
    for (const [column, value] of rows.flatMap((row) => Object.entries(row))) {
      if (/^v1\.[0-9a-z]+\.[\w-]{38,}$/.test(String(value))) found.push(`${table}.${column}`);
    }
  }
  return [...new Set(found)].toSorted(byText);
}

describe('the table of encrypted columns', () => {
  it('lists the columns with cipher texts of a store with every secret, and no others', async () => {
    expect(await columnsWithCipherText()).toEqual(listed);
  });

  it('lists the columns of every file that calls the cipher', () => {
    const root = join(import.meta.dirname, '../../src');
    const calling = globSync('**/*.ts', { cwd: root }).filter(
      (file) =>
        file !== 'core/root-keys/secrets.ts' &&
        /secrets\.encrypt\(/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(calling.toSorted(byText)).toEqual(Object.keys(callers).toSorted(byText));
    expect(Object.values(callers).flat().toSorted(byText)).toEqual(listed);
  });

  it('is used under the lock of the root key in each of these files, or in the one that stores', () => {
    const root = join(import.meta.dirname, '../../src');
    const storing = {
      'outbound/tracking/custom/certificates/order.ts': 'outbound/tracking/custom/lease.ts',
      'webhooks/endpoints/secrets.ts': 'webhooks/endpoints/webhooks.ts',
    };
    const files = Object.keys(callers).filter((file) => file !== 'key-rotation/rotate.ts');
    for (const file of [...files, 'webhooks/endpoints/installation-endpoints.ts']) {
      const path = storing[file as keyof typeof storing] ?? file;
      expect(readFileSync(join(root, path), 'utf8'), path).toContain('holdRootKey(');
    }
  });
});
