// svc brands …: fields that lie in others by flags, and CSS from a file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Brand } from '../../../src/content/brands/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
});
afterAll(() => cli.close());

const create = ['brands', 'create', '--name', 'Acme', '--slug'];

it('a link without LABEL=URL is a usage error', async () => {
  for (const link of ['Blog', '=https://a.example', 'Blog=']) {
    const { code, stderr } = await cli.run([...create, 'bad', '--social-link', link]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not LABEL=URL')]);
  }
});

it('a missing file of CSS is a usage error', async () => {
  const { code, stderr } = await cli.run([...create, 'bad', '--css', '@missing.css']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('missing.css: cannot be read')]);
});

it('a mistake in CSS has its line', async () => {
  writeFileSync(join(cli.directory, 'bad.css'), 'h1 {}\n@import "a.css";\n');
  const { code, stderr } = await cli.run([...create, 'bad', '--css', '@bad.css']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('line 2: @import')]);
});

it('flags fill the fields of assets, footer and address', async () => {
  writeFileSync(join(cli.directory, 'acme.css'), 'h1 { color: red }\n');
  const made = await cli.json<Brand>([
    ...[...create, 'acme', '--css', '@acme.css', '--logo-url', 'https://a.example/l.png'],
    ...['--social-link', 'Blog=https://a.example/?q=1', '--social-link', 'News=https://b.example/'],
    ...['--city', 'Springfield', '--postal-code', '62701'],
  ]);
  expect(made).toMatchObject({
    slug: 'acme',
    css: 'h1 { color: red }\n',
    isDefault: true,
    assets: { logoUrl: 'https://a.example/l.png', iconUrl: null },
    footer: {
      address: { street1: null, city: 'Springfield', postalCode: '62701' },
      socialLinks: [
        { label: 'Blog', url: 'https://a.example/?q=1' },
        { label: 'News', url: 'https://b.example/' },
      ],
    },
  });
  const changed = await cli.json<Brand>(['brands', 'update', 'acme', '--street1', '1 Main St']);
  expect(changed.footer).toEqual({
    ...made.footer,
    address: { ...made.footer.address, street1: '1 Main St' },
  });
  expect(changed.assets).toEqual(made.assets);
});

it('a brand is deleted only with --yes', async () => {
  const { code, stderr } = await cli.run(['brands', 'delete', 'acme']);
  expect(code).toBe(2);
  expect(stderr).toContain('add --yes');
  expect((await cli.run(['brands', 'delete', 'acme', '--yes'])).code).toBe(0);
  expect((await cli.run(['brands', 'show', 'acme'])).code).toBe(3);
});
