// svc blocks …, run by people and scripts.
// Slow: interrupted imports are processes of their own.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import BlocksImport from '../../../commands/blocks/import.ts';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { Block } from '../../../src/people/blocks/schema.ts';
import { blockFiles } from '../../../src/people/imports/block-rows.ts';
import type { ImportReport } from '../../../src/people/imports/blocks.ts';
import { type CliWorkspace, finished, initializedWorkspace } from '../../support/cli.ts';

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
});
afterAll(() => cli.close());

const write = (name: string, text: string) => writeFileSync(join(cli.directory, name), text);

it('an address is blocked, found and unblocked by command', async () => {
  const made = await cli.json<Block>(['blocks', 'add', 'Ada@example.com', '--reason', 'bounce']);
  expect(made).toMatchObject({ address: 'Ada@example.com', reason: 'bounce', messageId: null });
  expect((await cli.run(['blocks', 'add', 'ada@example.com'])).code).toBe(5);
  expect(await cli.json(['blocks', 'show', 'ada@example.com'])).toEqual(made);
  expect((await cli.json<Page<Block>>(['blocks', 'list', '--reason', 'bounce'])).items).toEqual([
    made,
  ]);
  const unconfirmed = await cli.run(['blocks', 'delete', made.id]);
  expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining('add --yes')]);
  const deleted = await cli.json(['blocks', 'delete', 'ada@example.com', '--yes']);
  expect(deleted).toEqual({ success: true, message: `Block ${made.id} is deleted` });
  expect((await cli.run(['blocks', 'show', made.id])).code).toBe(3);
});

it('many blocks are lifted by reason, time and domain, after a look', async () => {
  write(
    'bounced.csv',
    'email,reason\n'.concat(
      ['eva@down.example', 'EDE@Down.Example', 'fay@elsewhere.example']
        .map((email) => `${email},bounce\n`)
        .join(''),
      'gus@down.example,complaint\n',
    ),
  );
  expect((await cli.run(['blocks', 'import', 'bounced.csv', '--yes'])).code).toBe(0);
  const wanted = ['blocks', 'delete', '--reason', 'bounce', '--since', '2h'];
  const asked = await cli.run([...wanted, '--domain', 'down.example']);
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain('Lift 2 blocks (eva@down.example, EDE@down.example)?');
  expect((await cli.run(['blocks', 'show', 'eva@down.example'])).code).toBe(0);
  expect(await cli.json([...wanted, '--domain', 'DOWN.example', '--yes'])).toEqual({ lifted: 2 });
  for (const address of ['fay@elsewhere.example', 'gus@down.example']) {
    expect((await cli.run(['blocks', 'show', address])).code).toBe(0);
  }
  const later = new Date(Date.now() + 60_000).toISOString();
  const none = ['blocks', 'delete', '--reason', 'bounce', '--since', later];
  expect((await cli.run(none)).stdout).toBe('No block fits.\n');
  expect(await cli.json([...wanted, '--yes'])).toEqual({ lifted: 1 });
});

it.each([
  [[]],
  [['--since', '2h', '--yes']],
  [['--domain', 'down.example', '--yes']],
  [['ada@example.com', '--reason', 'bounce', '--yes']],
])('blocks delete %j is a usage error', async (given) => {
  expect((await cli.run(['blocks', 'delete', ...given])).code).toBe(2);
});

