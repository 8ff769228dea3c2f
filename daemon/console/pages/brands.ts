// Brands: the looks of mail, and one brand with its CSS, logos and footer.
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, View } from '../page.ts';
import { button, field, form, type List, link, table, time, written } from '../parts.ts';

interface Brand {
  slug: string;
  name: string;
  isDefault: boolean;
  css: string | null;
  assets: Readonly<Record<string, string | null>>;
  footer: {
    companyName: string | null;
    address: Readonly<Record<string, string | null>> | null;
    socialLinks: readonly { label: string; url: string }[];
  };
  updatedAt: string;
}

const logos = { logoUrl: 'Logo', logoDarkUrl: 'Logo on dark', iconUrl: 'Icon' };
const addressLines = {
  street1: 'Street',
  street2: 'Street, second line',
  city: 'City',
  region: 'Region',
  postalCode: 'Postal code',
  country: 'Country',
};
const pathOf = ({ params }: Asked) => `/v1/brands/${params['slug']}`;

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { api, query, may } = asked;
  const found = await api.get<List<Brand>>('/v1/brands', { page: query['page'] });
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

/** Returns the fields of a brand as its form has them. */
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
  const { api, may } = asked;
  const brand = await api.get<Brand>(pathOf(asked));
  const values = given ?? fieldsOf(brand);
  const line = (name: string, label: string) => field({ name, label, value: values[name] });
  const body = together(
    problem,
    html`<div class="row">
      ${may('brands:write') && !brand.isDefault && button(asked, { action: 'default', label: 'Make it the default' })}
      ${may('brands:delete') && button(asked, { action: 'delete', label: 'Delete' })}
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
    request: `GET ${pathOf(asked)}`,
  };
}

/** Returns a change of a brand from its form. */
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
    label: 'Brands',
    needs: 'brands:read',
    show: (asked) => list(asked, {}),
    actions: {
      make: written(
        'brands:write',
        async (asked, given) => {
          const { slug = '', name = '' } = given;
          const body = { slug: slug.trim(), name: name.trim() };
          const made = await asked.api.send<Brand>('POST', '/v1/brands', body);
          return `/console/brands/${made.slug}`;
        },
        list,
      ),
    },
  },
  {
    path: '/brands/:slug',
    needs: 'brands:read',
    show: (asked) => one(asked, null),
    actions: {
      save: written(
        'brands:write',
        async (asked, given) => {
          await asked.api.send('PATCH', pathOf(asked), changeOf(given));
          return `/console${asked.path}`;
        },
        one,
      ),
      default: {
        needs: 'brands:write',
        async run(asked) {
          await asked.api.send('POST', `${pathOf(asked)}/default`);
          return `/console${asked.path}`;
        },
      },
      delete: {
        needs: 'brands:delete',
        async run(asked) {
          await asked.api.send('DELETE', pathOf(asked));
          return '/console/brands';
        },
      },
    },
  },
];
