// Every column with texts that the root key encrypts. A rotation encrypts all these texts again.
// test/secrets/encrypted-columns.test.ts compares this table with a store that holds every kind of
// secret, and with the calls of the cipher.

import { sealedAs as invitationContext } from '../access/members/invitations.ts';
import { sealedAs as mailedLinkContext } from '../access/sessions/mailed-links.ts';
import { objectKeyContext } from '../core/blobs/blobs.ts';
import { domainKeyContext } from '../identity/domains/signing-keys.ts';
import { sealedAs as senderProofContext } from '../identity/senders/proof.ts';
import { accountContext } from '../outbound/tracking/custom/certificates/acme.ts';
import { keyContext } from '../outbound/tracking/custom/certificates/key-context.ts';
import { contextOf as receiptKeyContext } from '../receipts/keys.ts';
import { headersOf, secretOf } from '../webhooks/endpoints/secrets.ts';

export interface EncryptedColumn {
  table: string;
  /** Primary key of the table. */
  id: string;
  column: string;
  /** Returns the encryption context of the text in the row with this id. */
  contextOf(id: string): string;
}

const trackingHostContext = (id: string) => keyContext({ id });

export const encryptedColumns: readonly EncryptedColumn[] = [
  { table: 'mailed_links', id: 'hash', column: 'token', contextOf: mailedLinkContext },
  { table: 'members', id: 'id', column: 'invitation_token', contextOf: invitationContext },
  { table: 'domain_keys', id: 'id', column: 'private_key', contextOf: domainKeyContext },
  { table: 'receipt_keys', id: 'id', column: 'private_key', contextOf: receiptKeyContext },
  { table: 'senders', id: 'id', column: 'proof_token', contextOf: senderProofContext },
  { table: 'tracking_hosts', id: 'id', column: 'certificate_key', contextOf: trackingHostContext },
  { table: 'tracking_hosts', id: 'id', column: 'order_key', contextOf: trackingHostContext },
  { table: 'acme_accounts', id: 'directory_url', column: 'private_key', contextOf: accountContext },
  { table: 'webhook_endpoints', id: 'id', column: 'secret', contextOf: secretOf },
  { table: 'webhook_endpoints', id: 'id', column: 'previous_secret', contextOf: secretOf },
  { table: 'webhook_endpoints', id: 'id', column: 'headers', contextOf: headersOf },
  { table: 'blob_objects', id: 'key', column: 'sealed_key', contextOf: objectKeyContext },
];
