// All SQL on `saved_replies`. Rows only, no decisions.
import type { RowOf } from '../../core/api/field-table.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { savedReplyFields } from './schema.ts';

type SavedReplyRow = RowOf<typeof savedReplyFields>;

const own = ownTables<{ saved_replies: SavedReplyRow }>();

export const savedReplies = own.rowsOf('saved_replies', 'saved-reply');
