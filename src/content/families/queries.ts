// All SQL on `template_families`. Reads and writes rows, decides nothing. The row of a template
// names the family, so members are read by the room of templates.
import { ownTables } from '../../platform/store/own-tables.ts';

export interface FamilyRow {
  id: string;
  organization_id: string;
  name: string;
  created_at: number;
  updated_at: number;
}

interface FamilyTables {
  template_families: FamilyRow;
}

const own = ownTables<FamilyTables>();

export const families = own.rowsOf('template_families', 'template-family');

/** Locks families until the transaction ends. */
export const lockFamilies = own.lockerOf('template_families');
