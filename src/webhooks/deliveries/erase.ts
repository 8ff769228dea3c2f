// Erases the data of a resource event that webhooks store: the body and the receivers' responses.
// The deletion of a message replaces the bodies (body.ts), but keeps the responses.

import type { Db } from '../../platform/store/db.ts';
import { eventBody, mostBodyBytes } from '../posting/body.ts';
import { findBodies } from '../posting/body-queries.ts';
import { clearAnswersOfEvent, setBody } from './erase-queries.ts';

interface Erased {
  id: string;
  type: string;
  /** Time of the event, ms since 1970. */
  timestamp: number;
  organizationId: string;
  /** Data that replaces the data in the stored body. */
  data: object;
}

/** Erases body and responses; returns the number of erased responses, up to `limit`. */
export async function erasePosted(trx: Db, event: Erased, limit: number): Promise<number> {
  await setBody(trx, event.id, eventBody(event));
  return clearAnswersOfEvent(trx, event.id, limit);
}

/**
 * Removes text and files of the received mail from the stored body of an event, after the content
 * of the message was removed.
 */
export async function forgetPostedMail(trx: Db, eventId: string): Promise<void> {
  const body = (await findBodies(trx, [eventId], mostBodyBytes)).get(eventId);
  if (!body) return;
  const { data, ...event } = JSON.parse(body) as { data: { email?: object } };
  if (data.email === undefined) return;
  const email = { ...data.email, text: null, textTruncated: false, attachments: [] };
  await setBody(trx, eventId, JSON.stringify({ ...event, data: { ...data, email } }));
}
