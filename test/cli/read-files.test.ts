// The files that commands read: each flag and argument by its form. A new one fails here until it
// is listed and reads through commands/base/input/files.ts.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCommandIds } from '../../commands/base/input/typed.ts';
import { readTemplateFolder } from '../../commands/base/nouns/template-folder.ts';
import { decodeUtf8 } from '../../src/platform/runtime/utf8.ts';
import { commandClass, sources } from '../docs/write.ts';
import { type CliWorkspace, initializedWorkspace } from '../support/cli.ts';

/** Forms of an input: a text or JSON in a flag, the path of a text, of JSON or of other bytes. */
type Form = 'text' | 'json' | 'text-file' | 'json-file' | 'bytes' | 'table' | 'folder' | 'config';

/** Every flag `--data` is JSON. */
const forms: Readonly<Record<string, Form>> = {
  'blocks:import file': 'table',
  'brands:create --css': 'text',
  'brands:update --css': 'text',
  'campaigns:create --html': 'text',
  'campaigns:create --text': 'text',
  'campaigns:create --attach': 'bytes',
  'campaigns:update --html': 'text',
  'campaigns:update --text': 'text',
  'campaigns:update --attach': 'bytes',
  'contacts:import file': 'table',
  'domains:dkim:import --key': 'text',
  'groups:create --query': 'json',
  'groups:update --query': 'json',
  'import:templates file': 'text-file',
  'mailboxes:approve --text': 'text',
  'mailboxes:approve --html': 'text',
  'mailboxes:receive (standard input)': 'bytes',
  'messages:send --text': 'text',
  'messages:send --html': 'text',
  'messages:send --attach': 'bytes',
  'receipt:verify file': 'json-file',
  'receipt:verify --mime': 'bytes',
  'receipt:verify --keys': 'json-file',
  'rehearse --scenario': 'config',
  'sendmail (standard input)': 'bytes',
  'templates:create --from': 'folder',
  'saved-replies:create --html': 'text',
  'saved-replies:create --text': 'text',
  'saved-replies:update --html': 'text',
  'saved-replies:update --text': 'text',
  'templates:create --html': 'text',
  'templates:create --mjml': 'text',
  'templates:create --text': 'text',
  'templates:lint template': 'folder',
  'templates:pull dir': 'folder',
  'templates:push dir': 'folder',
  'threads:forward --text': 'text',
  'threads:forward --html': 'text',
  'threads:forward --attach': 'bytes',
  'threads:note --body': 'text',
  'threads:reply --text': 'text',
  'threads:reply --html': 'text',
  'threads:reply --attach': 'bytes',
  'webhooks:verify --headers': 'text-file',
  'webhooks:verify --secret-file': 'text-file',
  'webhooks:verify (standard input)': 'bytes',
};

/** Flags and arguments that speak of files and read none. */
const notRead = [
  'backup --overwrite',
  'backup --with-secret',
  'backup file',
  'blocks:export --output',
  'blocks:export --overwrite',
  'contacts:export --output',
  'contacts:export --overwrite',
  'daemon --ready-file',
  'daemon:drain --ready-file',
  'daemon:unit --docker',
  'import:templates --from',
  'mcp (standard input)',
  'migrate:copy --to',
  'orgs:create --payment-method',
  'orgs:update --payment-method',
  'templates:clone dir',
  'templates:render --output',
  'threads:list --folder',
  'threads:move folder',
];

/** Sources of commands that open files on their own, and the reason. */
const otherReaders: Readonly<Record<string, string>> = {
  'commands/base/account/file-operations.ts': 'reads folders, and writes files',
  'commands/backup.ts': 'streams the copy that it made',
  'commands/base/input/ask.ts': 'asks a person at the terminal',
  'commands/base/input/files.ts': 'is the reader',
  'commands/base/machine-names.ts': 'reads /etc/hosts',
  'commands/base/output/screen.ts': 'reads keys of a person',
  'commands/base/production/machine.ts': 'reads what runs on the machine',
  'commands/base/start.ts': 'reads the version of the package',
};

