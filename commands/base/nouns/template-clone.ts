// Folders with the files of a template: clone, pull and push them without git. `.svc-template.json`
// in the folder names the template and the commit that the files were taken from.
import { dirname, join, resolve } from 'node:path';
import type { TemplateFiles } from '../../../src/content/rendering/compiled.ts';
import { messageOf } from '../../../src/platform/errors.ts';
import { fileOperation } from '../account/file-broker.ts';
import { textOf } from '../input/files.ts';
import { UsageError } from '../output/failure.ts';
import { writeWarning } from '../output/output.ts';

const byText = (a: string, b: string) => (a < b ? -1 : 1);

const stateFile = '.svc-template.json';

/** The state of a folder, stored in `.svc-template.json`. */
export interface CloneState {
  template: string;
  /** Commit of main from which the files were copied. */
  commit: string;
}

/** Reads the state of a folder. @throws UsageError for a folder that belongs to no template */
export async function readClone(folder: string): Promise<CloneState> {
  const state = await findClone(folder);
  if (state) return state;
  throw new UsageError(
    `${resolve(folder)} belongs to no template: run svc templates push ${folder} --slug SLUG`,
  );
}

/**
 * Reads the state of a folder; null if the folder has no `.svc-template.json`.
 * @throws UsageError for a damaged state
 */
export async function findClone(folder: string): Promise<CloneState | null> {
  const file = join(folder, stateFile);
  if (!(await fileOperation('look', file))) return null;
  const text = textOf(Buffer.from(await fileOperation('read', file)), file);
  try {
    const { template, commit } = JSON.parse(text) as Partial<CloneState>;
    if (typeof template === 'string' && /^[a-f0-9]{40}$/.test(commit ?? '')) {
      return { template, commit: commit ?? '' };
    }
  } catch {
    // Falls through to the error below.
  }
  throw new UsageError(`${resolve(file)} is damaged: clone the template into another folder`);
}

export async function writeState(folder: string, state: CloneState): Promise<void> {
  await fileOperation('write', join(folder, stateFile), `${JSON.stringify(state, null, 2)}\n`);
}

/** Writes the state, or warns: a folder without write access can still be pushed by its slug. */
export async function leaveState(folder: string, state: CloneState, slug: string): Promise<void> {
  await writeState(folder, state).catch((error: unknown) => {
    writeWarning(`${messageOf(error)}: push ${folder} with --slug ${slug} again`);
  });
}

function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'));
}

/**
 * Splits the files of a commit into files for a clone and hidden files. Hidden files stay in the
 * repository: `.envrc` or `.vscode/tasks.json` of a foreign author would run on this machine.
 */
export function visibleAndHidden(files: TemplateFiles): [TemplateFiles, TemplateFiles] {
  const all = Object.entries(files);
  const visible = all.filter(([path]) => !isHidden(path));
  const hidden = all.filter(([path]) => isHidden(path));
  return [Object.fromEntries(visible), Object.fromEntries(hidden)];
}

/**
 * Writes files that differ from `before`, and deletes files that only `before` has. Returns all
 * changed paths.
 */
export async function writeFiles(
  folder: string,
  before: TemplateFiles,
  files: TemplateFiles,
): Promise<string[]> {
  const [old, all] = [new Map(Object.entries(before)), new Map(Object.entries(files))];
  const changed: string[] = [];
  for (const [path, content] of all) {
    if (old.get(path) === content) continue;
    changed.push(path);
    const file = join(folder, path);
    await fileOperation('makeFolder', dirname(file));
    await fileOperation('write', file, content);
  }
  for (const path of old.keys()) {
    if (all.has(path)) continue;
    changed.push(path);
    await fileOperation('remove', join(folder, path));
  }
  return changed.sort(byText);
}

/** Makes the folder of a clone. @throws UsageError if it has files */
export async function makeFolder(folder: string): Promise<void> {
  await fileOperation('makeFolder', folder);
  const entries = await fileOperation('list', folder);
  if (entries.length > 0)
    throw new UsageError(`${resolve(folder)} is not empty: name a new folder`);
}

/** Returns the paths of added, removed and changed files, sorted. */
export function changedPaths(a: TemplateFiles, b: TemplateFiles): string[] {
  const [before, after] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  const paths = new Set([...before.keys(), ...after.keys()]);
  const changed = [...paths].filter((path) => before.get(path) !== after.get(path));
  return changed.sort(byText);
}
