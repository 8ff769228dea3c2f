// Files that comments and documents name exist, and so do the headings of documents that comments
// cite: a moved file or heading fails here.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { filesUnder, plainTests, unquoted } from './plain-tests.ts';
import {
  fewWords,
  isNoneClauses,
  pointingPerThousand,
  repeatsCode,
  unplainPhrases,
  vaguePerThousand,
  wordsOf,
} from './plain-words.ts';

const root = join(import.meta.dirname, '..', '..');
const parts = ['src', 'daemon', 'commands', 'test', 'docs'];
const files = [
  ...readdirSync(root).filter((name) => /\.(ts|md)$/.test(name)),
  ...parts.flatMap((part) =>
    readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|md)$/.test(name))
      .map((name) => join(part, name)),
  ),
];
const names = new Set(files.map((file) => basename(file)));

/** Lists the names of files in comments of code, or in the whole of a document. */
function named(file: string): string[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  const prose = file.endsWith('.md')
    ? lines
    : lines.map((line) => /(^|\s)(\/\/|\/?\*\*?)\s.*$/.exec(line)?.[0] ?? '');
  return prose.flatMap((line) => line.match(/(?<![\w*./-])[a-z][\w./-]*\.ts\b/g) ?? []);
}

const isThere = (name: string) =>
  /^(src|daemon|commands|test)\//.test(name)
    ? existsSync(join(root, name))
    : names.has(basename(name));

it('comments and documents name only files that exist', () => {
  const missing = files
    .flatMap((file) => named(file).map((name) => `${file}: ${name}`))
    .filter((line) => !isThere(line.split(': ')[1] ?? ''));
  expect(missing).toEqual([]);
});

