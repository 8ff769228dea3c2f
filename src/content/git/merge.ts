// Three-way merge of files: if only a single side changed a file, that version is used. Pure. Lines
// are not merged: lines of both sides may form an invalid template that nobody has seen.
import type { TemplateFiles } from '../rendering/compiled.ts';

/** A file that both sides changed differently. Null: the side has no such file. */
export interface MergeConflict {
  path: string;
  base: string | null;
  ours: string | null;
  theirs: string | null;
}

export interface Merged {
  /** The merged files; files with a conflict are as in `ours`. */
  files: TemplateFiles;
  conflicts: MergeConflict[];
}

/** Merges the changes of both sides since their common base. */
export function mergeFiles(
  base: TemplateFiles,
  ours: TemplateFiles,
  theirs: TemplateFiles,
): Merged {
  const [from, our, their] = [base, ours, theirs].map((files) => new Map(Object.entries(files)));
  const paths = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  const files: [string, string][] = [];
  const conflicts: MergeConflict[] = [];
  for (const path of [...paths].sort()) {
    const before = from?.get(path) ?? null;
    const mine = our?.get(path) ?? null;
    const other = their?.get(path) ?? null;
    const isConflict = mine !== other && mine !== before && other !== before;
    if (isConflict) conflicts.push({ path, base: before, ours: mine, theirs: other });
    const content = mine === before ? other : mine;
    if (content !== null) files.push([path, content]);
  }
  return { files: Object.fromEntries(files), conflicts };
}
