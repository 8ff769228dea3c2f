// Checks commits that come by a push or a bundle, each with the checks of a save: files, names and
// sizes. Returns only the objects that these commits need, for the repository to store.
import { ValidationError } from '../../platform/errors.ts';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';
import type { Db } from '../../platform/store/db.ts';
import type { TemplateFiles } from '../rendering/compiled.ts';
import { checkPaths, fieldOf, fileLimits, problemOfText } from '../rendering/files.ts';
import type { PackedObject } from './commit.ts';
import { deflated } from './deflate.ts';
import {
  badObject,
  type Commit,
  decodeCommit,
  decodeTree,
  folderMode,
  oidPattern,
  textOf,
} from './objects.ts';
import { type ReadObject, readPack } from './pack-read.ts';
import { findPlaces } from './queries.ts';
import { readObjects } from './repository.ts';

/** Commits for main that are new to the repository. */
export interface Incoming {
  tip: string;
  /** The new commits, parents before children; the tip is the last. */
  commits: string[];
  closing: Set<string>;
  /** Objects of these commits that main lacks. */
  objects: PackedObject[];
  /** Files of the commit `tip`, by path. */
  files: TemplateFiles;
  /** Newest commit of main on which the new commits build; undefined if no commit is in common. */
  base: string | undefined;
  /** Whether the new commits build on the head of main, so that no merge is needed. */
  isFastForward: boolean;
}

const fileModes = new Set(['100644', '100755', '100664']);
const refusedModes: Readonly<Record<string, string>> = {
  120000: 'a symbolic link is refused: a template has plain files',
  160000: 'a submodule is refused: a template has plain files',
};
/** Most folders in a commit. */
const mostFolders = 1_000;
const mostCommitBytes = 64 * 1024;
/** Most files in the cache of flattened trees: about 20 MB. */
const mostKeptFiles = 100_000;

/** A tree with all folders below it. */
interface FlatTree {
  /** Ids of files by path below the tree. */
  files: ReadonlyMap<string, string>;
  /** Number of folders, including the root of the tree. */
  folders: number;
  /** Longest path of a file or a folder below the tree. */
  longest: string;
}

/** @throws ValidationError for a path that is too long. */
function requireShort(path: string): void {
  if (path.length <= fileLimits.pathCharacters) return;
  throw ValidationError.of(fieldOf(path), 'a path has at most 200 characters');
}

/** @throws ValidationError for more folders or files than a template has. */
function requireFew(folders: number, files: number): void {
  if (folders > mostFolders) {
    throw ValidationError.of('files', `a template has at most ${mostFolders} folders`);
  }
  if (files > fileLimits.files) {
    throw ValidationError.of('files', `a template has at most ${fileLimits.files} files`);
  }
}

/** Reads and checks the commits up to `tip`. `head` is the head of main. */
export async function readIncoming(
  db: Db,
  repositoryId: string,
  { pack, tip, head }: { pack: Buffer; tip: string; head: string },
): Promise<Incoming> {
  const objects = await readPack(pack, (oids) => readObjects(db, repositoryId, oids));
  return new IncomingReader(db, repositoryId, objects).read(tip, head);
}

