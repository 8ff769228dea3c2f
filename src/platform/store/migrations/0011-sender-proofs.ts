// Proof of sender addresses by a token that is mailed to them.
import type { Migration } from '../migration.ts';

export const senderProofs: Migration = {
  name: '0011-sender-proofs',
  sql: ({ clustered }) => `
-- The last mail that asks for proof of the address: its message, its token (encrypted, for the copy that
-- leaves), and the end of the token. Null before the first mail, and after the proof.
alter table senders add column proof_message_id text;
alter table senders add column proof_token text;
alter table senders add column proof_expires_at bigint;
create index senders_by_proof on senders (proof_message_id) where proof_message_id is not null;
create index senders_by_token on senders (verification_token_hash)
  where verification_token_hash is not null;

-- Mails of a day that asked an address for proof, of all organizations.
create table proof_addresses (
  folded_email text primary key,
  -- JSON: times of the mails.
  mailed_at text not null,
  last_mailed_at bigint not null
) ${clustered};
create index proof_addresses_by_time on proof_addresses (last_mailed_at);
`,
};
