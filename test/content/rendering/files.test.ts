// Names, counts and sizes of the files of a template.
import { describe, expect, it } from 'vitest';
import {
  checkFiles,
  checkPaths,
  fieldOf,
  fileLimits,
} from '../../../src/content/rendering/files.ts';
import { ValidationError } from '../../../src/platform/errors.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

function fieldsOf(check: () => void): Record<string, string[]> {
  try {
    check();
  } catch (error) {
    if (error instanceof ValidationError) return error.fieldErrors ?? {};
    throw error;
  }
  return {};
}

describe('paths', () => {
  const bad = {
    'the empty path': '',
    'an absolute path': '/etc/passwd',
    'a parent folder': '../body.html',
    'a parent folder inside': 'partials/../../x',
    'a dot': './body.html',
    'an empty component': 'partials//a.html',
    'a folder': 'partials/',
    'a backslash': 'partials\\a.html',
    'a NUL': 'a\0b',
    'a line end': 'a\nb',
    '.git': '.git/config',
    '.GIT inside': 'partials/.GiT/hooks/post-checkout',
    '.git with a dot': '.git./config',
    '.git with a character that HFS+ ignores': '.g\u200cit/config',
    'the short name of .git': 'GIT~1/config',
    'a stream of .git': '.git::$INDEX_ALLOCATION/config',
    'decomposed letters': 'partials/e\u0301.html',
    'half a character': 'a\ud800',
    'a long path': 'a'.repeat(fileLimits.pathCharacters + 1),
  };
  for (const [name, path] of Object.entries(bad)) {
    it(`refuses ${name}`, () => {
      expect(Object.keys(fieldsOf(() => checkPaths(['body.html', path])))).toEqual([fieldOf(path)]);
    });
  }

  it('accepts the files of a template', () => {
    const paths = ['template.yaml', 'body.mjml', 'partials/é.html', '.gitignore', 'a/.github/b'];
    expect(fieldsOf(() => checkPaths([...paths, 'a'.repeat(fileLimits.pathCharacters)]))).toEqual(
      {},
    );
  });

  const folders = (count: number) =>
    Array.from({ length: count }, (_, index) => `${index}/body.html`);

  it('accepts 200 folders', () => {
    expect(fieldsOf(() => checkPaths(folders(200)))).toEqual({});
  });

  it('refuses paths of more than 200 folders together', () => {
    const deep = Array.from({ length: 3 }, (_, index) => `${index}/${'a/'.repeat(70)}x`);
    expect(fieldsOf(() => checkPaths(deep))).toEqual({
      files: ['a template has at most 200 folders'],
    });
  });

  it('checks 200 deep paths at once', () => {
    const deep = Array.from({ length: 200 }, (_, index) => `${'é/'.repeat(95)}${index}`);
    const start = startWork();
    expect(fieldsOf(() => checkPaths(deep))).toEqual({});
    expect(workedMs(start)).toBeLessThan(50);
  });

  it('refuses names that differ in case only', () => {
    expect(fieldsOf(() => checkPaths(['Body.html', 'body.html']))).toEqual({
      'files.body.html': ['body.html differs from Body.html in upper and lower case only'],
    });
  });

  it('refuses folders that differ in case only', () => {
    expect(fieldsOf(() => checkPaths(['partials/a', 'Partials/b']))).toEqual({
      'files.Partials/b': ['Partials differs from partials in upper and lower case only'],
    });
  });

  it('refuses a file that is also a folder', () => {
    for (const paths of [
      ['partials', 'partials/a'],
      ['partials/a', 'partials'],
    ]) {
      expect(Object.values(fieldsOf(() => checkPaths(paths)))).toEqual([
        ['partials is a file and a folder'],
      ]);
    }
  });

  it('refuses 201 files by their number', () => {
    const paths = Array.from({ length: fileLimits.files + 1 }, (_, index) => `../${index}`);
    expect(Object.keys(fieldsOf(() => checkPaths(paths)))).toEqual(['files']);
    expect(fieldsOf(() => checkPaths(paths.slice(1).map((path) => path.slice(3))))).toEqual({});
  });
});

describe('contents', () => {
  const most = 'x'.repeat(fileLimits.bytesOfFile);

  it('refuses a file by its bytes', () => {
    expect(fieldsOf(() => checkFiles({ a: most }))).toEqual({});
    expect(Object.keys(fieldsOf(() => checkFiles({ a: `${most.slice(1)}é` })))).toEqual([
      'files.a',
    ]);
  });

  it('refuses more than 5 MB together', () => {
    const ten = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`${index}`, most]));
    expect(fieldsOf(() => checkFiles(ten))).toEqual({});
    expect(Object.keys(fieldsOf(() => checkFiles({ ...ten, more: '.' })))).toEqual(['files']);
  });

  it('refuses unpaired surrogates', () => {
    const files = { a: 'x\udc00', b: '' };
    expect(fieldsOf(() => checkFiles(files))).toEqual({ 'files.a': ['a file is valid Unicode'] });
  });

  it('refuses control characters, which JSON writes six times as long', () => {
    expect(fieldsOf(() => checkFiles({ a: 'x\0', b: '\u001b[31m', c: 'a\t\r\n\f' }))).toEqual({
      'files.a': ['a file has no control characters: it has U+0000'],
      'files.b': ['a file has no control characters: it has U+001B'],
    });
  });
});
