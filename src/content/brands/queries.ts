// All SQL on `brands`. Reads and writes rows, decides nothing.
import { sql } from 'kysely';
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface BrandRow {
  id: string;
  organization_id: string;
  slug: string;
  name: string;
  is_default: number;
  css: string | null;
  logo_url: string | null;
  logo_dark_url: string | null;
  icon_url: string | null;
  company_name: string | null;
  /** PostalAddress (schema.ts) as JSON; null without an address. */
  address: string | null;
  /** JSON array of objects with `label` and `url`. */
  social_links: string;
  digest: string;
  created_at: number;
  updated_at: number;
}

interface BrandTables {
  brands: BrandRow;
}

const own = ownTables<BrandTables>();

/** Common queries on brands: by id, by page, and changes. */
export const brands = own.rowsOf('brands', 'brand');

/** Finds a brand by slug. Hot: sends with a template read it. */
export const findBrand = own.first((db, organizationId: string, slug: string) =>
  db
    .selectFrom('brands')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('slug', '=', slug),
);

/** Finds the default brand. Hot: sends with a template that names no brand read it. */
export const findDefaultBrand = own.first((db, organizationId: string) =>
  db
    .selectFrom('brands')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('is_default', '=', 1),
);

/** Sums the characters of CSS and links over all brands of an organization. */
export const sumOfBrands = own.first(
  (db, organizationId: string) =>
    db
      .selectFrom('brands')
      .select(
        sql<number>`coalesce(sum(coalesce(length(css), 0) + length(social_links)), 0)`.as('sum'),
      )
      .where('organization_id', '=', organizationId),
  (row) => Number(row?.sum ?? 0),
);

/** Inserts a brand. Returns false if the organization has the slug already. */
export function insertBrand(db: Db, row: BrandRow): Promise<boolean> {
  return brands.insert(db, row, ['organization_id', 'slug']);
}

/** Removes the default mark from the organization's default brand. */
export async function clearDefaultBrand(
  db: Db,
  organizationId: string,
  now: number,
): Promise<void> {
  await tables<BrandTables>(db)
    .updateTable('brands')
    .set({ is_default: 0, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('is_default', '=', 1)
    .execute();
}
