// The data model: a file for each area of src/ (three for outbound), in the order of references.
// Conventions of all tables:
//
// times       milliseconds since 1970; a day or hour is its first millisecond (UTC)
// booleans    0 or 1
// JSON        text, because the JSON types of the engines differ too much
// ids         ordered by time, so that primary keys append
// references  only between rows that are deleted together, or if one row protects the other. Other
// ids only name a row, which may no longer exist: the comment then says "named"
//
// Each index of a table that a send writes costs about 3 % of the accept rate, so each has a use.
import { createHash } from 'node:crypto';
import { type EngineWords, type Migration, statementsOf } from '../migration.ts';
import { access } from './access.ts';
import { campaigns } from './campaigns.ts';
import { content } from './content.ts';
import { deliveries } from './deliveries.ts';
import { extensions } from './extensions.ts';
import { history } from './history.ts';
import { identity } from './identity.ts';
import { inbox } from './inbox.ts';
import { messages } from './messages.ts';
import { people } from './people.ts';
import { service } from './service.ts';
import { store } from './store.ts';
import { tracking } from './tracking.ts';
import { webhooks } from './webhooks.ts';

const parts = [
  ...[store, service, access, history, webhooks, identity, people, content],
  ...[messages, deliveries, tracking, inbox, campaigns, extensions],
];
const sql = (words: EngineWords) => parts.map((part) => part(words)).join('\n');

/**
 * Returns 8 digits of the SHA-256 of the statements of both engines. They name the schema, because
 * each change until 0.1.0 makes a different schema.
 */
function digestOf(migration: Migration): string {
  const texts = (['sqlite', 'postgres'] as const).flatMap((engine) =>
    statementsOf(migration, engine),
  );
  return createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 8);
}

export const schema: Migration = {
  name: `0001-schema-${digestOf({ name: '', sql })}`,
  sql,
};
