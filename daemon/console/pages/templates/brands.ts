// Brands: the design of mail, and a single brand with CSS, logos and footer.
import { brandRoutes } from '../../../../src/content/brands/routes.ts';
import type { Brand } from '../../../../src/content/brands/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { confirmed } from '../../parts/confirm.ts';
import { button, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';

const logos = { logoUrl: 'Logo', logoDarkUrl: 'Logo on dark', iconUrl: 'Icon' };
const addressLines = {
  street1: 'Street',
  street2: 'Street, second line',
  city: 'City',
  region: 'Region',
  postalCode: 'Postal code',
  country: 'Country',
};

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, query, may } = asked;
  const found = await ask(brandRoutes.list, { query: { page: query['page'] } });
  const body = together(
    problem,
    table(
      asked,
      found,
      [
        ['Name', ({ slug, name }) => link(`/brands/${slug}`, name)],
        ['Slug', ({ slug, isDefault }) => `${slug} ${isDefault ? '(default)' : ''}`],
        ['Changed', ({ updatedAt }) => time(updatedAt)],
      ],
      'There is no brand yet: "svc brands create" makes one, and so does the form below.',
    ),
    may('brands:write') && html`<h2>Make a brand</h2>`,
    may('brands:write') &&
      form(
        asked,
        'make',
        'Make the brand',
        html`
        ${field({ name: 'slug', label: 'Slug', value: given['slug'], isRequired: true })}
        ${field({ name: 'name', label: 'Name', value: given['name'], isRequired: true })}
      `,
      ),
  );
  return { title: 'Brands', body, command: 'svc brands list', request: 'GET /v1/brands' };
}

/** Returns the fields of a brand for the form. */
function fieldsOf({ name, css, assets, footer }: Brand): Form {
  const all: Record<string, string | null | undefined> = {
    name,
    css,
    companyName: footer.companyName,
    links: footer.socialLinks.map(({ label, url }) => `${label} ${url}`).join('\n'),
    ...assets,
    ...footer.address,
  };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, value ?? '']));
}

async function one(asked: Asked, given: Form | null, problem: Part = null): Promise<View> {
  const { ask, may, params } = asked;
  const brand = await ask(brandRoutes.get, { params });
  const values = given ?? fieldsOf(brand);
  const line = (name: string, label: string) => field({ name, label, value: values[name] });
  const body = together(
    problem,
    html`<div class="row">
      ${may('brands:write') && !brand.isDefault && button(asked, { action: 'default', label: 'Make it the default' })}
      ${may('brands:delete') && confirmed(asked, { action: 'delete', label: 'Delete', question: `Delete ${brand.name}?`, goes: 'Its colours, logo and footer go. Published templates keep their look.' })}
    </div>`,
    may('brands:write')
      ? form(
          asked,
          'save',
          'Save',
          html`
        ${line('name', 'Name')}
        ${field({ name: 'css', label: 'CSS', type: 'textarea', value: values['css'], rows: 12, hint: 'Inlined when a template is published' })}
        ${Object.entries(logos).map(([name, label]) => line(name, `${label}, an https:// URL`))}
        <h2>Footer</h2>
        ${line('companyName', 'Company')}
        ${Object.entries(addressLines).map(([name, label]) => line(name, label))}
        ${field({ name: 'links', label: 'Links, one a line: label and URL', type: 'textarea', value: values['links'], rows: 3 })}
      `,
        )
      : html`<pre>${brand.css}</pre>`,
  );
  return {
    title: brand.name,
    body,
    command: `svc brands show ${brand.slug}`,
    request: `GET /v1/brands/${params['slug']}`,
  };
}

/** Returns a change of a brand from the form. */
function changeOf(given: Form): object {
  const text = (name: string) => given[name]?.trim() || null;
  const all = (names: object) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, text(name)]));
  const address = all(addressLines);
  const links = (given['links'] ?? '').split('\n').filter((line) => line.trim() !== '');
  return {
    name: given['name']?.trim(),
    css: text('css'),
    assets: all(logos),
    footer: {
      companyName: text('companyName'),
      address: Object.values(address).some((line) => line !== null) ? address : null,
      socialLinks: links.map((line) => {
        const [, label = '', url = ''] = /^(.*)\s(\S+)$/.exec(line.trim()) ?? [];
        return { label, url };
      }),
    },
  };
}

export const brandPages: readonly Page[] = [
  {
    path: '/brands',
    needs: 'brands:read',
    show: (asked) => list(asked, {}),
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
    show: (asked) => one(asked, null),
    actions: {
      save: {
        needs: 'brands:write',
        run: async ({ ask, params, path }, given) => {
          await ask(brandRoutes.update, { params, body: changeOf(given) });
          return `/console${path}`;
        },
      },
      default: {
        needs: 'brands:write',
        async run({ ask, params, path }) {
          await ask(brandRoutes.makeDefault, { params });
          return `/console${path}`;
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
];
