// Input and output shapes of brands (specification 2.9, 4.6).
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { timeRange } from '../../core/api/resource-schema.ts';
import { checkBrandCss, cssLimits } from '../rendering/css.ts';

export const brandNoun = noun('brand', 'brand');

const longestUrl = 2_048;
const mostSocialLinks = 20;

/** A host name or an IP address: safe inside a Content-Security-Policy. */
const plainHost = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])$/;

/** Slug of a brand (specification 2.1). */
export const brandSlug = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/,
    'must have 1 to 64 lower-case letters, digits and hyphens, without a hyphen at either end',
  );

/** Accepts an https URL without a password, and returns it in the normal form of `URL`. */
const httpsUrl = z
  .string()
  .max(longestUrl)
  .transform((text, context) => {
    const problem = urlProblem(text);
    if (problem === null) return new URL(text).href;
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  })
  .meta({ format: 'uri' });

function urlProblem(text: string): string | null {
  // `URL` would drop or repair these characters; other parsers would not.
  if (/[\s\\]|\p{Cc}/u.test(text)) {
    return 'has white space, a control character or a backslash';
  }
  if (!/^https:\/\/[^/]/i.test(text) || !URL.canParse(text)) return 'must be an https:// URL';
  const { username, password, hostname, href } = new URL(text);
  if (username !== '' || password !== '') return 'has a user name or password';
  if (!plainHost.test(hostname)) return 'has characters in its host that no host name has';
  return href.length > longestUrl ? `has more than ${longestUrl} characters` : null;
}

const line = (longest: number) => headerText(longest).min(1).nullable().optional();

const name = headerText(100).min(1).meta({ description: 'Name of the brand, for recipients' });

const css = z
  .string()
  .max(cssLimits.brandBytes)
  .superRefine((text, context) => {
    const message = checkBrandCss(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .meta({ description: 'CSS for templates: inlined when a template is published' });

const assetsInput = z.strictObject({
  logoUrl: httpsUrl.nullable().optional().describe('URL of the logo (https)'),
  logoDarkUrl: httpsUrl.nullable().optional().describe('URL of the logo on dark ground (https)'),
  iconUrl: httpsUrl.nullable().optional().describe('URL of the icon (https)'),
});

const addressInput = z.strictObject({
  street1: line(200).describe('Street and number'),
  street2: line(200).describe('Second line of the street'),
  city: line(100).describe('Town of the address'),
  region: line(100).describe('State or province'),
  postalCode: line(40).describe('Code of the town, such as 75001'),
  country: line(100).describe('Country of the address'),
});

const footerInput = z.strictObject({
  companyName: line(200).describe('Name of the company'),
  address: addressInput.nullable().optional().describe('Postal address'),
  socialLinks: z
    .array(
      z.strictObject({
        label: headerText(60).min(1).describe('Text of the link'),
        url: httpsUrl.describe('URL of the page (https)'),
      }),
    )
    .max(mostSocialLinks)
    .optional()
    .describe('Links to pages of the company'),
});

export const listBrandsQuery = z.strictObject({ ...pageQuery, ...timeRange('brands created') });

export const createBrandInput = z
  .strictObject({
    slug: brandSlug.meta({ description: 'Slug by which templates name the brand' }),
    name,
    css: css.nullish(),
    assets: assetsInput.optional().describe('Pictures of the brand'),
    footer: footerInput.optional().describe('Footer of mail'),
  })
  .meta({
    examples: [
      {
        slug: 'acme',
        name: 'Acme',
        css: 'h1 { color: #14599e }',
        assets: { logoUrl: 'https://cdn.example.com/logo.png' },
        footer: {
          companyName: 'Acme Ltd',
          address: { street1: '1 Main St', city: 'Springfield', country: 'US' },
          socialLinks: [{ label: 'Blog', url: 'https://example.com/blog' }],
        },
      },
    ],
  });

export const updateBrandInput = z
  .strictObject({
    name: name.optional(),
    css: css.nullable().optional(),
    assets: assetsInput.optional().describe('Pictures of the brand; fields that are left out stay'),
    footer: footerInput.optional().describe('Footer of mail; fields that are left out stay'),
  })
  .meta({ examples: [{ name: 'Acme Inc', footer: { companyName: 'Acme Inc' } }] });

const text = z.string().nullable();

const address = z.object({
  street1: text.describe('Street and number; null without one'),
  street2: text.describe('Second line of the street; null without one'),
  city: text.describe('City; null without one'),
  region: text.describe('State or province; null without one'),
  postalCode: text.describe('Postal code; null without one'),
  country: text.describe('Country; null without one'),
});

export const brandOutput = z
  .object({
    id: z.string().describe('Id of the brand'),
    slug: z.string().describe('Slug that addresses the brand'),
    name: z.string().describe('Name of the brand'),
    isDefault: z.boolean().describe('Whether mail without a brand takes it'),
    css: text.describe('Style sheet; null without one'),
    assets: z
      .object({
        logoUrl: text.describe('URL of the logo; null without one'),
        logoDarkUrl: text.describe('URL of the logo on dark ground; null without one'),
        iconUrl: text.describe('URL of the icon; null without one'),
      })
      .describe('Pictures of the brand'),
    footer: z
      .object({
        companyName: text.describe('Name of the company; null without one'),
        address: address.nullable().describe('Postal address; null without one'),
        socialLinks: z
          .array(
            z.object({
              label: z.string().describe('Text of the link'),
              url: z.string().describe('URL of the page'),
            }),
          )
          .describe('Links to pages of the company'),
      })
      .describe('Footer of mail'),
    digest: z.string().meta({ description: '`sha256:` over name, slug, CSS, assets and footer' }),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'Brand', description: 'The look of mail: CSS, logos and footer' });

export type ListBrands = z.output<typeof listBrandsQuery>;
export type CreateBrand = z.output<typeof createBrandInput>;
export type UpdateBrand = z.output<typeof updateBrandInput>;
export type Brand = z.output<typeof brandOutput>;
export type PostalAddress = z.output<typeof address>;