/** Returns whether a text is a valid name of a ref (git-check-ref-format(1)). Stricter than git. */
export function isRefName(name: string): boolean {
  return (
    name === 'HEAD' ||
    (/^refs(?:\/[\w.+@-]+)+$/.test(name) && !/\.\.|\/\.|\.(?:\/|$)|\.lock(?:\/|$)|@\{/.test(name))
  );
}

class IncomingReader {
  readonly #db: Db;
  readonly #id: string;
  readonly #objects: ReadonlyMap<string, ReadObject>;
  /** Objects of the pack that the new commits need. */
  readonly #needed = new Set<string>();
  /** Sizes of objects of main by id, in bytes before compression. */
  readonly #sizes = new Map<string, number>();
  readonly #positions = new Map<string, number>();
  readonly #texts = new Map<string, string>();
  /** Lists of paths that passed the check already. */
  readonly #checked = new Set<string>();

  constructor(db: Db, id: string, objects: ReadonlyMap<string, ReadObject>) {
    this.#db = db;
    this.#id = id;
    this.#objects = objects;
  }

  async read(tip: string, head: string): Promise<Incoming> {
    const { commits, bases } = await this.#walk(tip);
    let files: FlatTree['files'] = new Map();
    for (const { oid, tree } of commits) files = await this.#checkCommit(oid, tree);
    const base = [...bases].sort((a, b) => this.#positionOf(b) - this.#positionOf(a))[0];
    return {
      tip,
      commits: commits.map(({ oid }) => oid),
      closing: closingOf(commits, head),
      objects: await this.#packed(),
      files: await this.#textsOf(files),
      base,
      isFastForward: bases.has(head),
    };
  }

  #positionOf(oid: string): number {
    return this.#positions.get(oid) ?? 0;
  }

  /** Loads sizes and positions of objects of main, except for objects of the pack. */
  async #lookUp(oids: readonly string[]): Promise<void> {
    const unknown = oids.filter((oid) => !this.#objects.has(oid) && !this.#sizes.has(oid));
    if (unknown.length === 0) return;
    for (const { oid, size, position, type } of await findPlaces(this.#db, this.#id, unknown)) {
      this.#sizes.set(oid, size);
      if (type === 'commit') this.#positions.set(oid, position ?? 0);
    }
  }

  /** Returns the new commits, parents first, and the commits of main on which they build. */
  async #walk(tip: string) {
    const bases = new Set<string>();
    const found = new Map<string, Commit>();
    const order: (Commit & { oid: string })[] = [];
    const waiting = [{ oid: tip, isLeft: false }];
    // Commits of a pack may be on main already: then their position on main counts.
    const all = [...this.#objects].filter(([, { type }]) => type === 'commit');
    for (const { oid, position } of await findPlaces(this.#db, this.#id, [
      tip,
      ...all.map(([oid]) => oid),
    ])) {
      this.#positions.set(oid, position ?? 0);
    }
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { oid, isLeft } = next;
      const known = found.get(oid);
      if (isLeft) {
        if (known) order.push({ ...known, oid });
        continue;
      }
      if (known || bases.has(oid)) continue;
      await this.#lookUp([oid]);
      if (this.#positions.has(oid)) {
        bases.add(oid);
        continue;
      }
      const commit = this.#commit(oid);
      found.set(oid, commit);
      waiting.push({ oid, isLeft: true });
      for (const parent of commit.parents) waiting.push({ oid: parent, isLeft: false });
      await sliceTurns();
    }
    return { commits: order, bases };
  }

  #commit(oid: string): Commit {
    const object = this.#objects.get(oid);
    if (object?.type !== 'commit') throw badObject('commit', oid, 'is missing');
    if (object.body.length > mostCommitBytes) throw badObject('commit', oid, 'is over 64 KB');
    this.#needed.add(oid);
    return decodeCommit(oid, object.body);
  }

  /** Checks the files of a commit; returns their ids by path. */
  async #checkCommit(commit: string, tree: string): Promise<FlatTree['files']> {
    try {
      const { files } = await this.#flatten(tree);
      const paths = [...files.keys()];
      const key = JSON.stringify(paths);
      if (!this.#checked.has(key)) checkPaths(paths);
      this.#checked.add(key);
      await this.#lookUp([...files.values()]);
      let inAll = 0;
      for (const [path, oid] of files) inAll += this.#sizeOf(path, oid);
      if (inAll > fileLimits.bytesInAll) {
        throw ValidationError.of('files', 'the files have more than 5 MB together');
      }
      return files;
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      throw new ValidationError(`commit ${commit}: ${error.message}`, error.fieldErrors);
    }
  }

  #sizeOf(path: string, oid: string): number {
    const stored = this.#sizes.get(oid);
    const object = this.#objects.get(oid);
    if (!object) {
      if (stored !== undefined) return stored;
      throw ValidationError.of(fieldOf(path), `its content ${oid} is missing`);
    }
    const { type, body } = object;
    if (type !== 'blob') throw ValidationError.of(fieldOf(path), 'is not a file');
    if (!this.#needed.has(oid)) {
      if (body.length > fileLimits.bytesOfFile) {
        const most = fileLimits.bytesOfFile / 1024;
        throw ValidationError.of(fieldOf(path), `a file has at most ${most} KB`);
      }
      const text = textOf(body);
      if (text === undefined) throw ValidationError.of(fieldOf(path), 'a file is text in UTF-8');
      const problem = problemOfText(text);
      if (problem !== null) throw ValidationError.of(fieldOf(path), problem);
      this.#texts.set(oid, text);
      this.#needed.add(oid);
    }
    return body.length;
  }

  /** Flattened trees by id, because commits share most of their folders. */
  readonly #flat = new Map<string, FlatTree>();
  #keptFiles = 0;

  /**
   * Flattens a tree within the limits of a template. `at` is the path of the tree, for the texts of
   * refusals.
   */
  async #flatten(tree: string, at = ''): Promise<FlatTree> {
    const known = this.#flat.get(tree);
    if (known) return known;
    const files = new Map<string, string>();
    let folders = 1;
    let longest = '';
    const body = await this.#tree(tree);
    await sliceTurns();
    for (const { mode, name, oid } of decodeTree(tree, body)) {
      requireShort(at + name);
      const isFolder = mode === folderMode;
      if (!isFolder && !fileModes.has(mode)) {
        throw ValidationError.of(fieldOf(at + name), refusedModes[mode] ?? 'has an unknown mode');
      }
      let path = name;
      if (isFolder) {
        const below = this.#flat.get(oid) ?? (await this.#flatten(oid, `${at}${name}/`));
        path = `${name}/${below.longest}`;
        requireShort(at + path);
        folders += below.folders;
        for (const [rest, file] of below.files) files.set(`${name}/${rest}`, file);
      } else files.set(name, oid);
      if (path.length > longest.length) longest = path;
      requireFew(folders, files.size);
    }
    this.#keptFiles += files.size;
    if (this.#keptFiles > mostKeptFiles) {
      this.#flat.clear();
      this.#keptFiles = files.size;
    }
    const flat = { files, folders, longest };
    this.#flat.set(tree, flat);
    return flat;
  }

  /** Trees of main that were read, by id. */
  readonly #trees = new Map<string, Buffer>();

  async #tree(oid: string): Promise<Buffer> {
    const object = this.#objects.get(oid);
    if (object) {
      if (object.type !== 'tree') throw badObject('tree', oid, 'is another object');
      this.#needed.add(oid);
      return object.body;
    }
    const known = this.#trees.get(oid);
    if (known) return known;
    await this.#lookUp([oid]);
    const stored = this.#sizes.has(oid)
      ? (await readObjects(this.#db, this.#id, [oid])).get(oid)
      : undefined;
    if (stored?.type !== 'tree') throw badObject('tree', oid, 'is missing');
    this.#trees.set(oid, stored.body);
    return stored.body;
  }

  async #textsOf(files: ReadonlyMap<string, string>): Promise<TemplateFiles> {
    const missing = [...new Set(files.values())].filter((oid) => !this.#texts.has(oid));
    for (const [oid, { body }] of await readObjects(this.#db, this.#id, missing)) {
      this.#texts.set(oid, textOf(body) ?? '');
    }
    const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([path, oid]) => [path, this.#texts.get(oid) ?? '']));
  }

  async #packed(): Promise<PackedObject[]> {
    const packed: PackedObject[] = [];
    for (const oid of this.#needed) {
      const object = this.#objects.get(oid);
      if (!object) continue;
      const { type, body, content } = object;
      packed.push({ oid, type, size: body.length, content: content ?? (await deflated(body)) });
      await sliceTurns();
    }
    return packed;
  }
}

/**
 * Returns the commits that form an unbroken line on the head: each has all earlier commits as
 * ancestors. Adds the last commit in any case.
 */
function closingOf(commits: readonly (Commit & { oid: string })[], head: string): Set<string> {
  const closing = new Set<string>();
  let before = head;
  for (const { oid, parents } of commits) {
    if (!parents.includes(before)) break;
    closing.add(oid);
    before = oid;
  }
  const tip = commits.at(-1);
  if (tip) closing.add(tip.oid);
  return closing;
}

/** Returns whether a text has the form of an object id: 40 hexadecimal digits. */
export function isOid(text: string): boolean {
  return oidPattern.test(text);
}
