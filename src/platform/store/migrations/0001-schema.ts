// The data model: one file for each wing of src/ (three for outbound), in the order of their
// references. Conventions of all tables:
//
// times       milliseconds since 1970; a day or hour is its first millisecond (UTC)
// booleans    0 or 1
// JSON        text, because the JSON types of the engines differ too much
// ids         ordered by time, so that primary keys append
// references  only between rows that are deleted together, or if one row protects the other. Other
// ids only name a row, which may no longer exist: the comment then says "named"
//
// Each index of a table that a send writes costs about 3 % of the accept rate, so each has a use.
import type { Migration } from '../migration.ts';
import { access } from './0001/access.ts';
import { deliveries } from './0001/deliveries.ts';
import { history } from './0001/history.ts';
import { identity } from './0001/identity.ts';
import { inbox } from './0001/inbox.ts';
import { messages } from './0001/messages.ts';
import { people } from './0001/people.ts';
import { tracking } from './0001/tracking.ts';

const store = () => `
-- Migrations that have run, with their times.
create table migrations (name text primary key, applied_at bigint not null);

-- A counter that shows whether writes work.
create table probe (counter bigint not null);
insert into probe (counter) values (0);
`;

const parts = [store, access, history, identity, people, messages, deliveries, tracking, inbox];

export const schema: Migration = {
  name: '0001-schema',
  sql: (words) => parts.map((part) => part(words)).join('\n'),
};
