// The sealed log of events: a Merkle tree for each organization, its signed head, and the keys that
// sign.
import type { Migration } from '../migration.ts';

export const receipts: Migration = {
  name: '0014-receipts',
  sql: ({ clustered, bytes }) => `
-- Keys that sign the heads of the sealed log. The newest signs; older ones verify.
create table receipt_keys (
  -- First 16 hex digits of the SHA-256 of the public key.
  id text primary key,
  -- Raw public key in base64, and the private key (PKCS #8), encrypted.
  public_key text not null, private_key text not null,
  created_at bigint not null
) ${clustered};

-- The sealed log of an organization: its size and its signed head.
create table event_trees (
  organization_id text primary key,
  -- Sealed events, and the id of the last one.
  size bigint not null, sealed_to text not null,
  -- Root of the tree in hex, signed at this time by this key.
  root text not null,
  sealed_at bigint not null,
  key_id text not null,
  -- Signature in base64.
  signature text not null
) ${clustered};

-- Hashes of the trees. A row of level 0 has those of 256 events; one above, the roots of 256 rows below.
create table event_tiles (
  organization_id text not null,
  level integer not null, number bigint not null,
  -- The hashes, 32 bytes each.
  hashes ${bytes} not null,
  -- Id of the last event under it.
  last_id text not null,
  primary key (organization_id, level, number)
) ${clustered};
-- The tile of an event.
create index event_tiles_by_event on event_tiles (organization_id, last_id) where level = 0;
`,
};