it('a send to a blocked address names the command that unblocks it', async () => {
  const { id } = await cli.json<Block>(['blocks', 'add', 'bob@example.com']);
  const args = ['messages', 'send', '--to', 'bob@example.com', '--subject', 'Hi', '--text', 'Hi'];
  const sent = await cli.json<{ deliveries: { errorMessage: string }[] }>(args);
  const [, command = ''] = /`svc ([^`]*)`/.exec(sent.deliveries[0]?.errorMessage ?? '') ?? [];
  expect(command).toBe(`blocks delete ${id}`);
  expect((await cli.run([...command.split(' '), '--yes'])).code).toBe(0);
  expect(await cli.json(args)).toMatchObject({ status: 'pending' });
});

it('an import previews with --dry-run, and applies without', async () => {
  write('list.csv', 'email,reason\ncy@example.com,bounce\nnobody,bounce\ndi@example.com,spam\n');
  const preview = await cli.run(['blocks', 'import', 'list.csv', '--dry-run']);
  expect(preview.code).toBe(8);
  expect(preview.stderr).toBe('read 100 %\nsvc: 1 row was rejected\n');
  expect(preview.stdout.split('\n').map((line) => line.trimEnd())).toEqual([
    'List of addresses: 3 rows',
    '  2 would be added (1 bounce, 1 complaint)',
    '  0 exist already',
    '  0 skipped: no blocks',
    '  1 rejected',
    '',
    'Would be added',
    'line  address         reason',
    '2     cy@example.com  bounce',
    '4     di@example.com  complaint',
    '',
    'Rejected',
    'line  address  reason',
    '3     nobody   is not a valid email address',
    '',
    'Preview: nothing was changed.',
    '',
  ]);
  expect((await cli.run(['blocks', 'show', 'cy@example.com'])).code).toBe(3);
  const done = await cli.run(['blocks', 'import', 'list.csv', '--json']);
  expect(done.code).toBe(8);
  expect(JSON.parse(done.stdout)).toMatchObject({
    dryRun: false,
    added: { count: 2 },
    rejected: { count: 1 },
  });
  expect((await cli.run(['blocks', 'show', 'cy@example.com'])).code).toBe(0);
});

it('an import reads standard input', async () => {
  const input = '{"emailAddress":"eve@example.com","reason":"COMPLAINT"}\n';
  const report = await cli.json<ImportReport>(['blocks', 'import', '-', '--dry-run'], { input });
  expect(report).toMatchObject({ format: 'ses', dryRun: true, added: { count: 1 } });
});

it.each([
  ['missing.csv', /missing\.csv: cannot be read/],
  ['.', /cannot be read/],
  ['utf16.csv', /not UTF-8 text/],
  ['open.csv', /Line 2: a quotation mark is not closed/],
])('an import of %s ends with 2 and gives the reason', async (file, text) => {
  writeFileSync(join(cli.directory, 'utf16.csv'), Buffer.from('email\n', 'utf16le'));
  write('open.csv', 'email\n"ada@example.com\n');
  const { code, stdout, stderr } = await cli.run(['blocks', 'import', file]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(text);
});

it('an address with escape sequences does not steer the terminal', async () => {
  write('steer.csv', 'email\n"\u001b[31m\u202eevil"\n');
  const { stdout } = await cli.run(['blocks', 'import', 'steer.csv', '--dry-run']);
  expect(stdout).toContain('\uFFFD[31m\uFFFDevil');
  expect(stdout).not.toContain('\u001b');
});

it('an export goes to standard output or to a file of its owner, and can be imported again', async () => {
  await cli.run(['blocks', 'import', '-'], { input: '=1+1@example.com,manual\n' });
  const printed = await cli.run(['blocks', 'export', '--reason', 'manual']);
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  expect(printed.stdout).toMatch(/^id,address,.*\nblk_\w+,'=1\+1@example\.com,manual,/m);
  const jsonLines = await cli.run(['blocks', 'export', '--json', '--reason', 'manual']);
  expect(JSON.parse(jsonLines.stdout)).toMatchObject({ address: '=1+1@example.com' });

  const args = ['blocks', 'export', '--output', 'blocks.csv'];
  const { blocks } = await cli.json<{ blocks: number }>(args);
  const file = join(cli.directory, 'blocks.csv');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(blocks + 1);
  expect((await cli.run(args)).code).toBe(5);
  expect((await cli.run([...args, '--overwrite'])).code).toBe(0);
  expect(await cli.json(['blocks', 'import', 'blocks.csv'])).toMatchObject({
    format: 'svc',
    added: { count: 0 },
    existing: { count: blocks },
  });
});

it('an export into a pipe that closes early ends quietly', async () => {
  const input = Array.from({ length: 5_000 }, (_, i) => `p${i}@example.com\n`).join('');
  await cli.run(['blocks', 'import', '-'], { input });
  const child = cli.start(['blocks', 'export']);
  let stderr = '';
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  child.stdout?.once('data', () => child.stdout?.destroy());
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect([code, stderr]).toEqual([0, '']);
});

it.each(['SIGINT', 'SIGTERM'] as const)(
  'an import interrupted by %s reports its progress, and the same command adds the rest',
  async (signal) => {
    // Rows of 80 bytes: a file larger than the limit of reading ahead, with few blocks to store.
    const total = 50_000;
    const name = `${signal}.csv`.toLowerCase();
    const rows = Array.from(
      { length: total },
      (_, n) => `row${n}.${signal}@example.com,${'x'.repeat(54)}\n`,
    );
    write(name, `email,remark\n${rows.join('')}`);
    const args = ['blocks', 'import', name];
    const child = cli.start(args);
    const ended = finished(child);
    // Batches are stored by then: a file is read at most 2 MB ahead of its stored rows.
    child.stderr?.on('data', (text: string) => {
      if (text.includes('read 75 %')) child.kill(signal);
    });
    const { code, stdout, stderr } = await ended;
    const words = /interrupted after ([\d,]+) rows, ([\d,]+) added\. Run the same command again/;
    const [, read, added] = (words.exec(stderr) ?? [stderr]).map((text) =>
      Number(text.replaceAll(',', '')),
    );
    expect([code, stdout, added]).toEqual([130, '', read]);
    expect(added).toBeGreaterThan(0);
    expect(added).toBeLessThan(total);
    const again = await cli.json<ImportReport>(args);
    expect([again.rows, again.added.count + again.existing.count]).toEqual([total, total]);
    // The batch under way at the signal may be stored too.
    expect([0, 500]).toContain(again.existing.count - (added ?? 0));
  },
  60_000,
);

it('an interrupted preview reports that nothing was changed', async () => {
  const child = cli.start([
    ...['blocks', 'import', 'sigint.csv', '--reason', 'bounce', '--dry-run'],
  ]);
  const ended = finished(child);
  child.stderr?.on('data', (text: string) => {
    if (text.includes('read 25 %')) child.kill('SIGINT');
  });
  const { code, stderr } = await ended;
  expect([code, stderr]).toEqual([
    130,
    expect.stringMatching(/interrupted after [\d,]+ rows: nothing was changed\n$/),
  ]);
});

it('the help of import names every format', () => {
  const { description } = BlocksImport.flags.format;
  for (const { blocks } of blockFiles) expect(description).toContain(blocks.name);
});

it('an import reads the JSON of SES on one line or on many', async () => {
  const summaries = [
    { EmailAddress: 'ses1@example.com', Reason: 'BOUNCE', LastUpdateTime: '2026-01-02T03:04:05Z' },
    { EmailAddress: 'ses2@example.com', Reason: 'COMPLAINT' },
    'nonsense',
  ];
  for (const [name, indent] of [
    ['one', 0],
    ['many', 4],
  ] as const) {
    const document = { SuppressedDestinationSummaries: summaries, NextToken: 'x' };
    write(`${name}.json`, JSON.stringify(document, null, indent));
    const preview = await cli.run(['blocks', 'import', `${name}.json`, '--dry-run', '--json']);
    expect(preview.code).toBe(8);
    expect(JSON.parse(preview.stdout)).toMatchObject({
      format: 'ses',
      rows: 3,
      added: { count: 2, reasons: { bounce: 1, complaint: 1 } },
      rejected: { count: 1, first: [{ line: 3 }] },
    });
  }
  write('cut.json', '{"SuppressedDestinationSummaries": [{"Email');
  expect((await cli.run(['blocks', 'import', 'cut.json'])).stderr).toContain('incomplete');
});

it('an import of one page of an SES list warns that there are more', async () => {
  const page = (name: string, more: object) => {
    const summaries = [{ EmailAddress: `${name}@example.com`, Reason: 'BOUNCE' }];
    write(`${name}.json`, JSON.stringify({ SuppressedDestinationSummaries: summaries, ...more }));
  };
  page('page', { NextToken: 'secret-token' });
  page('whole', {});
  page('last', { NextToken: null });
  const importOf = (name: string, ...flags: string[]) =>
    cli.run(['blocks', 'import', `${name}.json`, ...flags]);

  const preview = await importOf('page', '--dry-run');
  expect(preview.stderr).toBe(
    'read 100 %\nwarning: page.json is one page of a longer list: it has a NextToken. Fetch ' +
      'the other pages with "aws sesv2 list-suppressed-destinations --next-token …" and import each\n',
  );
  expect([preview.code, preview.stdout]).toEqual([0, expect.stringContaining('1 would be added')]);
  const done = await importOf('page', '--json');
  expect(done.stderr).toContain('warning: page.json is one page');
  expect(JSON.parse(done.stdout)).toMatchObject({ added: { count: 1 }, isPartial: true });
  for (const name of ['whole', 'last']) {
    const { stdout, stderr } = await importOf(name, '--dry-run', '--json');
    expect(stderr).not.toContain('warning');
    expect(JSON.parse(stdout)).not.toHaveProperty('isPartial');
  }
});

it('a list shows the unsubscribe group of a block', async () => {
  const { stdout } = await cli.run(['blocks', 'list']);
  expect(stdout.split('\n')[0]).toMatch(/unsubscribeGroupId/);
});
