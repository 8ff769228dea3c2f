// Objects: large content of blobs outside the database. No older version goes on beside it, as it
// would take a blob with an object for a shorter one.
import type { Migration } from '../migration.ts';

export const blobObjects: Migration = {
  name: '0021-blob-objects',
  sql: ({ clustered }) => `
-- Large content outside the database, shared by equal blobs of an organization.
create table blob_objects (
  -- ORGANIZATION/DIGEST: SHA-256 of the content in hexadecimal digits.
  key text primary key,
  -- filesystem or s3.
  driver text not null,
  -- writing, stored or removing.
  state text not null,
  size bigint not null,
  -- Key of its encryption, encrypted with the root key. Null for an object that is not encrypted.
  sealed_key text,
  -- Time since which it may be without a blob. Null while a blob refers to it.
  unused_at bigint
) ${clustered};
create index blob_objects_unused on blob_objects (unused_at) where unused_at is not null;

-- The object that follows data, or null.
alter table blobs add column object_key text;
create index blobs_object on blobs (object_key) where object_key is not null;
`,
};
