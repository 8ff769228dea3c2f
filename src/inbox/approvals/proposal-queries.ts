// All SQL on `mailbox_proposals` and `mailbox_proposal_parts`: the mail of an action while it is
// open. Rows only, no decisions.
import { type Db, tables } from '../../platform/store/db.ts';

interface ProposalTables {
  mailbox_proposals: { action_id: string; content: string };
  mailbox_proposal_parts: { action_id: string; part: number; data: Buffer };
}

/** Stores the content (JSON) and the bytes of a proposal, the MIME first. */
export async function insertProposal(
  db: Db,
  actionId: string,
  content: string,
  parts: readonly Buffer[],
): Promise<void> {
  const q = tables<ProposalTables>(db);
  await q.insertInto('mailbox_proposals').values({ action_id: actionId, content }).execute();
  for (const [part, data] of parts.entries()) {
    await q
      .insertInto('mailbox_proposal_parts')
      .values({ action_id: actionId, part, data })
      .execute();
  }
}

/** Returns the content of a proposal (JSON); undefined once it is decided. */
export async function findProposal(db: Db, actionId: string): Promise<string | undefined> {
  const row = await tables<ProposalTables>(db)
    .selectFrom('mailbox_proposals')
    .select('content')
    .where('action_id', '=', actionId)
    .executeTakeFirst();
  return row?.content;
}

/**
 * Returns the MIME of a proposal (part 0) or an attachment (from 1); undefined once it is decided.
 */
export async function findProposalPart(
  db: Db,
  actionId: string,
  part: number,
): Promise<Buffer | undefined> {
  const row = await tables<ProposalTables>(db)
    .selectFrom('mailbox_proposal_parts')
    .select('data')
    .where('action_id', '=', actionId)
    .where('part', '=', part)
    .executeTakeFirst();
  return row?.data;
}

/** Deletes a proposal and all parts. */
export async function deleteProposal(db: Db, actionId: string): Promise<void> {
  await tables<ProposalTables>(db)
    .deleteFrom('mailbox_proposals')
    .where('action_id', '=', actionId)
    .execute();
}
