// svc contacts import|export and svc groups: the binary, run by people and scripts.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { ContactGroup } from '../../../src/people/contacts/groups/schema.ts';
import type { Contact, ImportReport } from '../../../src/people/contacts/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';
import { hasTerminal, onTerminal } from '../../support/terminal.ts';

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
  expect([preview.code, preview.stderr]).toEqual([8, 'read 100 %\nsvc: 1 row was rejected\n']);
  expect(preview.stdout.split('\n').map((line) => line.trimEnd())).toEqual([
    'plain: 3 rows',
    '  2 would be created',
    '  0 would be updated',
    '  0 unchanged',
    '  1 rejected',
    '',
    'Rejected',
    'line  field  reason',
    '3     email  is not a valid email address',
    '',
    'Preview: nothing was changed.',
    '',
  ]);
  const list = () => cli.json<Page<Contact>>(['contacts', 'list']);
  expect((await list()).items).toEqual([]);
  const done = await cli.run(['contacts', 'import', 'people.csv', '--json']);
  expect(done.code).toBe(8);
  const report: ImportReport = JSON.parse(done.stdout);
  expect(report).toEqual({
    format: 'plain',
    encoding: 'utf-8',
    map: { email: 'email', name: 'name', status: 'status' },
    dryRun: false,
    created: 2,
    updated: 0,
    unchanged: 0,
    rejected: 1,
    rows: [{ row: 2, line: 3, field: 'email', reason: 'is not a valid email address' }],
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

it('an import ends with 2 for an unclear column of consent, and --map gives its meaning', async () => {
  const input = 'email,Opt-in (DOI)\ncy@example.com,no\n';
  const asking = await cli.run(['contacts', 'import', '-'], { input });
  expect([asking.code, asking.stdout]).toEqual([2, '']);
  expect(asking.stderr).toContain('Opt-in (DOI)');
  const map = ['--map', 'Opt-in (DOI)=subscribed', '--map', 'email=email'];
  const report = await cli.json<ImportReport>(['contacts', 'import', '-', ...map], { input });
  expect(report).toMatchObject({
    created: 1,
    map: { email: 'email', 'Opt-in (DOI)': 'subscribed' },
  });
  const { items } = await cli.json<Page<Contact>>(['contacts', 'list', '--limit', '1']);
  expect(items[0]?.status).toBe('unsubscribed');
});

it('an import of a file in Latin-1 warns of it', async () => {
  const latin = Buffer.from('email,name\njo@example.com,J\u00f6rgen\n', 'latin1');
  writeFileSync(join(cli.directory, 'latin.csv'), latin);
  const { code, stdout, stderr } = await cli.run(['contacts', 'import', 'latin.csv', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { created: 1, encoding: 'windows-1252' }]);
  expect(stderr).toContain('warning: latin.csv is not in UTF-8: it was read as Windows-1252');
});

describe.skipIf(!hasTerminal)('an import on a terminal', () => {
  it.each(['contacts', 'blocks'])('of %s previews, asks and applies', async (topic) => {
    writeFileSync(join(cli.directory, 'asked.csv'), 'email\nasked@example.com\n');
    const command = `${topic} import asked.csv`;
    const no = await onTerminal(cli, command, { dialogue: [{ after: '(y/N)', keys: 'n\r' }] });
    expect(no.output).toContain('Preview: nothing was changed.');
    expect([no.code, no.output]).toEqual([1, expect.stringContaining('svc: nothing was changed')]);
    const yes = await onTerminal(cli, command, { dialogue: [{ after: '(y/N)', keys: 'y\r' }] });
    const word = topic === 'blocks' ? '1 added' : '1 created';
    expect([yes.code, yes.output]).toEqual([0, expect.stringContaining(word)]);
    const again = await onTerminal(cli, command);
    expect([again.code, again.output]).toEqual([0, expect.not.stringContaining('(y/N)')]);
  });
});

it('a list shows the addresses of contacts', async () => {
  const { stdout } = await cli.run(['contacts', 'list']);
  expect(stdout).toContain('ada@example.com');
});
