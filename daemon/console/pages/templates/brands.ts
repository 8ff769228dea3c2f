// Brands: colours, pictures, footer and links as fields, beside a sample mail.
import { brandRoutes } from '../../../../src/content/brands/routes.ts';
import type { Brand } from '../../../../src/content/brands/schema.ts';
import { footerHtml } from '../../../../src/content/rendering/footer.ts';
import type { Download } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { card, foldedCard } from '../../parts/card.ts';
import { confirmed } from '../../parts/confirm.ts';
import { button, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { colourFields, usualCss, withColours } from './brand-colours.ts';

const mostLinks = 20;
const defaultPill = html`<span class="pill info">Default</span>`;
const logos = { logoUrl: 'Logo', logoDarkUrl: 'Logo on dark', iconUrl: 'Icon' };
const addressLines = {
  street1: 'Street',
  street2: 'Street, second line',
  city: 'City',
  region: 'Region',
  postalCode: 'Postal code',
  country: 'Country',
};

async function list(asked: Asked): Promise<View> {
  const { ask, query, may } = asked;
  const found = await ask(brandRoutes.list, { query: { page: query['page'] } });
  const isNone = found.items.length === 0;
  const fields = html`
    ${field({ name: 'name', label: 'Name', isRequired: true })}
    ${field({ name: 'slug', label: 'Short name for programs', isRequired: true, hint: 'Lower-case letters, digits and hyphens' })}`;
  const body = together(
    table(
      asked,
      found,
      [
        {
          head: 'Brand',
          cell: ({ slug, name }) =>
            html`<b>${link(`/brands/${slug}`, name)}</b><br /><small>${slug}</small>`,
        },
        { head: 'Used', isPlain: true, cell: ({ isDefault }) => isDefault && defaultPill },
        { head: 'Changed', isNumber: true, cell: ({ updatedAt }) => time(updatedAt) },
      ],
      'There is no brand yet. Mail has plain colours and no footer.',
    ),
    may('brands:write') &&
      foldedCard(
        'Make a brand',
        form(asked, 'make', 'Make the brand', fields),
        'colours, logo and footer of your mail',
        isNone,
      ),
  );
  return {
    title: 'Brands',
    below: 'How your mail looks',
    body,
    command: 'svc brands list',
    request: 'GET /v1/brands',
  };
}

/** Returns the values that the form of a brand shows. */
function fieldsOf({ name, css, assets, footer }: Brand): Form {
  const links = footer.socialLinks.flatMap(({ label, url }, at) => [
    [`label${at}`, label] as const,
    [`url${at}`, url] as const,
  ]);
  const all: Record<string, string | null | undefined> = {
    name,
    css,
    companyName: footer.companyName,
    ...Object.fromEntries(links),
    ...assets,
    ...footer.address,
  };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, value ?? '']));
}

/** Draws the links of the footer, and two empty rows for more. */
function linkFields({ footer }: Brand, values: Form): Part {
  const count = Math.min(mostLinks, footer.socialLinks.length + 2);
  return Array.from({ length: count }, (_, at) => {
    const own = (name: string, label: string) =>
      field({ name: `${name}${at}`, label: `${label} ${at + 1}`, value: values[`${name}${at}`] });
    return html`<div class="pair">${own('label', 'Text of link')} ${own('url', 'URL of link')}</div>`;
  });
}

function editor(asked: Asked, brand: Brand): Part {
  const values = fieldsOf(brand);
  const line = (name: string, label: string, hint: Part = null) =>
    field({ name, label, value: values[name], hint });
  const picture = ([name, label]: [string, string]) => {
    const url = brand.assets[name as keyof Brand['assets']];
    return line(
      name,
      `${label}, an https:// URL`,
      url && html`<a href=${url}>Open the picture</a>`,
    );
  };
  return form(
    asked,
    'save',
    'Save',
    html`
    ${line('name', 'Name')}
    <fieldset><legend>Colours</legend>${colourFields(brand.css ?? '')}</fieldset>
    <fieldset><legend>Pictures</legend>${Object.entries(logos).map(picture)}</fieldset>
    <fieldset><legend>Footer</legend>${line('companyName', 'Company')}
      <div class="pair">${Object.entries(addressLines).map(([name, label]) => line(name, label))}</div>
      ${linkFields(brand, values)}</fieldset>
    <details><summary>Style sheet, for designers</summary>
      ${field({ name: 'css', label: 'CSS', type: 'textarea', value: values['css'], rows: 24, hint: 'Written into a template when it is published' })}</details>`,
  );
}

