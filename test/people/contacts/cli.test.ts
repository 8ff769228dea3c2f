// svc contacts import|export and svc groups: the binary, run by people and scripts.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { ContactGroup } from '../../../src/people/contacts/groups/schema.ts';
import type { Contact, ImportReport } from '../../../src/people/contacts/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
});
afterAll(() => cli.close());

const file =
  'email,name,status\nada@example.com,Ada,\nnobody,X,\nbob@example.com,Bob,unsubscribed\n';

it('an import previews, applies, and then changes nothing', async () => {
  writeFileSync(join(cli.directory, 'people.csv'), file);
  const preview = await cli.run(['contacts', 'import', 'people.csv', '--dry-run']);
  expect([preview.code, preview.stderr]).toEqual([0, 'read 100 %\n']);
  expect(preview.stdout.split('\n').map((line) => line.trimEnd())).toEqual([
    'plain: 3 rows',
    '  2 would be created',
    '  0 would be updated',
    '  0 unchanged',
    '  1 rejected',
    '',
    'Rejected',
    'row  field  reason',
    '2    email  is not a valid email address',
    '',
  ]);
  const list = () => cli.json<Page<Contact>>(['contacts', 'list']);
  expect((await list()).items).toEqual([]);
  const done = await cli.json<ImportReport>(['contacts', 'import', 'people.csv']);
  expect(done).toEqual({
    format: 'plain',
    dryRun: false,
    created: 2,
    updated: 0,
    unchanged: 0,
    rejected: 1,
    rows: [{ row: 2, field: 'email', reason: 'is not a valid email address' }],
  });
  expect((await list()).items.map(({ status }) => status)).toEqual(['unsubscribed', 'active']);
  const { stdout } = await cli.run(['contacts', 'import', '-', '--json'], { input: file });
  expect(JSON.parse(stdout)).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
});

it('a missing or unusable file ends an import with 2', async () => {
  const missing = await cli.run(['contacts', 'import', 'nowhere.csv']);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('nowhere.csv')]);
  const { code, stderr } = await cli.run(['contacts', 'import', '-'], { input: 'a,b\n1,2\n' });
  expect([code, stderr]).toEqual([2, expect.stringContaining('no column email or externalId')]);
});

it('an export goes to a new file or to standard output', async () => {
  const written = await cli.run(['contacts', 'export', '--output', 'all.csv']);
  expect([written.code, written.stdout, written.stderr]).toEqual([
    0,
    'Wrote 2 contacts to all.csv.\n',
    expect.stringContaining('written 100 %'),
  ]);
  const name = join(cli.directory, 'all.csv');
  expect(readFileSync(name, 'utf8').split('\n')).toHaveLength(4);
  expect(statSync(name).mode & 0o777).toBe(0o600);
  expect((await cli.run(['contacts', 'export', '--output', 'all.csv'])).code).toBe(5);
  const { stdout } = await cli.run(['contacts', 'export', '--json']);
  const { items } = await cli.json<Page<Contact>>(['contacts', 'list']);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(items.reverse());
});

it('groups add and groups remove change the members', async () => {
  const { items } = await cli.json<Page<Contact>>(['contacts', 'list']);
  const [first, second] = items.map(({ id }) => id) as [string, string];
  const { id } = await cli.json<ContactGroup>(['groups', 'create', '--name', 'Testers']);
  const both = ['--contact', first, '--contact', second];
  expect(await cli.json(['groups', 'add', id, ...both])).toMatchObject({ memberCount: 2 });
  const one = await cli.json(['groups', 'remove', id, '--contact', first]);
  expect(one).toMatchObject({ id, memberCount: 1 });
  const members = await cli.json<Page<Contact>>(['groups', 'members', id]);
  expect(members.items.map((contact) => contact.id)).toEqual([second]);
});

it('a list shows the addresses of contacts', async () => {
  const { stdout } = await cli.run(['contacts', 'list']);
  expect(stdout).toContain('ada@example.com');
});
