// Loop protection between programs. The service itself never answers. A program with a key cannot
// answer an automatic reply (409). After five sends of the program into a thread within an hour,
// without a person's mail in between, the next send becomes a proposal. Mail sent by our programs
// never counts as a person's, from any mailbox.
import type { Caller } from '../../core/api/route.ts';
import { furtherIdsIn, namedMessage } from '../../outbound/messages/own-message-id.ts';
import { findMessageRows } from '../../outbound/messages/queries.ts';
import { ConflictError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { isService } from '../approvals/actions.ts';
import { selectSentByServices } from '../approvals/queries.ts';
import type { ThreadMessageKind } from '../threads/queries.ts';
import { selectBusy, selectRecent } from '../threads/recent-queries.ts';

const spanMs = 3_600_000;
const mostSends = 5;
const mostRead = 200;

/** Refuses a program's answer to an automatic mail. @throws ConflictError. */
export function refuseAutoReply(caller: Caller, messageId: string, kind: ThreadMessageKind): void {
  if (!isService(caller) || (kind !== 'auto-reply' && kind !== 'bounce')) return;
  throw new ConflictError(
    'message',
    `${messageId} is an automatic answer: a service key does not answer it (RFC 3834)`,
  );
}

interface Saying {
  caller: Caller;
  threadId: string | null;
}

/** Returns the programs' mails that are over the limit of their thread. */
export async function findRunaways<Said extends Saying>(
  trx: Db,
  sayings: readonly Said[],
  now: number,
): Promise<Set<Said>> {
  const asked = sayings.filter(({ caller }) => isService(caller));
  const threadIds = asked.flatMap(({ threadId }) => threadId ?? []);
  const busy = await selectBusy(trx, threadIds, now - spanMs + 1, mostSends);
  const found = new Set<Said>();
  for (const one of asked) {
    const { threadId } = one;
    if (threadId === null || !busy.has(threadId)) continue;
    if (await isRunaway(trx, threadId, now)) found.add(one);
  }
  return found;
}

async function isRunaway(trx: Db, threadId: string, now: number): Promise<boolean> {
  const recent = await selectRecent(trx, threadId, now - spanMs + 1, mostRead);
  const said = recent.filter(({ kind }) => kind === 'person' || kind === 'sent');
  if (said.filter(({ kind }) => kind === 'sent').length < mostSends) return false;
  const rows = await findMessageRows(
    trx,
    said.map(({ message_id }) => message_id),
  );
  const further = await furtherIdsIn(
    trx,
    rows.flatMap(({ direction, message_id_header }) =>
      direction === 'inbound' ? message_id_header : [],
    ),
  );
  /**
   * Maps message ids to ids of mail that we sent: a sent message to itself, a received copy to our
   * original. Null for mail from outside.
   */
  const ours = new Map(
    rows.map((row) => [
      row.id,
      row.direction === 'outbound' ? row.id : namedMessage(row.message_id_header, further),
    ]),
  );
  const ids = [...new Set([...ours.values()].flatMap((id) => id ?? []))];
  const bySelf = new Set(await selectSentByServices(trx, ids));
  let sends = 0;
  for (const { message_id, kind } of said) {
    const isByPerson = !bySelf.has(ours.get(message_id) ?? '');
    if (isByPerson) return sends >= mostSends;
    if (kind === 'sent') sends += 1;
  }
  return sends >= mostSends;
}
