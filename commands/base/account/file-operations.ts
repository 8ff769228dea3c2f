// Operations on files and folders that the command line names. A command runs them in its own
// process. After it has left root's account, the process of file-broker.ts runs them.
import { constants } from 'node:fs';
import {
  copyFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  watch,
  writeFile,
} from 'node:fs/promises';

const handles = new Map<string, FileHandle>();
const changes = new Map<string, AsyncIterator<{ filename: string | null }>>();

/** Entry of a folder; links, sockets and devices are `other`. */
export interface FolderEntry {
  name: string;
  kind: 'file' | 'folder' | 'other';
}

function handleOf(path: string): FileHandle {
  const handle = handles.get(path);
  if (!handle) throw new Error(`${path} is not open for writing`);
  return handle;
}

/** The operations. The first parameter of each is a path. */
export const fileOperations = {
  /** Returns kind and size; null if the path does not exist or cannot be reached. */
  async look(path: string): Promise<{ kind: FolderEntry['kind']; size: number } | null> {
    const found = await stat(path).catch(() => null);
    if (!found) return null;
    const kind = found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'other';
    return { kind, size: found.size };
  },

  async list(folder: string): Promise<FolderEntry[]> {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.map((entry) => ({
      name: entry.name,
      kind: entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other',
    }));
  },

  async read(path: string): Promise<Uint8Array> {
    return readFile(path);
  },

  async makeFolder(path: string): Promise<void> {
    await mkdir(path, { recursive: true });
  },

  async write(path: string, content: string): Promise<void> {
    await writeFile(path, content);
  },

  async remove(path: string): Promise<void> {
    await rm(path, { force: true });
  },

  /** Opens a file for `append`, readable only by the owner. */
  async open(path: string, flags: 'w' | 'wx'): Promise<void> {
    handles.set(path, await open(path, flags, 0o600));
  },

  async append(path: string, text: string): Promise<void> {
    await handleOf(path).appendFile(text);
  },

  async close(path: string): Promise<void> {
    const handle = handleOf(path);
    handles.delete(path);
    await handle.close();
  },

  /** Copies `from` to `path`, complete or not at all, readable only by the owner. */
  async place(path: string, from: string, pid: number): Promise<void> {
    const partial = `${path}.${pid}.partial`;
    try {
      await copyFile(from, partial, constants.COPYFILE_EXCL);
      const handle = await open(partial, 'r+');
      // Sets owner and mode by hand: `copyFile` keeps the mode of `from`.
      await handle.chown(process.geteuid?.() ?? 0, process.getegid?.() ?? 0);
      await handle.chmod(0o600);
      await handle.sync().finally(() => handle.close());
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  },

  /** Begins to watch a folder, so that `nextChange` misses no change. */
  async watch(folder: string): Promise<void> {
    changes.set(folder, watch(folder, { recursive: true })[Symbol.asyncIterator]());
  },

  /** Waits for the next change in a watched folder, and returns the name of the changed file. */
  async nextChange(folder: string): Promise<string | null> {
    const next = await changes.get(folder)?.next();
    return next?.value?.filename ?? null;
  },
};

export type FileOperations = typeof fileOperations;
