// Reads the folder of a template: the text files by path, with `/` in paths on every system. Leaves
// out hidden files and folders, such as `.git`.
import { join, resolve } from 'node:path';
import { fileLimits } from '../../../src/content/rendering/files.ts';
import { fileOperation } from '../account/file-broker.ts';
import { textOf } from '../input/files.ts';
import { UsageError } from '../output/failure.ts';

/** Most entries of a folder, so that a wrong folder, such as a home directory, fails at once. */
const mostEntries = 10 * fileLimits.files;

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function readText(file: string): Promise<string> {
  const found = await fileOperation('look', file);
  if (found && found.size > fileLimits.bytesOfFile) {
    throw new UsageError(
      `${resolve(file)}: a file has at most ${fileLimits.bytesOfFile / 1024} KB`,
    );
  }
  const bytes = await fileOperation('read', file).catch((error: unknown) => {
    throw new UsageError(`${resolve(file)}: cannot be read (${reasonOf(error)})`);
  });
  return textOf(Buffer.from(bytes), file);
}

/**
 * Returns the files of a folder.
 * @throws UsageError for a folder that cannot be read, has no files, has a link or is too large
 */
export async function readTemplateFolder(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  let entries = 0;
  const read = async (under: string): Promise<void> => {
    const found = await fileOperation('list', join(folder, under)).catch((error: unknown) => {
      throw new UsageError(`${resolve(folder, under)}: cannot be read (${reasonOf(error)})`);
    });
    for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue;
      entries += 1;
      if (entries > mostEntries || Object.keys(files).length === fileLimits.files) {
        throw new UsageError(
          `${resolve(folder)}: a template has at most ${fileLimits.files} files`,
        );
      }
      const path = under === '' ? entry.name : `${under}/${entry.name}`;
      if (entry.kind === 'folder') await read(path);
      else if (entry.kind === 'file') files[path] = await readText(join(folder, path));
      else throw new UsageError(`${resolve(folder, path)}: is neither a file nor a folder`);
    }
  };
  await read('');
  if (Object.keys(files).length === 0) throw new UsageError(`${resolve(folder)}: has no files`);
  return files;
}
