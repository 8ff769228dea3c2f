// Changes to a restored store before it is used: all sessions end, and sign-in links of the backup
// neither work nor are mailed.
import { linksOfRestored } from '../../../access/sessions/link-queries.ts';
import { sessionsOfRestored } from '../../../access/sessions/queries.ts';
import type { RestoredChange } from '../../../platform/upkeep/restore.ts';
import { mailToPersonsOfRestored } from '../../deliveries/queries.ts';

export const endsOfRestored: readonly RestoredChange[] = [
  ...sessionsOfRestored,
  linksOfRestored,
  mailToPersonsOfRestored,
];
