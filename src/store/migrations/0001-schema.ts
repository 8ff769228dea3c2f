// The data model: one file for each wing of src/, in the order of their references. Conventions of all tables:
//
//   times       milliseconds since 1970; a day or hour is its first millisecond (UTC)
//   booleans    0 or 1
//   JSON        text, because the JSON types of the engines differ too much
//   ids         ordered by time, so that primary keys append
//   references  only where the engine enforces or deletes; the comment says "named" where a row may outlive
//               the row it names
//
// An index of the tables of a send costs about 3 % of the accept rate: each has a reason.
import type { Migration } from '../migration.ts';
import { access } from './0001/access.ts';
import { history } from './0001/history.ts';
import { identity } from './0001/identity.ts';
import { inbox } from './0001/inbox.ts';
import { messages } from './0001/messages.ts';
import { people } from './0001/people.ts';
import { queue } from './0001/queue.ts';
import { store } from './0001/store.ts';
import { tracking } from './0001/tracking.ts';

const parts = [store, access, history, identity, people, messages, queue, tracking, inbox];

export const schema: Migration = {
  name: '0001-schema',
  sql: (words) => parts.map((part) => part(words)).join('\n'),
};
