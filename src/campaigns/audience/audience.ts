// Checks the audience of a campaign when it is saved, and takes the snapshot when a run is made.

import { withoutTags } from '../../core/api/tag-list.ts';
import { type ContactGroupRow, findGroups } from '../../people/contacts/groups/queries.ts';
import { type ContactQuery, conditionsIn } from '../../people/contacts/groups/query-schema.ts';
import { findKnownIds, findLastId } from '../../people/contacts/queries.ts';
import { ResourceNotFoundError, ValidationError } from '../../platform/errors.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import type { Audience, AudienceSnapshot } from './schema.ts';

function assertKnown(kind: string, ids: readonly string[], known: readonly string[]): void {
  const found = new Set(known);
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throw new ResourceNotFoundError(kind, missing);
}

/** Most conditions in the queries of an audience: each contact is compared with every condition. */
const mostConditions = 100;

/** Returns the queries of groups. @throws ValidationError above the limit of conditions. */
function queriesOf(groups: readonly Pick<ContactGroupRow, 'query'>[]): ContactQuery[] {
  const queries = groups.flatMap(({ query }) => fromJson<ContactQuery>(query) ?? []);
  const conditions = queries.reduce((sum, query) => sum + conditionsIn(query), 0);
  if (conditions <= mostConditions) return queries;
  throw ValidationError.of(
    'audience.groupIds',
    `may have at most ${mostConditions} conditions in all groups by query; these have ${conditions}`,
  );
}

/**
 * Refuses an audience that can have no contact, or that names an unknown contact or group.
 * @throws ValidationError; ResourceNotFoundError naming the contact or group.
 */
export async function assertAudience(
  db: Db,
  organizationId: string,
  audience: Audience,
): Promise<void> {
  const { includeTags, excludeTags, contactIds, groupIds } = audience;
  const isByTag = contactIds.length === 0 && groupIds.length === 0;
  if (isByTag && includeTags.length === 0) {
    throw ValidationError.of('audience', 'needs at least one of includeTags, contactIds, groupIds');
  }
  if (isByTag && withoutTags(excludeTags)(includeTags).length === 0) {
    throw ValidationError.of('audience.excludeTags', 'excludes all that the audience includes');
  }
  const groups = await findGroups(db, organizationId, groupIds);
  assertKnown(
    'contact-group',
    groupIds,
    groups.map(({ id }) => id),
  );
  queriesOf(groups);
  assertKnown('contact', contactIds, await findKnownIds(db, organizationId, contactIds));
}

/**
 * Returns a snapshot of an audience for a run. It contains the queries of the contact groups as
 * they are now, so later changes of a group do not affect the run. Deleted groups have no members.
 * @throws ValidationError if the queries have too many conditions.
 */
export async function snapshotAudience(
  db: Db,
  organizationId: string,
  audience: Audience,
  at: number,
): Promise<AudienceSnapshot> {
  const groups = await findGroups(db, organizationId, audience.groupIds);
  return { ...audience, queries: queriesOf(groups), at };
}

/** Returns the highest id of a contact: a run that starts now ends there. Null without contacts. */
export function lastContact(db: Db, organizationId: string): Promise<string | null> {
  return findLastId(db, organizationId);
}
