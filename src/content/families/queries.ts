// All SQL on `template_families`. Reads and writes rows, decides nothing. Rows of templates name
// the family, so src/content/templates reads the members.
import type { RowOf } from '../../core/api/field-table.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { familyFields } from './schema.ts';

export type FamilyRow = RowOf<typeof familyFields>;

interface FamilyTables {
  template_families: FamilyRow;
}

const own = ownTables<FamilyTables>();

export const families = own.rowsOf('template_families', 'template-family');

/** Locks families until the transaction ends. */
export const lockFamilies = own.lockerOf('template_families');
