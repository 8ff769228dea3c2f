// Rules for the files of a template, checked before any reader opens them. Their names must work in
// a git tree and on every file system, even where `A` and `a` are the same name. Pure.
import { type FieldErrors, ValidationError } from '../../platform/errors.ts';
import type { TemplateFiles } from './compiled.ts';

/** Limits of a template. */
export const fileLimits = {
  files: 200,
  /** Most folders: each commit that changes a folder stores a new git tree for the folder. */
  folders: 200,
  bytesOfFile: 512 * 1024,
  bytesInAll: 5 * 1024 * 1024,
  pathCharacters: 200,
} as const;

/** Most paths that an error names. */
const mostNamed = 20;
/** Characters that HFS+ ignores in names: `.g<U+200C>it` is `.git` there. */
const ignored = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused.
const control = /[\u0000-\u001f\u007f-\u009f]/;
/** Control characters refused in files: all below U+0020 except tab, LF, form feed and CR. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused.
const notInText = /[\u0000-\u0008\u000b\u000e-\u001f]/;

function hasGitFolder(path: string): boolean {
  const plain = path.replace(ignored, '').toLowerCase();
  // NTFS drops dots and spaces at the end of a name, reads `.git::$INDEX_ALLOCATION` as `.git`, and
  // has the short name `git~1` for it.
  return /(?:^|\/)(?:\.git|git~1)(?:[ .]*(?:\/|$)|:)/.test(plain);
}

/** Returns the rule that a path breaks; null for a valid path. */
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
  if (hasGitFolder(path)) return 'a path has no .git';
  return null;
}

const folded = (path: string) => path.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase();

/** A file or folder with the spelling of the path. */
interface Entry {
  name: string;
  isFile: boolean;
  /** Entries of a folder by their folded names. */
  inner: Map<string, Entry>;
}

const entryOf = (name: string, isFile: boolean): Entry => ({ name, isFile, inner: new Map() });

/**
 * Yields the first collision of each path with an earlier path, as pairs of path and problem.
 * @throws ValidationError beyond the limit of folders
 */
function* collisionsOf(paths: readonly string[]): Generator<[string, string]> {
  const root = entryOf('', false);
  // Caches folded names: the same names occur in many paths, and folding a name takes a µs.
  const keys = new Map<string, string>();
  let folders = 0;
  for (const path of paths) {
    const components = path.split('/');
    let folder = root;
    for (const [index, component] of components.entries()) {
      const isFile = index === components.length - 1;
      const key = keys.get(component) ?? folded(component);
      keys.set(component, key);
      const other = folder.inner.get(key);
      const entry = other ?? entryOf(component, isFile);
      if (!other) {
        folder.inner.set(key, entry);
        if (!isFile) folders += 1;
        if (folders > fileLimits.folders) {
          throw ValidationError.of('files', `a template has at most ${fileLimits.folders} folders`);
        }
      } else {
        const problem = clash(components, index, other);
        if (problem !== null) {
          yield [path, problem];
          break;
        }
      }
      folder = entry;
    }
  }
}

/**
 * Returns the problem of the name at `index` with an earlier entry of the same folded name, or
 * null.
 */
function clash(components: readonly string[], index: number, other: Entry): string | null {
  const nameOf = (last = '') => [...components.slice(0, index), last].join('/');
  const name = components[index];
  if (other.name !== name) {
    return `${nameOf(name)} differs from ${nameOf(other.name)} in upper and lower case only`;
  }
  const isFile = index === components.length - 1;
  return isFile || other.isFile ? `${nameOf(name)} is a file and a folder` : null;
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
 * Checks all paths of a template together. @throws ValidationError with the fields `files` or
 * `files.<path>`
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

/** Returns the problem with the characters of a file, or null. */
export function problemOfText(content: string): string | null {
  if (!content.isWellFormed()) return 'a file is valid Unicode';
  const found = notInText.exec(content);
  if (!found) return null;
  const code = content.charCodeAt(found.index).toString(16).toUpperCase().padStart(4, '0');
  return `a file has no control characters: it has U+${code}`;
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
    } else {
      const problem = problemOfText(content);
      if (problem !== null) errors[fieldOf(path)] = [problem];
    }
    if (Object.keys(errors).length >= mostNamed) break;
  }
  refuse(errors);
  if (inAll > fileLimits.bytesInAll) {
    const most = fileLimits.bytesInAll / 1024 / 1024;
    throw ValidationError.of('files', `the files have at most ${most} MB together`);
  }
}
