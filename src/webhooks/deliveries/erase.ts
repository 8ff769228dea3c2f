// Erases the data of a resource event that webhooks store: the body and the receivers' responses.
// Bodies of a message's events are replaced when it is deleted (body.ts); their responses are not.

import type { Db } from '../../platform/store/db.ts';
import { eventBody } from '../posting/body.ts';
import { clearAnswersOfEvent, setBody } from './erase-queries.ts';

interface Erased {
  id: string;
  type: string;
  /** Time of the event, ms since 1970. */
  timestamp: number;
  organizationId: string;
  /** New data of the event. */
  data: object;
}

/** Erases body and responses; returns the number of erased responses, up to `limit`. */
export async function erasePosted(trx: Db, event: Erased, limit: number): Promise<number> {
  await setBody(trx, event.id, eventBody(event));
  return clearAnswersOfEvent(trx, event.id, limit);
}
