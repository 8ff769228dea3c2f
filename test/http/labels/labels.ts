// Labels: the table and the five functions.
import type { RowOf } from '../../../src/core/api/field-table.ts';
import { plainNoun } from '../../../src/history/events/plain-noun.ts';
import { ownTables } from '../../../src/platform/store/own-tables.ts';
import { labelFields, labelNoun } from './schema.ts';

const own = ownTables<{ labels: RowOf<typeof labelFields> }>();

export const labels = plainNoun({
  noun: labelNoun,
  rows: own.rowsOf('labels', 'label'),
  fields: labelFields,
});
