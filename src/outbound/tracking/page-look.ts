// The look of a brand on pages of recipients: the logo, the postal address in the foot, and a style
// made of the values that css-look.ts found.
import { cssLookOf } from '../../content/brands/css-look.ts';
import type { BrandRow } from '../../content/brands/queries.ts';
import { brandValuesOf } from '../../content/brands/values.ts';
import { addressLines } from '../../content/rendering/footer.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';

/** A logo with the alternative text. */
export interface Logo {
  url: string;
  darkUrl: string | null;
  name: string;
}

/** The look of a brand on a page. */
export interface PageLook {
  /** Style after that of the service; empty for none. */
  style: string;
  logo: Logo | null;
  /** Company and lines of the company's address. */
  foot: readonly string[];
}

/** The look of a page without a brand. */
export const plainLook: PageLook = { style: '', logo: null, foot: [] };

/**
 * Returns the style of a brand, for light screens: dark screens keep the colours of the service.
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

/** Looks by the digest of their brand: reading 100 KB of CSS takes 5 to 20 ms. */
const looks = recentlyUsed<PageLook>(256);

/** Returns the look of a brand on pages of recipients. */
export function pageLookOf(brand: BrandRow): PageLook {
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
