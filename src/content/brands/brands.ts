// Brands, the resource (specification 2.9, 4.6). An organization has at most one default brand: the
// look of templates that name none, and of the unsubscribe page.
import { lockOrganization } from '../../access/organizations/queries.ts';
import { type Page, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { changesOf } from '../../history/audit/audit.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError, ResourceNotFoundError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson, toJson } from '../../platform/store/db.ts';
import * as queries from './queries.ts';
import {
  type Brand,
  brandNoun,
  type CreateBrand,
  type ListBrands,
  type PostalAddress,
  type UpdateBrand,
} from './schema.ts';
import { brandDigestOf, brandValuesOf, cssDigestOf } from './values.ts';

/**
 * Most characters of CSS and links in all brands of an organization. Writing a page of 100 brands
 * as JSON blocks the event loop for 20 ms per million characters.
 */
const mostCharacters = 2_000_000;

function present(row: queries.BrandRow): Brand {
  const { footer, logoUrl, logoDarkUrl, iconUrl } = brandValuesOf(row);
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    isDefault: row.is_default === 1,
    css: row.css,
    assets: { logoUrl, logoDarkUrl, iconUrl },
    footer: { ...footer, socialLinks: [...footer.socialLinks] },
    digest: row.digest,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/** Returns the settings of a brand for the audit, with a digest in place of the CSS. */
function settingsOf(row: queries.BrandRow) {
  const { name, assets, footer } = present(row);
  const { companyName, address, socialLinks } = footer;
  const css = row.css === null ? null : cssDigestOf(row);
  return { name, css, ...assets, companyName, address, socialLinks };
}

const noAddress: PostalAddress = {
  street1: null,
  street2: null,
  city: null,
  region: null,
  postalCode: null,
  country: null,
};

type Given<Values> = { [Name in keyof Values]?: Values[Name] | undefined };

/** Returns the present values, replaced by the given values. Undefined values change nothing. */
function laidOver<Values extends object>(present: Values, given: Given<Values>): Values {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...present, ...Object.fromEntries(entries) };
}

/**
 * Returns the present address with the given fields in place of the present fields; null if no
 * field has a value, or if `given` is null.
 */
function addressOf(
  present: PostalAddress | null,
  given: Given<PostalAddress> | null | undefined,
): PostalAddress | null {
  if (given === undefined) return present;
  const address = laidOver(present ?? noAddress, given ?? noAddress);
  return Object.values(address).every((value) => value === null) ? null : address;
}

/** Returns the row with the given settings and the new digest. */
function changed(
  row: queries.BrandRow,
  { name, css, assets = {}, footer = {} }: UpdateBrand,
): queries.BrandRow {
  const address = addressOf(fromJson<PostalAddress>(row.address), footer.address);
  const next = laidOver(row, {
    name,
    css,
    logo_url: assets.logoUrl,
    logo_dark_url: assets.logoDarkUrl,
    icon_url: assets.iconUrl,
    company_name: footer.companyName,
    address: toJson(address),
    social_links: footer.socialLinks && JSON.stringify(footer.socialLinks),
  });
  return { ...next, digest: brandDigestOf(next) };
}

/**
 * Creates a brand. The first brand of an organization is the default.
 * @throws ConflictError if the slug is taken, or the brands of the organization become too large.
 */
export function createBrand(app: App, caller: Caller, input: CreateBrand): Promise<Brand> {
  const { organizationId } = caller;
  const { slug, css = null, ...settings } = input;
  const now = app.clock.now();
  const empty: queries.BrandRow = {
    id: app.newId(brandNoun),
    organization_id: organizationId,
    slug,
    name: input.name,
    is_default: 0,
    css: null,
    logo_url: null,
    logo_dark_url: null,
    icon_url: null,
    company_name: null,
    address: null,
    social_links: '[]',
    digest: '',
    created_at: now,
    updated_at: now,
  };
  const wanted = changed(empty, { ...settings, css });
  return app.store.write(async (trx) => {
    // Locks the organization: of two concurrent first brands, only the earlier becomes the default.
    await lockOrganization(trx, organizationId, now);
    const isDefault = (await queries.brands.count(trx, organizationId)) === 0;
    const row = { ...wanted, is_default: isDefault ? 1 : 0 };
    if (!(await queries.insertBrand(trx, row))) {
      throw new ConflictError('brand', `The organization already has a brand ${slug}`);
    }
    await checkSum(trx, organizationId);
    const details = { slug, isDefault, ...settingsOf(row) };
    await record(app, trx, caller, { subject: row.id, action: brandNoun.created, details });
    return present(row);
  });
}

/** @throws ConflictError if the brands of the organization are too large together. */
async function checkSum(trx: Db, organizationId: string): Promise<void> {
  if ((await queries.sumOfBrands(trx, organizationId)) <= mostCharacters) return;
  throw new ConflictError(
    'brand',
    'The CSS and links of all brands have more than 2,000,000 characters: shorten them first',
  );
}

/** Locks the organization, which serializes changes of brands. Returns the brand to change. */
async function lockedBrand(
  trx: Db,
  organizationId: string,
  slug: string,
  now: number,
): Promise<queries.BrandRow> {
  await lockOrganization(trx, organizationId, now);
  return known(await queries.findBrand(trx, organizationId, slug), slug);
}

/** Lists a page of the organization's brands, newest first. */
export async function listBrands(
  app: App,
  { organizationId }: Caller,
  query: ListBrands,
): Promise<Page<Brand>> {
  const { rows, total } = await queries.brands.page(app.store.db, organizationId, query);
  return toPage(rows.map(present), total, query);
}

/** Returns a brand. @throws ResourceNotFoundError. */
export async function getBrand(app: App, caller: Caller, slug: string): Promise<Brand> {
  const row = await queries.findBrand(app.store.db, caller.organizationId, slug);
  return present(known(row, slug));
}

function known(row: queries.BrandRow | undefined, slug: string): queries.BrandRow {
  if (row === undefined) throw new ResourceNotFoundError('brand', slug);
  return row;
}

/**
 * Changes the given settings. Of assets, footer and address it changes only the given fields; a
 * given list replaces the list. @throws ResourceNotFoundError; ConflictError if the brands of the
 * organization become too large.
 */
export function updateBrand(
  app: App,
  caller: Caller,
  slug: string,
  input: UpdateBrand,
): Promise<Brand> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    const now = app.clock.now();
    const row = await lockedBrand(trx, organizationId, slug, now);
    const next = { ...changed(row, input), updated_at: now };
    await queries.brands.update(trx, organizationId, row.id, next);
    await checkSum(trx, organizationId);
    const changes = changesOf(settingsOf(row), settingsOf(next));
    if (Object.keys(changes).length > 0) {
      const details = { slug, ...changes };
      await record(app, trx, caller, { subject: row.id, action: brandNoun.updated, details });
    }
    return present(next);
  });
}

