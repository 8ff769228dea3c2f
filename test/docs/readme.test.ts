// README.md and its linked pages for users are held to the program: every command, flag, key,
// variable, path and script in them exists, and every configuration loads. readme-run.test.ts
// follows their instructions; write.ts writes the table of commands.
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { Parser } from '@oclif/core';
import { expect, it } from 'vitest';
import { BaseCommand } from '../../commands/base/command.ts';
import { interpret, listCommandIds } from '../../commands/base/input/typed.ts';
import {
  ExpectationError,
  exitCodeOf,
  interruptedCode,
  UsageError,
} from '../../commands/base/output/failure.ts';
import { openApiDocument } from '../../daemon/http/openapi/openapi.ts';
import { routes } from '../../daemon/http/routes.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { configKeys, configTree } from '../../src/core/config/keys.ts';
import { secretKeys } from '../../src/core/config/schema.ts';
import { firstStartText } from '../../src/service/first-start.ts';
import { repository } from '../support/cli.ts';
import { codeSpans, readMarkdown, section, tableRows, userPages } from './markdown.ts';
import { commandClass } from './write.ts';

const readme = readMarkdown('README.md');
const pages = userPages();
const prose = pages.flatMap((page) => page.prose);
const fences = pages.flatMap(({ name, fences }) => fences.map((fence) => ({ ...fence, name })));
const spans = codeSpans(prose);
const everything = pages.map(({ text }) => `${text}\n`).join('');
const ids = listCommandIds();
const shownUrl = 'http://127.0.0.1:4025';
const shownKey = 'svc_live_…';

/** Splits a line into words like a shell, without a redirection. */
function shellWords(line: string): string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
  const end = words.findIndex((word) => ['|', '>', '<'].includes(word));
  return end < 0 ? words : words.slice(0, end);
}

const shellLines = fences
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.split('\n'));

it('lines have at most 120 characters, except printed output', () => {
  const code = fences.filter(({ language }) => language !== 'text');
  const lines = [...prose, ...code.flatMap(({ text }) => text.split('\n'))];
  expect(lines.filter((line) => [...line].length > 120)).toEqual([]);
});

const commandLines = shellLines.filter(
  (line) => line.startsWith('svc ') && line !== 'svc --version',
);
it.each(commandLines)('the command line parses: %s', async (line) => {
  const typed = interpret(shellWords(line).slice(1), ids);
  if (typed.kind !== 'command') throw new Error('no command');
  const Command = await commandClass(typed.id);
  const flags = { ...BaseCommand.baseFlags, ...Command.flags };
  await expect(Parser.parse(typed.rest, { args: Command.args, flags })).resolves.toBeDefined();
});

const named = [...new Set(spans.filter((span) => span.startsWith('svc ')))];
it.each(named)('the sentence names existing flags: %s', async (span) => {
  const typed = interpret(shellWords(span).slice(1), ids);
  if (typed.kind !== 'command') return;
  const Command = await commandClass(typed.id);
  const known = Object.keys({ ...BaseCommand.baseFlags, ...Command.flags, help: null });
  const given = typed.rest.filter((word) => word.startsWith('--')).map((word) => word.slice(2));
  expect(known).toEqual(expect.arrayContaining(given));
});

it('flags without a command belong to some command', async () => {
  const classes = await Promise.all(ids.map(commandClass));
  const known = classes.flatMap(({ flags }) => Object.keys(flags ?? {}));
  const given = spans.flatMap((span) => /^--([a-z-]+)/.exec(span)?.[1] ?? []);
  expect(given.length).toBeGreaterThan(5);
  const foreign = ['omit', 'cap-add', 'loglevel', 'no-install-recommends'];
  expect([...known, ...Object.keys(BaseCommand.baseFlags), ...foreign]).toEqual(
    expect.arrayContaining(given),
  );
});

it('keys of the configuration exist', () => {
  const sections = (tree: typeof configTree): string[] => [
    tree.path,
    ...tree.entries.flatMap((entry) => ('entries' in entry ? sections(entry) : [])),
  ];
  const known = [...configKeys.map(({ path }) => path), ...sections(configTree)];
  const roots = configTree.entries.map(({ path }) => path);
  const given = spans.filter(
    (span) => /^[a-z]\w*(\.\w+)+$/.test(span) && roots.includes(span.split('.')[0] ?? ''),
  );
  expect(given.length).toBeGreaterThan(10);
  expect(given.filter((key) => !known.includes(key) && !existsSync(join(repository, key)))).toEqual(
    [],
  );
});

