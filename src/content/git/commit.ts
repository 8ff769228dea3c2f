// Makes the objects of a commit from the files of a workspace. Runs before the transaction that
// stores them, which then only inserts rows.
import type { Db } from '../../platform/store/db.ts';
import type { TemplateFiles } from '../rendering/compiled.ts';
import { deflated } from './deflate.ts';
import {
  encodeCommit,
  encodeTree,
  fileMode,
  folderMode,
  type ObjectType,
  oidOf,
  type Signature,
  type TreeEntry,
} from './objects.ts';
import { findPlaces } from './queries.ts';

/** A git object: `content` is the compressed body, `size` the length before compression. */
export interface PackedObject {
  oid: string;
  type: ObjectType;
  size: number;
  content: Buffer;
}

export interface NewCommit {
  files: TemplateFiles;
  parents: readonly string[];
  author: Pick<Signature, 'name' | 'email'>;
  message: string;
  /** Time of the commit, ms since 1970. */
  at: number;
}

/** A commit with the objects that the repository lacks. */
export interface PreparedCommit {
  oid: string;
  objects: PackedObject[];
}

interface BodyOf {
  oid: string;
  type: ObjectType;
  body: Buffer;
}

/** A folder: texts of the files, and the folders below, by name. */
interface Folder {
  files: Map<string, string>;
  folders: Map<string, Folder>;
}

const emptyFolder = (): Folder => ({ files: new Map(), folders: new Map() });

function folderOf(files: TemplateFiles): Folder {
  const root = emptyFolder();
  for (const [path, content] of Object.entries(files)) {
    const names = path.split('/');
    const file = names.pop() ?? '';
    let folder = root;
    for (const name of names) {
      const inner = folder.folders.get(name) ?? emptyFolder();
      folder.folders.set(name, inner);
      folder = inner;
    }
    folder.files.set(file, content);
  }
  return root;
}

/** Adds an object to `made`; returns the id of the object. */
function add(made: Map<string, BodyOf>, type: ObjectType, body: Buffer): string {
  const oid = oidOf(type, body);
  made.set(oid, { oid, type, body });
  return oid;
}

function addFolder(made: Map<string, BodyOf>, { files, folders }: Folder): string {
  const entries: TreeEntry[] = [];
  for (const [name, text] of files) {
    entries.push({ mode: fileMode, name, oid: add(made, 'blob', Buffer.from(text)) });
  }
  for (const [name, folder] of folders) {
    entries.push({ mode: folderMode, name, oid: addFolder(made, folder) });
  }
  return add(made, 'tree', encodeTree(entries));
}

/** Compresses the objects. Leaves out objects that main already has. */
async function packed(db: Db | null, repositoryId: string, made: Map<string, BodyOf>) {
  const known = db ? await findPlaces(db, repositoryId, [...made.keys()]) : [];
  for (const { oid } of known) made.delete(oid);
  const objects: PackedObject[] = [];
  for (const { oid, type, body } of made.values()) {
    objects.push({ oid, type, size: body.length, content: await deflated(body) });
  }
  return objects;
}

/** Makes a commit for a repository; without `db`, for a new repository. Stores nothing. */
export async function prepareCommit(
  db: Db | null,
  repositoryId: string,
  { files, parents, author, message, at }: NewCommit,
): Promise<PreparedCommit> {
  const made = new Map<string, BodyOf>();
  const tree = addFolder(made, folderOf(files));
  const by = { ...author, seconds: Math.floor(at / 1000), zone: '+0000' };
  const commit = { tree, parents: [...parents], author: by, committer: by, message };
  const oid = add(made, 'commit', encodeCommit(commit));
  return { oid, objects: await packed(db, repositoryId, made) };
}
