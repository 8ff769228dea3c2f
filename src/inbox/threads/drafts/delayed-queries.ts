// SQL on `delayed_drafts`: the drafts that an undo of delayed mails would make. Rows only, no
// decisions.
import { ownTables } from '../../../platform/store/own-tables.ts';

export class DelayedRow {
  message_id!: string;
  mailbox_id!: string;
  /** The action whose approval sent the mail, or null. */
  action_id!: string | null;
  created_at!: number;
  /** Bytes of the texts and files. */
  byte_count!: number;
  /** JSON of the draft (src/inbox/replies/undo/delayed.ts). */
  draft!: string;
}

const own = ownTables<{ delayed_drafts: DelayedRow }>();

export const insertDelayed = own.bulkInsert('delayed_drafts', DelayedRow);

export const findDelayed = own.first((db, messageId: string) =>
  db.selectFrom('delayed_drafts').selectAll().where('message_id', '=', messageId),
);

export const deleteDelayed = own.run((db, messageId: string) =>
  db.deleteFrom('delayed_drafts').where('message_id', '=', messageId),
);

/** Returns count and bytes of the delayed mails of a mailbox that were accepted since a time. */
export const measureDelayed = own.first(
  (db, mailboxId: string, since: number) =>
    db
      .selectFrom('delayed_drafts')
      .select(({ fn }) => [
        fn.countAll<number>().as('count'),
        fn.sum<number>('byte_count').as('bytes'),
      ])
      .where('mailbox_id', '=', mailboxId)
      .where('created_at', '>=', since),
  (row) => ({ count: Number(row?.count ?? 0), bytes: Number(row?.bytes ?? 0) }),
);

/** Deletes up to `limit` drafts of mails accepted before a time. Returns their count. */
export const deleteDelayedBefore = own.change((db, before: number, limit: number) =>
  db
    .deleteFrom('delayed_drafts')
    .where('message_id', 'in', (select) =>
      select
        .selectFrom('delayed_drafts')
        .select('message_id')
        .where('created_at', '<', before)
        .limit(limit),
    ),
);
