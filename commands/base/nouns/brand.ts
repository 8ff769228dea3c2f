// Shared parts of the commands on brands: the argument, the card, and the flags of nested fields.
import { Args, Flags } from '@oclif/core';
import { given, textFrom } from '../input/body.ts';
import { UsageError } from '../output/failure.ts';
import type { Find } from '../verbs.ts';

export const brandArgs = {
  slug: Args.string({ description: 'Slug of the brand', required: true }),
};

/** Turns the typed slug into the path parameter of the route. */
export const findBrand: Find = async (_session, slug) => ({ slug });

export const brandCard = [
  ...['id', 'slug', 'name', 'isDefault'],
  ...['assets.logoUrl', 'assets.logoDarkUrl', 'assets.iconUrl', 'footer.companyName'],
  ...['footer.address.street1', 'footer.address.street2', 'footer.address.city'],
  ...['footer.address.region', 'footer.address.postalCode', 'footer.address.country'],
  ...['footer.socialLinks.label', 'digest', 'createdAt', 'updatedAt'],
];

const url = (description: string) => Flags.string({ description, helpValue: 'URL' });
const text = (description: string) => Flags.string({ description });

export const brandFlags = {
  css: Flags.string({
    description: 'CSS for templates: text, @FILE, or - for standard input',
    helpValue: 'TEXT',
  }),
  'logo-url': url('https URL of the logo'),
  'logo-dark-url': url('https URL of the logo on dark ground'),
  'icon-url': url('https URL of the icon'),
  'company-name': text('Company in the footer'),
  street1: text('First line of the address in the footer'),
  street2: text('Second line of the address'),
  city: text('City of the address'),
  region: text('Region or state of the address'),
  'postal-code': text('Postal code of the address'),
  country: text('Country of the address'),
  'social-link': Flags.string({
    description: 'Link in the footer, as LABEL=URL; may be repeated',
    helpValue: 'LABEL=URL',
    multiple: true,
    multipleNonGreedy: true,
  }),
};

function socialLink(typed: string): { label: string; url: string } {
  const [, label, url] = /^([^=]+)=(.+)$/.exec(typed) ?? [];
  if (label !== undefined && url !== undefined) return { label, url };
  throw new UsageError(`--social-link: ${typed} is not LABEL=URL`);
}

/** Builds `css`, `assets` and `footer` of a brand from the flags that are given. */
export async function brandFields(flags: Record<string, unknown>): Promise<object> {
  const some = (values: Record<string, unknown>) => {
    const known = given(values);
    return Object.keys(known).length > 0 ? known : undefined;
  };
  const links = flags['social-link'] as string[] | undefined;
  return given({
    css: await textFrom(flags.css as string | undefined),
    assets: some({
      logoUrl: flags['logo-url'],
      logoDarkUrl: flags['logo-dark-url'],
      iconUrl: flags['icon-url'],
    }),
    footer: some({
      companyName: flags['company-name'],
      address: some({
        street1: flags.street1,
        street2: flags.street2,
        city: flags.city,
        region: flags.region,
        postalCode: flags['postal-code'],
        country: flags.country,
      }),
      socialLinks: links?.map(socialLink),
    }),
  });
}
