// The parts of a brand that mail shows: values for Liquid and the footer, and their digests.
import { hash } from 'node:crypto';
import { type Db, fromJson } from '../../platform/store/db.ts';
import type { BrandValues } from '../rendering/compiled.ts';
import { type BrandRow, findBrand, findDefaultBrand } from './queries.ts';
import type { PostalAddress } from './schema.ts';

type Shown = Omit<BrandRow, 'digest'>;

/** Returns the values of a brand for a template. */
export function brandValuesOf(row: Shown): BrandValues {
  return {
    name: row.name,
    slug: row.slug,
    logoUrl: row.logo_url,
    logoDarkUrl: row.logo_dark_url,
    iconUrl: row.icon_url,
    footer: {
      companyName: row.company_name,
      address: fromJson<PostalAddress>(row.address),
      socialLinks: fromJson<{ label: string; url: string }[]>(row.social_links),
    },
  };
}

/**
 * Finds the named brand of a template, or the default brand if the template names none. Returns
 * null if that brand is missing.
 */
export async function findBrandForTemplate(
  db: Db,
  organizationId: string,
  slug: string | null,
): Promise<BrandRow | null> {
  const found =
    slug === null
      ? await findDefaultBrand(db, organizationId)
      : await findBrand(db, organizationId, slug);
  return found ?? null;
}

/** Returns the digest of the CSS, to detect that a version was compiled with different CSS. */
export function cssDigestOf({ css }: Pick<BrandRow, 'css'>): string {
  return digestOf(css ?? '');
}

/** Returns the digest of everything that mail can show of the brand. */
export function brandDigestOf(row: Shown): string {
  return digestOf(JSON.stringify([brandValuesOf(row), row.css]));
}

function digestOf(text: string): string {
  return `sha256:${hash('sha256', text, 'hex')}`;
}