const speaksOfFile = /\bfile\b|\bfolder\b|standard input|\bas JSON\b/i;
const common = ['config', 'json'];

interface Words {
  description?: string | undefined;
  helpValue?: unknown;
}

async function inputsOf(id: string): Promise<string[]> {
  const { flags = {}, args = {}, summary = '', description = '' } = await commandClass(id);
  const named = [
    ...Object.entries(flags as Record<string, Words>).map(([name, one]) => [`--${name}`, one]),
    ...Object.entries(args as Record<string, Words>),
  ] as [string, Words][];
  const found = named
    .filter(([name]) => !common.includes(name.slice(2)))
    .filter(([, one]) => speaksOfFile.test(`${one.description} ${one.helpValue}`))
    .map(([name]) => `${id} ${name}`);
  const isPiped = /from standard input|on standard input/i.test(`${summary} ${description}`);
  return isPiped ? [...found, `${id} (standard input)`] : found;
}

const ids = listCommandIds();
const isData = (name: string) => name.endsWith(' --data');

describe('inputs of commands', () => {
  it('are all listed with their form', async () => {
    const found = (await Promise.all(ids.map(inputsOf))).flat().filter((name) => !isData(name));
    expect(new Set(found)).toEqual(new Set([...Object.keys(forms), ...notRead]));
  });

  it('are read by the one reader of files', () => {
    const reads = /\breadFile(?:Sync)?\(|\bcreateReadStream\(|process\.stdin\b|\bopen(?:Sync)?\(/;
    const own = sources
      .filter((path) => path.startsWith('commands/'))
      .filter((path) => {
        const text = readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
        const isOurs = /import \{ readFile\b[^}]*\} from '\.\.\/base\/input\/files\.ts'/.test(text);
        const rest = isOurs ? text.replaceAll('readFile(', '') : text;
        return reads.test(rest.replaceAll(/from '[^']*'/g, ''));
      });
    expect(new Set(own)).toEqual(new Set(Object.keys(otherReaders)));
  });
});

/** Values of arguments and flags without which a command does not begin to read. */
const neededFlags: Readonly<Record<string, string[]>> = {
  'brands:create': ['--name', 'x'],
  'campaigns:create': ['--name', 'x'],
  'domains:dkim:import': ['--key', 'x'],
  'groups:create': ['--name', 'x'],
  'import:templates': ['--from', 'ses'],
};

const latin = Buffer.from('{"a": "Grüße"}', 'latin1');

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
  writeFileSync(join(cli.directory, 'latin1.txt'), latin);
  writeFileSync(join(cli.directory, 'right.json'), '{}');
  mkdirSync(join(cli.directory, 'empty'));
});
afterAll(() => cli.close());

async function runReading(name: string, value: string, input: string | Buffer = '') {
  const [id = '', flag = ''] = name.split(' ');
  const command = await commandClass(id);
  const args = Object.entries((command.args ?? {}) as Record<string, { required?: boolean }>);
  const words = args
    .filter(([arg, { required }]) => required && arg !== flag)
    .map(([arg]) => (arg === 'file' ? 'right.json' : '@last'));
  const needed = neededFlags[id] ?? [];
  const flags = needed.includes(flag) ? [] : needed;
  const own = flag.startsWith('--') ? [flag, value] : [value];
  return cli.run([...id.split(':'), ...words, ...flags, ...own], { input });
}

const texts = Object.entries(forms)
  .filter(([, form]) => ['text', 'json', 'text-file', 'json-file', 'config'].includes(form))
  .filter(([name]) => !name.endsWith('--headers'));

describe('a text in Latin-1', () => {
  it.each(texts)('is refused by %s (%s) with 2 and the byte', async (name, form) => {
    const value = ['text', 'json'].includes(form) ? '@latin1.txt' : 'latin1.txt';
    const given = name.startsWith('webhooks:verify')
      ? await cli.run([
          'webhooks',
          'verify',
          '--secret-file',
          'latin1.txt',
          '--headers',
          'latin1.txt',
        ])
      : await runReading(name, value);
    expect(given).toMatchObject({ code: 2, stdout: '' });
    expect(given.stderr).toContain('latin1.txt: is not UTF-8 text at byte 9');
  });

  it('is refused as --data by every command', async () => {
    const named = (await Promise.all(ids.map(inputsOf))).flat().filter(isData);
    expect(named.length).toBeGreaterThan(40);
    const wrong: string[] = [];
    for (const name of named) {
      const { code, stderr } = await runReading(name, '@latin1.txt');
      if (code !== 2 || !stderr.includes('is not UTF-8 text at byte 9'))
        wrong.push(`${name}: ${stderr}`);
    }
    expect(wrong).toEqual([]);
  });

  it('is refused in a configuration', async () => {
    const { code, stderr } = await cli.run(['config', 'check', '--config', 'latin1.txt']);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('at byte 9'),
    });
  });
});