/** Makes a brand the default in place of the present default. @throws ResourceNotFoundError. */
export function makeBrandDefault(app: App, caller: Caller, slug: string): Promise<Brand> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    const now = app.clock.now();
    const row = await lockedBrand(trx, organizationId, slug, now);
    if (row.is_default === 1) return present(row);
    await queries.clearDefaultBrand(trx, organizationId, now);
    const change = { is_default: 1, updated_at: now };
    const next = await queries.brands.update(trx, organizationId, row.id, change);
    const details = { slug, ...changesOf({ isDefault: false }, { isDefault: true }) };
    await record(app, trx, caller, { subject: row.id, action: brandNoun.updated, details });
    return present(next);
  });
}

/** Deletes a brand. A deleted default brand gets no successor. @throws ResourceNotFoundError. */
export async function deleteBrand(app: App, caller: Caller, slug: string): Promise<Deleted> {
  const { organizationId } = caller;
  await app.store.write(async (trx) => {
    const { id, name } = await lockedBrand(trx, organizationId, slug, app.clock.now());
    await queries.brands.remove(trx, organizationId, id);
    const details = { slug, name };
    await record(app, trx, caller, { subject: id, action: brandNoun.deleted, details });
  });
  return { success: true, message: `Brand ${slug} is deleted` };
}
