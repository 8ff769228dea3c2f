// Ends in a restored store, before it is used: whoever had signed in before the backup signs in
// again, and no link of that time works or is mailed.
import { linksOfRestored } from '../../../access/sessions/link-queries.ts';
import { sessionsOfRestored } from '../../../access/sessions/queries.ts';
import type { RestoredChange } from '../../../platform/upkeep/restore.ts';
import { mailToPersonsOfRestored } from '../../deliveries/queries.ts';

export const endsOfRestored: readonly RestoredChange[] = [
  ...sessionsOfRestored,
  linksOfRestored,
  mailToPersonsOfRestored,
];