describe('a file error', () => {
  const named = Object.entries(forms).filter(
    ([name]) => !name.endsWith('(standard input)') && !name.startsWith('webhooks:verify'),
  );
  const missing = () => join(cli.directory, 'none/missing');

  it.each(named)('of %s (%s) names the whole path', async (name, form) => {
    const isFolder = form === 'folder';
    const value = isFolder ? './empty' : 'none/missing';
    const given = await runReading(name, ['text', 'json'].includes(form) ? `@${value}` : value);
    expect(given).toMatchObject({ code: 2, stdout: '' });
    expect(given.stderr).toContain(isFolder ? join(cli.directory, 'empty') : missing());
  });

  it.each([
    ['backup', 'verify', 'none/missing'],
    ['webhooks', 'verify', '--secret-file', 'none/missing', '--headers', 'right.json'],
    ['webhooks', 'verify', '--secret-file', 'right.json', '--headers', 'none/missing'],
    ['restore', 'none/missing', '--yes'],
    ['backup', 'none/missing'],
    ['blocks', 'export', '--output', 'none/missing'],
    ['contacts', 'export', '--output', 'none/missing'],
    ['daemon', 'drain', '--ready-file', 'none/missing'],
    ['config', 'check', '--config', 'none/missing'],
  ])('of svc %s %s names the whole path', async (...words) => {
    const { code, stderr } = await cli.run(words);
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain(missing());
  });
});

