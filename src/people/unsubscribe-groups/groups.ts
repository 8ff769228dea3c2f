// Unsubscribe groups, the resource. Unsubscribing from a group adds a block of that group
// (src/people/blocks). The block stays when the group is deleted.
import { plainNoun } from '../../history/events/plain-noun.ts';
import { unsubscribeGroups } from './queries.ts';
import { groupFields, unsubscribeGroupNoun } from './schema.ts';

/**
 * Operations on groups. `deleteEmptyGroup` needs a group without members: `deleteGroup` of
 * src/consent/opt-in deletes the members before.
 */
export const {
  create: createGroup,
  list: listGroups,
  get: getGroup,
  update: updateGroup,
  delete: deleteEmptyGroup,
} = plainNoun({ noun: unsubscribeGroupNoun, rows: unsubscribeGroups, fields: groupFields });