async function one(asked: Asked): Promise<View> {
  const { ask, may, params } = asked;
  const brand = await ask(brandRoutes.get, { params });
  const frame = html`<iframe class="thumb tall light" sandbox="" title=${`A mail of ${brand.name}`} loading="lazy" src=${`/console/brands/${brand.slug}/html`}></iframe>`;
  const mail = card(
    'A mail of this brand',
    html`${frame}<p class="soft">Pictures of the web are not loaded here. Colours reach mail once its template is published again.</p>`,
    { id: 'sample' },
  );
  const body = together(
    may('brands:write') ? html`<div class="beside">${editor(asked, brand)}${mail}</div>` : mail,
    may('brands:delete') &&
      foldedCard(
        'Removal',
        confirmed(asked, {
          action: 'delete',
          label: 'Delete',
          question: `Delete ${brand.name}?`,
          goes: 'Its colours, logo and footer go. Published templates keep their look.',
        }),
        brand.slug,
      ),
  );
  return {
    title: brand.name,
    heading: html`${brand.name} ${brand.isDefault && defaultPill}`,
    below: brand.isDefault
      ? 'the look of all mail that names no other brand'
      : 'for mail that names it',
    actions:
      may('brands:write') &&
      !brand.isDefault &&
      button(asked, { action: 'default', label: 'Make it the default' }),
    body,
    command: `svc brands show ${brand.slug}`,
    request: `GET /v1/brands/${params['slug']}`,
  };
}

const sampleCss =
  'body{margin:0;padding:32px 24px;font:16px/1.5 Arial,sans-serif}' +
  '.button{display:inline-block;padding:12px 20px;border-radius:4px;text-decoration:none}';
const sampleMail =
  '<h1>Your order is on its way</h1><p>Dear Ada, your parcel left our house today. ' +
  '<a href="https://example.com">See what is in it</a>.</p>' +
  '<p><a class="button" href="https://example.com">Follow the parcel</a></p>';

/** Returns a sample mail with the look of a brand, for a frame. */
async function sample({ ask, params }: Asked): Promise<Download> {
  const { name, slug, css, assets, footer } = await ask(brandRoutes.get, { params });
  const end = footerHtml({ name, slug, ...assets, footer }, null);
  const bytes = `<!doctype html><html lang="en"><head><title>Mail</title><style>${usualCss}${sampleCss}${css ?? ''}</style></head><body>${sampleMail}${end}</body></html>`;
  return { contentType: 'text/html; charset=utf-8', disposition: 'inline', bytes };
}

/** Returns the links in a form, without empty rows. */
function linksIn(given: Form): { label: string; url: string }[] {
  const all = Array.from({ length: mostLinks }, (_, at) => ({
    label: given[`label${at}`]?.trim() ?? '',
    url: given[`url${at}`]?.trim() ?? '',
  }));
  return all.filter(({ label, url }) => label !== '' || url !== '');
}

/** Returns the body of the request that stores the form. */
function changeOf(brand: Brand, given: Form): object {
  const text = (name: string) => given[name]?.trim() || null;
  const all = (names: object) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, text(name)]));
  const address = all(addressLines);
  return {
    name: given['name']?.trim(),
    css: withColours(brand.css ?? '', text('css') ?? '', given) || null,
    assets: all(logos),
    footer: {
      companyName: text('companyName'),
      address: Object.values(address).some((line) => line !== null) ? address : null,
      socialLinks: linksIn(given),
    },
  };
}

export const brandPages: readonly Page[] = [
  {
    path: '/brands',
    needs: 'brands:read',
    show: list,
    actions: {
      make: {
        needs: 'brands:write',
        run: async (asked, given) => {
          const { slug = '', name = '' } = given;
          const body = { slug: slug.trim(), name: name.trim() };
          const made = await asked.ask(brandRoutes.create, { body });
          return `/console/brands/${made.slug}`;
        },
      },
    },
  },
  {
    path: '/brands/:slug',
    needs: 'brands:read',
    show: one,
    actions: {
      save: {
        needs: 'brands:write',
        run: async ({ ask, params, path }, given) => {
          const brand = await ask(brandRoutes.get, { params });
          await ask(brandRoutes.update, { params, body: changeOf(brand, given) });
          return { to: `/console${path}`, said: 'Saved.' };
        },
      },
      default: {
        needs: 'brands:write',
        async run({ ask, params, path }) {
          await ask(brandRoutes.makeDefault, { params });
          return { to: `/console${path}`, said: 'It is the default now.' };
        },
      },
      delete: {
        needs: 'brands:delete',
        destroys: true,
        async run({ ask, params }) {
          await ask(brandRoutes.delete, { params });
          return { to: '/console/brands', said: 'The brand is deleted.' };
        },
      },
    },
  },
  { path: '/brands/:slug/html', needs: 'brands:read', show: sample },
];
