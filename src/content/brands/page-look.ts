// The look of a brand on pages of recipients: the logo, the postal address in the footer, and a
// style made of the values that css-look.ts found.
import { type PageLook, plainLook } from '../../core/link-pages/recipient-page.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';
import type { Db } from '../../platform/store/db.ts';
import { addressLines } from '../rendering/footer.ts';
import { cssLookOf } from './css-look.ts';
import { type BrandRow, findDefaultBrand } from './queries.ts';
import { brandValuesOf } from './values.ts';

/**
 * Returns the style of a brand. The colours are for light screens only: dark screens keep the
 * colours of the service.
 */
function styleOf(css: string): string {
  const { back, text, heading, button, corners, font } = cssLookOf(css);
  const variables = [
    back && `--back: ${back};`,
    text && `--text: ${text};`,
    button && `--button: ${button.back}; --on-button: ${button.text};`,
  ].filter((one) => one !== null);
  return [
    variables.length > 0 &&
      `@media (prefers-color-scheme: light) { :root { ${variables.join(' ')} } }`,
    heading && `@media (prefers-color-scheme: light) { h1, h2 { color: ${heading}; } }`,
    corners && `button { border-radius: ${corners}; }`,
    font && `body { font-family: ${font}; }`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** Caches looks by the digest of the brand: reading 100 KB of CSS takes 5 to 20 ms. */
const looks = recentlyUsed<PageLook>(256);

/** Returns the look of the default brand; the plain look without a default brand. */
export async function lookOf(db: Db, organizationId: string): Promise<PageLook> {
  const brand = await findDefaultBrand(db, organizationId);
  return brand ? pageLookOf(brand) : plainLook;
}

function pageLookOf(brand: BrandRow): PageLook {
  const known = looks.get(brand.digest);
  if (known) return known;
  const look = makeLook(brand);
  looks.set(brand.digest, look);
  return look;
}

function makeLook(brand: BrandRow): PageLook {
  const { name, logoUrl, logoDarkUrl, footer } = brandValuesOf(brand);
  return {
    style: styleOf(brand.css ?? ''),
    logo: logoUrl === null ? null : { url: logoUrl, darkUrl: logoDarkUrl, name },
    foot: [...(footer.companyName === null ? [] : [footer.companyName]), ...addressLines(footer)],
  };
}
