// Brands over HTTP: their bounds, their merges, their digests, and one default.
import { describe, expect, it } from 'vitest';
import {
  createBrand,
  deleteBrand,
  makeBrandDefault,
  updateBrand,
} from '../../../src/content/brands/brands.ts';
import { findBrand } from '../../../src/content/brands/queries.ts';
import type { Brand } from '../../../src/content/brands/schema.ts';
import {
  brandDigestOf,
  brandValuesOf,
  cssDigestOf,
  findBrandForTemplate,
} from '../../../src/content/brands/values.ts';
import type { Page } from '../../../src/core/api/pagination.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';

interface Refusal {
  _tag: string;
  message: string;
  fields?: Record<string, string[]>;
}

const slugProblem = expect.stringContaining('lower-case letters, digits and hyphens');
const notHttps = 'must be an https:// URL';
const notHeaderSafe = 'must not contain line breaks or control characters';
const address = {
  street1: '1 Main St',
  street2: null,
  city: 'Springfield',
  region: 'IL',
  postalCode: '62701',
  country: 'US',
};

describe.each(stores)('brands on %s', (store) => {
  const { test, api } = eachApi({ store });

  const create = (slug: string, more: object = {}) =>
    api.post<Brand>('/v1/brands', { slug, name: slug, ...more });
  const change = (slug: string, body: object) =>
    api.request<Brand>('PATCH', `/v1/brands/${slug}`, { body });
  const refusal = async (body: object) => {
    const answer = await api.post<Refusal>('/v1/brands', { slug: 'acme', name: 'Acme', ...body });
    return [answer.status, answer.body.fields];
  };
  const defaults = async () => {
    const { body } = await api.get<Page<Brand>>('/v1/brands?limit=100');
    return body.items.flatMap(({ isDefault, slug }) => (isDefault ? [slug] : []));
  };

  it('rejects a slug off its pattern with 422', async () => {
    for (const slug of ['', 'A', 'acme-', '-a', 'a_b', 'a.b', 'é', 'a'.repeat(65), 'a\n', '../x']) {
      const { status, body } = await api.post<Refusal>('/v1/brands', { slug, name: 'Acme' });
      expect([slug, status, body.fields]).toEqual([slug, 422, { slug: [slugProblem] }]);
    }
    expect((await create('a'.repeat(64))).status).toBe(201);
  });

  it('rejects a slug off its pattern in a path with 422', async () => {
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      const body = method === 'PATCH' ? { name: 'x' } : undefined;
      for (const slug of ['Acme', 'a_b', '-a', 'a'.repeat(65)]) {
        const answer = await api.request<Refusal>(method, `/v1/brands/${slug}`, { body });
        expect([answer.status, answer.body.fields]).toEqual([422, { slug: [slugProblem] }]);
      }
    }
    const made = await api.post<Refusal>('/v1/brands/A_/default', undefined);
    expect([made.status, made.body.fields]).toEqual([422, { slug: [slugProblem] }]);
  });

  it('rejects URLs of logos and links that are not plain https URLs', async () => {
    const blank = 'has white space, a control character or a backslash';
    const problems = {
      [notHttps]: [
        ...['http://cdn.example.com/a.png', 'javascript:alert(1)', 'data:image/png;base64,AAAA'],
        ...['//cdn.example.com/a.png', 'https:cdn.example.com/a.png', 'https://[::1', ''],
      ],
      'has a user name or password': ['https://user:pw@cdn.example.com/a.png', 'https://u@a.test'],
      'has characters in its host that no host name has': [
        ...['https://a;script-src/a.png', "https://a'unsafe-inline'/a.png", 'https://a,b/'],
        ...['https://*/', 'https://*.example.com/a.png', 'https://a"b/'],
      ],
      [blank]: [
        ...['https://cdn.example.com/a b.png', 'https://cdn.example.com\\a.png'],
        ...['https://cdn.example.com/\r\nX: y', '\thttps://cdn.example.com'],
      ],
      'must have at most 2048 characters': [`https://cdn.example.com/${'a'.repeat(2_100)}`],
      'has more than 2048 characters': [`https://cdn.example.com/${'é'.repeat(1_000)}`],
    };
    for (const [problem, urls] of Object.entries(problems)) {
      for (const url of urls) {
        const fields = await refusal({
          assets: { logoUrl: url, logoDarkUrl: url, iconUrl: url },
          footer: { socialLinks: [{ label: 'a', url }] },
        });
        const names = ['assets.logoUrl', 'assets.logoDarkUrl', 'assets.iconUrl'];
        const all = [...names, 'footer.socialLinks.0.url'].map((name) => [name, [problem]]);
        expect([url, ...fields]).toEqual([url, 422, Object.fromEntries(all)]);
      }
    }
  });

  it.each([
    ['name', (text: string) => ({ name: text })],
    ['footer.companyName', (text: string) => ({ footer: { companyName: text } })],
    ['footer.address.city', (text: string) => ({ footer: { address: { city: text } } })],
    [
      'footer.socialLinks.0.label',
      (text: string) => ({ footer: { socialLinks: [{ label: text, url: 'https://a.example' }] } }),
    ],
  ])('rejects line breaks, empty and long texts in %s', async (field, bodyOf) => {
    for (const text of ['a\r\nBcc: x@example.com', 'a\nb', 'a\u0001b']) {
      expect(await refusal(bodyOf(text))).toEqual([422, { [field]: [notHeaderSafe] }]);
    }
    for (const text of ['', 'x'.repeat(201), 'a\0b']) {
      expect(await refusal(bodyOf(text))).toEqual([422, { [field]: [expect.any(String)] }]);
    }
  });

  it('rejects CSS with a mistake, a fetch or a bomb, with its line', async () => {
    const bad = [
      'h1 {\n color: red',
      'h1 { color: red }\n}',
      '@import "https://a.example/a.css";',
      '@\\69mport url(https://a.example/a.css);',
      'h1 { background: url(http://a.example/a.png) }',
      'h1 { background: url(file:///etc/passwd) }',
      'h1 { background: u\\72l("javascript:alert(1)") }',
      'h1 { content: "</style><script>alert(1)</script>" }',
      'h1 { content: "{{ brand.name }}" }',
      'h1 { content: "open }',
      '/* open',
      `${'a{'.repeat(10_000)}${'}'.repeat(10_000)}`,
      'a{}'.repeat(30_000),
      `a{${'b:c;'.repeat(20_000)}}`,
      `${'a '.repeat(40_000)}{}`,
    ];
    for (const css of bad) {
      const problem = expect.stringMatching(/^line [12]: /);
      expect([css.slice(0, 60), ...(await refusal({ css }))]).toEqual([
        ...[css.slice(0, 60), 422],
        { css: [problem] },
      ]);
    }
  });

  it('takes CSS with media queries, https images and images in data', async () => {
    const css =
      '@media (max-width: 600px) { .a { background: url("https://a.example/a.png") } }\n' +
      '.b { background: url(data:image/png;base64,AAAA) }';
    expect((await create('acme', { css })).body.css).toBe(css);
  });

  it('bounds the number of links and the bytes of CSS', async () => {
    const link = { label: 'a', url: 'https://a.example/' };
    expect(await refusal({ footer: { socialLinks: Array(21).fill(link) } })).toEqual([
      422,
      { 'footer.socialLinks': ['must have at most 20 entries'] },
    ]);
    const css = `/* ${'é'.repeat(51_200)} */`;
    expect(await refusal({ css })).toEqual([422, { css: ['CSS has at most 100 KB'] }]);
  });

  it('rejects isDefault and a change of the slug with 422', async () => {
    expect(await refusal({ isDefault: true })).toEqual([422, { isDefault: [expect.any(String)] }]);
    await create('acme');
    expect((await change('acme', { slug: 'other' })).status).toBe(422);
  });

  it('answers a taken slug with 409 that names it', async () => {
    await create('acme');
    const { status, body } = await api.post<Refusal>('/v1/brands', { slug: 'acme', name: 'B' });
    expect([status, body._tag]).toEqual([409, 'ConflictError']);
    expect(body.message).toContain('acme');
  });

  it('bounds the CSS and links of all brands together', async () => {
    const css = `h1 {}${' '.repeat(99_990)}`;
    for (let i = 1; i <= 20; i++) expect((await create(`b${i}`, { css })).status).toBe(201);
    const over = await api.post<Refusal>('/v1/brands', { slug: 'over', name: 'Over', css });
    expect([over.status, over.body.message]).toEqual([
      409,
      expect.stringContaining('more than 2,000,000 characters'),
    ]);
    expect((await create('small')).status).toBe(201);
    expect((await change('small', { css })).status).toBe(409);
    expect((await api.get<Brand>('/v1/brands/small')).body.css).toBeNull();
    await api.delete('/v1/brands/b1');
    expect((await change('small', { css })).status).toBe(200);
  });

  it('creates one of concurrent brands with the same slug', async () => {
    const answers = await Promise.all([create('acme'), create('acme'), create('acme')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  it('shows all fields, null where none is given', async () => {
    const { body } = await create('acme');
    expect(body).toEqual({
      id: expect.stringMatching(/^brand_[0-9a-z]{24}$/),
      slug: 'acme',
      name: 'acme',
      isDefault: true,
      css: null,
      assets: { logoUrl: null, logoDarkUrl: null, iconUrl: null },
      footer: { companyName: null, address: null, socialLinks: [] },
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
  });

  it('stores URLs in their normal form', async () => {
    const { body } = await create('acme', {
      assets: { logoUrl: 'HTTPS://CDN.Example.com:443/a"<b>.png' },
    });
    expect(body.assets.logoUrl).toBe('https://cdn.example.com/a%22%3Cb%3E.png');
  });

  it('changes given fields alone, at every depth', async () => {
    const socialLinks = [{ label: 'Blog', url: 'https://a.example/' }];
    await create('acme', {
      css: 'h1 { color: red }',
      assets: { logoUrl: 'https://a.example/l.png', iconUrl: 'https://a.example/i.png' },
      footer: { companyName: 'Acme', address, socialLinks },
    });
    const { body } = await change('acme', {
      assets: { iconUrl: null },
      footer: { address: { city: 'Shelbyville', street2: 'Floor 2' } },
    });
    expect(body).toMatchObject({
      name: 'acme',
      css: 'h1 { color: red }',
      assets: { logoUrl: 'https://a.example/l.png', logoDarkUrl: null, iconUrl: null },
      footer: {
        companyName: 'Acme',
        address: { ...address, city: 'Shelbyville', street2: 'Floor 2' },
        socialLinks,
      },
    });
    const { body: bare } = await change('acme', {
      css: null,
      footer: { address: null, socialLinks: [] },
    });
    expect(bare.footer).toEqual({ companyName: 'Acme', address: null, socialLinks: [] });
    expect(bare.css).toBeNull();
    expect((await api.get<Brand>('/v1/brands/acme')).body).toEqual(bare);
  });

  it('has another digest after each change, and the same after the way back', async () => {
    const { body: made } = await create('acme');
    const seen = new Set([made.digest]);
    const changes = [
      { name: 'Other' },
      { css: 'h1 { color: blue }' },
      { assets: { logoDarkUrl: 'https://a.example/d.png' } },
      { footer: { companyName: 'Other' } },
      { footer: { address: { city: 'Paris' } } },
      { footer: { socialLinks: [{ label: 'b', url: 'https://b.example' }] } },
    ];
    for (const body of changes) seen.add((await change('acme', body)).body.digest);
    expect(seen.size).toBe(changes.length + 1);
    const back = {
      ...{ name: 'acme', css: null, assets: { logoDarkUrl: null } },
      footer: { companyName: null, address: null, socialLinks: [] },
    };
    expect((await change('acme', back)).body.digest).toBe(made.digest);
  });

  it('keeps its digest when it becomes the default', async () => {
    await create('first');
    const { body: made } = await create('second');
    const { body } = await api.post<Brand>('/v1/brands/second/default', undefined);
    expect([body.isDefault, body.digest]).toEqual([true, made.digest]);
  });

  it('is the default if it is the first, else by request', async () => {
    await create('a');
    await create('b');
    expect(await defaults()).toEqual(['a']);
    await api.post('/v1/brands/b/default', undefined);
    expect(await defaults()).toEqual(['b']);
    await api.delete('/v1/brands/b');
    expect(await defaults()).toEqual([]);
    await create('c');
    expect(await defaults()).toEqual([]);
    await api.post('/v1/brands/b/default', undefined);
    await api.post('/v1/brands/c/default', undefined);
    expect(await defaults()).toEqual(['c']);
  });

  it('is one default after concurrent first brands at two daemons', async () => {
    const other = await test.another();
    const slugs = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (let round = 0; round < 5; round++) {
      const made = await Promise.all(
        slugs.map((slug, i) =>
          createBrand(i % 2 === 0 ? test.app : other, test.operator, { slug, name: slug }),
        ),
      );
      expect(made.filter(({ isDefault }) => isDefault)).toHaveLength(1);
      expect(await defaults()).toHaveLength(1);
      for (const slug of slugs) await deleteBrand(test.app, test.operator, slug);
    }
  });

  it('is one default after concurrent changes of two daemons', async () => {
    const slugs = ['a', 'b', 'c', 'd'];
    for (const slug of slugs) await create(slug);
    const other = await test.another();
    await Promise.all(
      slugs.flatMap((slug) => [
        makeBrandDefault(test.app, test.operator, slug),
        makeBrandDefault(other, test.operator, slug),
        updateBrand(other, test.operator, slug, { name: `new ${slug}` }),
      ]),
    );
    expect(await defaults()).toHaveLength(1);
  });

  it('has a digest of its row after concurrent changes of two daemons', async () => {
    await create('acme');
    const other = await test.another();
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => [
        updateBrand(test.app, test.operator, 'acme', { name: `name ${i}` }),
        updateBrand(other, test.operator, 'acme', { css: `h${i} {}` }),
      ]).flat(),
    );
    const row = await findBrand(test.app.store.db, test.operator.organizationId, 'acme');
    expect(row?.digest).toBe(row && brandDigestOf(row));
    expect([row?.name, row?.css]).not.toEqual(['acme', null]);
  });

  it('of a template is the named one, else the default, else none', async () => {
    const { organizationId } = test.operator;
    const find = (slug: string | null) =>
      findBrandForTemplate(test.app.store.db, organizationId, slug);
    expect(await find(null)).toBeNull();
    await create('a', { footer: { companyName: 'Acme', address }, css: 'h1 {}' });
    await create('b');
    expect([(await find(null))?.slug, (await find('b'))?.slug]).toEqual(['a', 'b']);
    expect(await find('c')).toBeNull();
    const row = await find('a');
    expect(row && brandValuesOf(row)).toEqual({
      ...{ name: 'a', slug: 'a', logoUrl: null, logoDarkUrl: null, iconUrl: null },
      footer: { companyName: 'Acme', address, socialLinks: [] },
    });
    expect(row && cssDigestOf(row)).toMatch(/^sha256:[0-9a-f]{64}$/);
    await api.delete('/v1/brands/a');
    expect(await find(null)).toBeNull();
  });

  it('leaves no CSS in the audit', async () => {
    await create('acme', { css: '.secret-look { color: red }' });
    await change('acme', { css: '.other-look { color: red }' });
    const { body } = await api.get<Page<object>>('/v1/audit?limit=100');
    expect(JSON.stringify(body)).toContain('brand.updated');
    expect(JSON.stringify(body)).not.toMatch(/secret-look|other-look/);
  });
});
