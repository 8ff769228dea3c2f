// All SQL on `merged_contents` and `message_values`: contents that are filled for each message, and
// the values of a message. Rows only, no decisions.
import { isOneOf } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';

class MergedContentRow {
  content_id!: string;
  /** JSON of `SharedMerge` (merge.ts). */
  compiled!: string;
}

export class MessageValuesRow {
  message_id!: string;
  /** JSON of `MergeData` (merge.ts). */
  merge_data!: string;
}

interface MergeTables {
  merged_contents: MergedContentRow;
  message_values: MessageValuesRow;
}

const own = ownTables<MergeTables>();

export const insertMergedContents = own.bulkInsert('merged_contents', MergedContentRow);
export const insertMessageValues = own.bulkInsert('message_values', MessageValuesRow);

export const findMergedContent = own.first((db, contentId: string) =>
  db.selectFrom('merged_contents').select('compiled').where('content_id', '=', contentId),
);

export const deleteMessageValues = own.run((db, messageId: string) =>
  db.deleteFrom('message_values').where('message_id', '=', messageId),
);

/** Reads the values of messages, by message. Messages without values are missing. */
export const findMessageValues = own.all(
  (db, messageIds: readonly string[]) =>
    db
      .selectFrom('message_values')
      .selectAll()
      .where('message_id', ...isOneOf(db, messageIds)),
  (rows) => new Map(rows.map(({ message_id, merge_data }) => [message_id, merge_data])),
);
