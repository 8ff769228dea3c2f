// Rules for the files of a template, before anything reads them. Their names must work in a git tree and on
// every file system, also where `A` and `a` are one name. Pure.
import { type FieldErrors, ValidationError } from '../../platform/errors.ts';
import type { TemplateFiles } from './compiled.ts';

/** Limits of one template. */
export const fileLimits = {
  files: 200,
  bytesOfFile: 512 * 1024,
  bytesInAll: 5 * 1024 * 1024,
  pathCharacters: 200,
} as const;

/** Paths that one error names at most. */
const mostNamed = 20;
/** Characters that HFS+ leaves out of names: `.g<U+200C>it` is `.git` there. */
const ignored = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused.
const control = /[\u0000-\u001f\u007f]/;

function isGitFolder(component: string): boolean {
  const plain = component.replace(ignored, '').toLowerCase();
  // NTFS drops dots and spaces at the end, reads `.git::$INDEX_ALLOCATION` as `.git`, and knows it as `git~1`.
  return /^(?:\.git|git~1)(?:[ .]*$|:)/.test(plain);
}

/** Returns the problem with one path, or null. */
function problemOf(path: string): string | null {
  if (path === '') return 'a path is not empty';
  if (path.length > fileLimits.pathCharacters) {
    return `a path has at most ${fileLimits.pathCharacters} characters`;
  }
  if (!path.isWellFormed()) return 'a path is valid Unicode';
  if (control.test(path)) return 'a path has no control characters';
  if (path.includes('\\')) return 'a path has no backslash: use /';
  if (path.startsWith('/')) return 'a path is relative: remove the / at its beginning';
  if (path !== path.normalize('NFC')) return 'a path is in Unicode normal form C (NFC)';
  const components = path.split('/');
  if (components.includes('')) return 'a path has no empty component';
  if (components.some((one) => one === '.' || one === '..')) return 'a path has no . or ..';
  if (components.some(isGitFolder)) return 'a path has no .git';
  return null;
}

const folded = (path: string) => path.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase();

/** Returns the first collision of each path with an earlier one, as [path, problem]. */
function* collisionsOf(paths: readonly string[]): Generator<[string, string]> {
  /** Spelling of each file and folder by its folded name. */
  const known = new Map<string, { name: string; isFile: boolean }>();
  for (const path of paths) {
    const components = path.split('/');
    for (let end = 1; end <= components.length; end += 1) {
      const name = components.slice(0, end).join('/');
      const isFile = end === components.length;
      const other = known.get(folded(name));
      if (!other) known.set(folded(name), { name, isFile });
      else if (other.name !== name) {
        yield [path, `${name} differs from ${other.name} in upper and lower case only`];
        break;
      } else if (isFile || other.isFile) {
        yield [path, `${name} is a file and a folder`];
        break;
      }
    }
  }
}

function refuse(errors: FieldErrors): void {
  const fields = Object.keys(errors);
  if (fields.length === 0) return;
  const [first = ''] = fields;
  throw new ValidationError(`${first}: ${errors[first]?.[0]}`, errors);
}

/** Returns the field that an error about this path names. */
export function fieldOf(path: string): string {
  return `files.${path.slice(0, fileLimits.pathCharacters).toWellFormed()}`;
}

/**
 * Checks the paths of a template, all of them together.
 * @throws ValidationError with the fields `files` or `files.<path>`
 */
export function checkPaths(paths: readonly string[]): void {
  if (paths.length > fileLimits.files) {
    throw ValidationError.of('files', `a template has at most ${fileLimits.files} files`);
  }
  const errors: FieldErrors = {};
  const good: string[] = [];
  for (const path of paths) {
    const problem = problemOf(path);
    if (problem === null) good.push(path);
    else if (Object.keys(errors).length < mostNamed) errors[fieldOf(path)] = [problem];
  }
  for (const [path, problem] of collisionsOf(good)) {
    if (Object.keys(errors).length < mostNamed) errors[fieldOf(path)] ??= [problem];
  }
  refuse(errors);
}

/**
 * Checks paths, sizes and characters of all files of a template.
 * @throws ValidationError with the fields `files` or `files.<path>`
 */
export function checkFiles(files: TemplateFiles): void {
  const paths = Object.keys(files);
  checkPaths(paths);
  const errors: FieldErrors = {};
  let inAll = 0;
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.byteLength(content);
    inAll += bytes;
    if (bytes > fileLimits.bytesOfFile) {
      errors[fieldOf(path)] = [`a file has at most ${fileLimits.bytesOfFile / 1024} KB`];
    } else if (content.includes('\0')) errors[fieldOf(path)] = ['a file has no NUL character'];
    else if (!content.isWellFormed()) errors[fieldOf(path)] = ['a file is valid Unicode'];
    if (Object.keys(errors).length >= mostNamed) break;
  }
  refuse(errors);
  if (inAll > fileLimits.bytesInAll) {
    const most = fileLimits.bytesInAll / 1024 / 1024;
    throw ValidationError.of('files', `the files have at most ${most} MB together`);
  }
}
