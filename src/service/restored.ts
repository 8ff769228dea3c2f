// Changes of a restored store before it is used: nothing that a person started or opened before the
// backup continues by itself.
import { linksOfRestored } from '../access/sessions/link-queries.ts';
import { sessionsOfRestored } from '../access/sessions/queries.ts';
import { mailToPersonsOfRestored } from '../outbound/deliveries/queries.ts';
import type { RestoredChange } from '../platform/upkeep/restore.ts';
import { pauseOfRestored } from '../run-ledger/walk-queries.ts';

export const changesOfRestored: readonly RestoredChange[] = [
  pauseOfRestored,
  ...sessionsOfRestored,
  linksOfRestored,
  mailToPersonsOfRestored,
];
