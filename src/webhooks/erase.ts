// Erases what webhooks keep of an event on no message: its body and the receivers' answers. Those of a message's
// events go with it (body.ts), but for the answers.

import type { Db } from '../store/db.ts';
import { eventBody } from './body.ts';
import { clearAnswersOfEvent, setBody } from './erase-queries.ts';

interface Erased {
  id: string;
  type: string;
  /** Ms since 1970. */
  timestamp: number;
  organizationId: string;
  /** What it says from now on. */
  data: object;
}

/** Returns how many answers were erased, up to `limit`. */
export async function erasePosted(trx: Db, event: Erased, limit: number): Promise<number> {
  await setBody(trx, event.id, eventBody(event));
  return clearAnswersOfEvent(trx, event.id, limit);
}
