// Requests to erase the copies of a deleted resource. They are written in the transaction of the
// deletion, so that no crash loses them. src/service/erasing erases.
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';
import { type ErasureRow, insertErasure } from './queries.ts';

/**
 * Former mailbox and thread of a deleted message, and the event that reported the message there.
 */
export interface MessagePlace {
  mailboxId: string;
  threadId: string;
  /** Set for the last message of a thread. */
  isThreadGone: boolean;
  eventId: string | null;
}

interface Request {
  organizationId: string;
  id: string;
  kind: ErasureRow['kind'];
  /** Place of a message that was in a thread. */
  about?: MessagePlace | null;
}

/** Requests the erasure of a resource's copies, in the transaction that deletes it. */
export async function requestErasure(
  { clock }: App,
  trx: Db,
  { organizationId, id, kind, about }: Request,
): Promise<void> {
  const now = clock.now();
  await insertErasure(trx, {
    id,
    organization_id: organizationId,
    kind,
    about: JSON.stringify(about ?? {}),
    passes: 0,
    due_at: now,
    created_at: now,
  });
}