describe('standard input', () => {
  const piped = texts.filter(([, form]) => form !== 'config').map(([name]) => name);

  it.each(piped.filter((name) => !name.startsWith('webhooks:verify')))(
    'is read by %s as - and as @-',
    async (name) => {
      for (const value of ['-', '@-']) {
        const { code, stderr } = await runReading(name, value, latin);
        expect({ code, stderr }).toMatchObject({
          code: 2,
          stderr: expect.stringContaining('standard input: is not UTF-8 text at byte 9'),
        });
      }
    },
  );

  it.each(['-', '@-'])('is read by every --data as %s', async (value) => {
    const named = (await Promise.all(ids.map(inputsOf))).flat().filter(isData);
    const wrong: string[] = [];
    for (const name of named) {
      const { stderr } = await runReading(name, value, latin);
      if (!stderr.includes('standard input: is not UTF-8 text at byte 9'))
        wrong.push(`${name}: ${stderr}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each(['-', '@-'])('is attached as %s', async (value) => {
    const args = ['messages', 'send', '--to', 'a@example.com', '--subject', 's', '--text', 't'];
    const sent = await cli.json<{ id: string }>([...args, '--attach', value], { input: latin });
    const { attachments } = await cli.json<{ attachments: { size: number }[] }>([
      ...['messages', 'show', sent.id, '--email'],
    ]);
    expect(attachments).toMatchObject([{ size: latin.length }]);
  });

  it.each(['-', '@-'])('is imported as %s', async (value) => {
    const input = `\uFEFFemail\n${value.length}@example.com\n`;
    const args = ['contacts', 'import', value, '--yes'];
    expect(await cli.json(args, { input })).toMatchObject({ created: 1, rejected: 0 });
  });

  it('is refused for a second text instead of leaving that empty', async () => {
    const args = ['messages', 'send', '--to', 'a@example.com', '--subject', 's'];
    const { code, stderr } = await cli.run([...args, '--text', '-', '--html', '@-'], {
      input: 'a',
    });
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('standard input can be read only once'),
    });
  });
});

describe('a byte order mark', () => {
  const contents: [string, string, unknown][] = [
    ['--text', 'Hallo', { text: 'Hallo' }],
    ['--html', '<p>Hallo</p>', { html: '<p>Hallo</p>' }],
  ];

  it.each(contents)('of %s is dropped', async (flag, content, email) => {
    writeFileSync(join(cli.directory, 'bom.txt'), `\uFEFF${content}`);
    const args = ['messages', 'send', '--to', 'a@example.com', '--subject', 's'];
    const { id } = await cli.json<{ id: string }>([...args, flag, '@bom.txt']);
    expect(await cli.json(['messages', 'show', id, '--email'])).toMatchObject(email as object);
  });

  it('of --data is dropped', async () => {
    writeFileSync(join(cli.directory, 'bom.json'), '\uFEFF{"description": "bom"}');
    const made = await cli.json(['keys', 'create', '--role', 'viewer', '--data', '@bom.json']);
    expect(made).toMatchObject({ description: 'bom' });
  });

  it('of a configuration is dropped', async () => {
    writeFileSync(join(cli.directory, 'bom.yaml'), '\uFEFFhttp:\n  port: 0\n');
    const { code } = await cli.run(['config', 'check', '--config', 'bom.yaml']);
    expect(code).toBe(0);
  });

  it('of a template file is dropped', async () => {
    mkdirSync(join(cli.directory, 'folder'));
    writeFileSync(join(cli.directory, 'folder/subject.txt'), '\uFEFFHallo');
    writeFileSync(join(cli.directory, 'folder/body.html'), '\uFEFF<p>Hallo</p>');
    expect(await readTemplateFolder(join(cli.directory, 'folder'))).toEqual({
      'subject.txt': 'Hallo',
      'body.html': '<p>Hallo</p>',
    });
  });
});

describe('decodeUtf8', () => {
  it.each<[string, Buffer, number]>([
    ['Latin-1', Buffer.from('Grüße', 'latin1'), 2],
    ['UTF-16 with its mark', Buffer.from('\uFEFFab', 'utf16le'), 0],
    ['a cut character at the end', Buffer.from('aä').subarray(0, 2), 1],
    ['an overlong slash', Buffer.from([0x61, 0xc0, 0xaf]), 1],
    ['a surrogate', Buffer.from([0x61, 0x62, 0xed, 0xa0, 0x80]), 2],
    ['a byte beyond Unicode', Buffer.from([0xf5, 0x80, 0x80, 0x80]), 0],
    ['a lone continuation', Buffer.from([0x80]), 0],
    ['a true replacement character first', Buffer.from([0xef, 0xbf, 0xbd, 0x61, 0xff]), 4],
    ['emoji first', Buffer.concat([Buffer.from('😀é'), Buffer.from([0xe9])]), 6],
    ['a mark first', Buffer.concat([Buffer.from('\uFEFFa'), Buffer.from([0xfc])]), 4],
  ])('names the first byte of %s', (_, bytes, offset) => {
    expect(decodeUtf8(bytes)).toEqual({ problem: `is not UTF-8 text at byte ${offset}` });
  });

  it('keeps a true replacement character, and a mark within the text', () => {
    expect(decodeUtf8(Buffer.from('a\uFFFD\uFEFFb'))).toEqual({ text: 'a\uFFFD\uFEFFb' });
  });

  it('takes linear time for many replacement characters', () => {
    const bytes = Buffer.concat([
      Buffer.alloc(9_000_000, Buffer.from('\uFFFD')),
      Buffer.from([0xff]),
    ]);
    expect(decodeUtf8(bytes)).toEqual({ problem: 'is not UTF-8 text at byte 9000000' });
  });
});