it('comments name only folders that exist', () => {
  const comment = /(?:^|\s)(?:\/\/|\/?\*\*?)\s.*$/;
  const folder = /(?<![\w.:/-])(?:src|daemon|commands|test)(?:\/[a-z][\w-]*)+(?![\w./*-]|\.\w)/g;
  const cited = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const lines = readFileSync(join(root, file), 'utf8').split('\n');
      const folders = lines.flatMap((line) => comment.exec(line)?.[0].match(folder) ?? []);
      return folders.map((path) => ({ file, path }));
    });
  expect(cited.length).toBeGreaterThan(10);
  expect(cited.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
});

it('code cites only documents and headings that exist', () => {
  const cites = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const found = text.matchAll(/\b(architecture\.md|docs\/[\w/-]+\.md)(?:, "([^"]+)")?/gi);
      return [...found].map(([, document = '', heading]) => ({ file, document, heading }));
    });
  const isThereToo = ({ document, heading }: { document: string; heading: string | undefined }) => {
    const path = join(root, document);
    if (!existsSync(path)) return false;
    return heading === undefined || readFileSync(path, 'utf8').includes(`# ${heading}\n`);
  };
  expect(cites.length).toBeGreaterThan(5);
  expect(cites.filter((cite) => !isThereToo(cite))).toEqual([]);
});

it('files cite nothing outside a clone', () => {
  // Split in two, so that this file does not match.
  const elsewhere = new RegExp(
    [
      '\\bcontract \\d',
      '\\bthe con' + 'tract\\b',
      '\\bissue \\d',
      'libraries' + '\\.md',
      'shared/' + 'design',
    ].join('|'),
    'i',
  );
  const citing = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (elsewhere.test(line) ? [`${file}:${index + 1}: ${line}`] : [])),
  );
  expect(citing).toEqual([]);
});

/** Folders whose comments are held to plain words: CONTRIBUTING.md, "The change". */
const plain = ['src', 'commands', 'daemon', 'bin'];
const mostVague = 3;
const mostVagueOfFile = 8;
const mostPointing = 12;
const mostPointingOfFile = 45;

interface Comments {
  file: string;
  words: string[];
  /** Doc comments, without their marks. */
  docs: string[];
  text: string;
}

function commentsOf(file: string): Comments {
  const source = readFileSync(join(root, file), 'utf8');
  const lines = source.match(/^\s*(?:\/\/|\/?\*).*$/gm) ?? [];
  const text = lines
    .map((line) => line.replace(/^\s*(?:\/\/|\/\*\*?|\*\/?)\s?|\*\/\s*$/g, ''))
    .join('\n');
  const docs = [...source.matchAll(/\/\*\*([\s\S]*?)\*\//g)].map(([, doc = '']) =>
    doc.replace(/^\s*\*\s?/gm, '').trim(),
  );
  return { file, words: wordsOf(text), docs, text };
}

const commentsIn = (parts: readonly string[]) =>
  parts.flatMap((part) => filesUnder(part, /\.(?:ts|js)$/)).map((file) => commentsOf(file));
const code = commentsIn(plain);
const tests = commentsIn(plainTests.map((part) => `test/${part}`)).map((comment) => {
  const text = unquoted(comment.text);
  return { ...comment, text, words: wordsOf(text) };
});
const comments = [...code, ...tests];

it('comments name the noun', () => {
  expect(comments.length).toBeGreaterThan(500);
  for (const group of [code, tests]) {
    expect(vaguePerThousand(group.flatMap(({ words }) => words))).toBeLessThan(mostVague);
  }
  const vagueFiles = comments.filter(
    ({ words }) => words.length > fewWords && vaguePerThousand(words) > mostVagueOfFile,
  );
  expect(vagueFiles.map(({ file }) => file)).toEqual([]);
});

it('comments repeat the noun instead of pointing at it', () => {
  expect(pointingPerThousand(code.flatMap(({ words }) => words))).toBeLessThan(mostPointing);
  const pointing = code.filter(
    ({ words }) => words.length > fewWords && pointingPerThousand(words) > mostPointingOfFile,
  );
  expect(pointing.map(({ file }) => file)).toEqual([]);
});

it('doc comments begin with a verb or a noun phrase', () => {
  const begins = /^(?:(?:What|Who|Those|Of|So many|Not|But|As)\b|[a-z](?![a-z]*[A-Z.`(]))/;
  const bad = comments.flatMap(({ file, docs }) =>
    docs.filter((doc) => begins.test(doc)).map((doc) => `${file}: ${doc.slice(0, 60)}`),
  );
  expect(bad).toEqual([]);
});

it('doc comments say more than the line of code beneath', () => {
  const single = /^\s*\/\*\* (.*) \*\/$/;
  const found = code.flatMap(({ file }) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    return lines.flatMap((line, index) => {
      const said = single.exec(line)?.[1];
      const isRepeated = said !== undefined && repeatsCode(said, lines[index + 1] ?? '');
      return isRepeated ? [`${file}:${index + 1}: ${said}`] : [];
    });
  });
  expect(found).toEqual([]);
});

it('comments have neither none nor no as a predicate', () => {
  const bad = comments.flatMap(({ file, text }) =>
    isNoneClauses(text).map((clause) => `${file}: ${clause}`),
  );
  expect(bad).toEqual([]);
});

it('comments say that an answer has a status, and that work continues on its own', () => {
  const bad = comments.flatMap(({ file, text }) =>
    unplainPhrases(text).map((phrase) => `${file}: ${phrase}`),
  );
  expect(bad).toEqual([]);
});

it('lines of comments have at most 100 columns', () => {
  const isTable = (line: string) => / \| |-{3,}|^\s*\/\/ {3}|^\s*\* {3}|biome-ignore/.test(line);
  const long = [...code, ...tests].flatMap(({ file }) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line) && [...line].length > 100)
      .filter((line) => !isTable(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(long).toEqual([]);
});

it('functions are named by plain verbs', () => {
  const banned =
    /\b(?:function\*? |async )(?:tell|told|lookAt)(?:[A-Z]\w*)?\b|\b(?:Journey|Doer|travellingFor)\b|\bfunction\*? note(?!Id\b|Noun\b|Routes\b|Path\b)[A-Z]\w*/g;
  const found = code.flatMap(({ file }) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(banned)].map(
      ([name]) => `${file}: ${name}`,
    ),
  );
  expect(found).toEqual([]);
});