it('defaults in the table equal those of the configuration', () => {
  for (const [keys = '', defaults = ''] of tableRows(
    section(readMarkdown('docs/configuration.md'), 'Configuration'),
  )) {
    const shown = codeSpans([defaults]);
    for (const [index, path] of codeSpans([keys]).entries()) {
      const value = configKeys.find((key) => key.path === path)?.defaultValue;
      const isNothing = value === null || (Array.isArray(value) && value.length === 0);
      expect([path, isNothing ? undefined : String(value)]).toEqual([path, shown[index]]);
    }
  }
});

it('environment variables exist', () => {
  const secrets = configKeys.filter(({ path }) => secretKeys.includes(path));
  const known = [
    ...configKeys.map(({ variable }) => variable),
    ...secrets.map(({ variable }) => `${variable}_FILE`),
    'SVC_CONFIG',
    'SVC_API_KEY',
    'SVC_ORG',
    'SVC_SERVER',
  ];
  const given = [...everything.matchAll(/\bSVC_[A-Z0-9_]+/g)].map(([name]) => name);
  expect(given.length).toBeGreaterThan(3);
  expect(known).toEqual(expect.arrayContaining(given));
});

const yaml = fences.filter(({ language }) => language === 'yaml');
it.each(yaml.map(({ name, line, text }) => [`${name}:${line}`, text] as const))(
  'the configuration in %s loads without a warning',
  (_place, text) => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-docs-'));
    writeFileSync(join(directory, 'config.yaml'), text);
    const secrets = [...text.matchAll(/# .*\b(SVC_[A-Z_]+PASSWORD)/g)].map(([, name = '']) => name);
    const env = Object.fromEntries(secrets.map((name) => [name, 'secret']));
    const { file, warnings } = loadConfig({ env, cwd: directory });
    rmSync(directory, { recursive: true });
    expect({ file, warnings }).toEqual({ file: join(directory, 'config.yaml'), warnings: [] });
  },
);

it('npm scripts are those of package.json', () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  const own = [...everything.matchAll(/\bnpm (?:run ([a-z]+(?::[a-z]+)?)|(start|test)\b)/g)];
  const given = own.map(([, script, short]) => script ?? short);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(given));
  const typed = Object.keys(scripts).filter((script) => script !== 'postinstall');
  expect(new Set(given)).toEqual(new Set(typed));
});

it('docs/README.md lists the pages of docs/', () => {
  const listed = pages.map(({ name }) => name).slice(1);
  expect(listed.sort()).toEqual(globSync('docs/*.md', { cwd: repository }).sort());
});

it('linked files exist', () => {
  const links = pages.flatMap(({ name, text }) =>
    [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, file = '']) => join(dirname(name), file)),
  );
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter((file) => !existsSync(join(repository, normalize(file))))).toEqual([]);
});

it('exit codes are those of the program', () => {
  const codes = tableRows(section(readMarkdown('docs/commands.md'), 'Exit codes')).map(([code]) =>
    Number(code),
  );
  expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, interruptedCode]);
  expect(exitCodeOf(new UsageError())).toBe(2);
  expect(exitCodeOf(new ExpectationError())).toBe(8);
});

it('README.md leads from the first send to an upgrade within 300 lines', () => {
  const lines = readme.text.split('\n');
  expect(lines.length).toBeLessThanOrEqual(300);
  const wanted = [
    'First send',
    'How do I follow a message?',
    'A domain of your own',
    'Production',
    'Upgrade',
  ];
  const headings = readme.prose
    .filter((line) => line.startsWith('## '))
    .map((line) => line.slice(3));
  expect(headings.filter((heading) => wanted.includes(heading))).toEqual(wanted);
  expect(lines.findIndex((line) => line.includes('Not there yet'))).toBeLessThan(15);
});

it('README.md prints the text of a first start', () => {
  const { config } = loadConfig({ env: {}, cwd: '/nowhere' });
  const printed = readme.fences.find(({ language }) => language === 'text')?.text;
  expect(printed).toBe(firstStartText(config, shownUrl, shownKey).trimEnd());
});

it('paths of the API in commands exist', () => {
  const streams = ['/v1/events/stream', '/v1/mailboxes/{id}/events/stream'];
  const beside = [...streams, '/v1/templates/{id}/git'];
  const paths = [...Object.keys(openApiDocument(routes, shownUrl).paths), ...beside];
  const given = shellLines
    .flatMap((line) => /127\.0\.0\.1:4025(\/v1\/[^\s'?]+)/.exec(line)?.[1] ?? [])
    .map((path) => path.replace(/\b[A-Z]+_ID\b|\$[A-Z]+\b/, '{id}'));
  expect(given.length).toBeGreaterThan(3);
  expect(paths).toEqual(expect.arrayContaining(given));
});
