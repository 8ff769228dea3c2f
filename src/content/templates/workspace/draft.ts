// The draft of a workspace: the files of main, replaced by staged files. Pure.
import { createHash } from 'node:crypto';
import type { TemplateFiles } from '../../rendering/compiled.ts';

/** Staged files by path; null deletes a file. */
export type Overlay = Readonly<Record<string, string | null>>;

/** A file that both the draft and main changed. Null: the side has no such file. */
export interface Conflict {
  path: string;
  base: string | null;
  draft: string | null;
  main: string | null;
  /** Set once the caller has staged the path again, or restored a commit. */
  isResolved?: true;
}

/** The body files, in the order of preference. */
const bodies = ['body.mjml', 'body.html', 'body.txt'] as const;

/** Returns the files of the base, replaced by staged files, in the order of their paths. */
export function draftOf(base: TemplateFiles, overlay: Overlay): TemplateFiles {
  const files = new Map(Object.entries(base));
  for (const [path, content] of Object.entries(overlay)) {
    if (content === null) files.delete(path);
    else files.set(path, content);
  }
  return sorted(files);
}

function sorted<Value>(files: ReadonlyMap<string, Value>): Record<string, Value> {
  return Object.fromEntries([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Adds changes to the staged files. Content equal to the base is not staged. */
export function staged(base: TemplateFiles, overlay: Overlay, changes: Overlay): Overlay {
  const known = new Map(Object.entries(base));
  const all = new Map(Object.entries(overlay));
  for (const [path, content] of Object.entries(changes)) {
    if (content === (known.get(path) ?? null)) all.delete(path);
    else all.set(path, content);
  }
  return sorted(all);
}

/** Returns the staged files that replace the whole base: these files, and deletions of the rest. */
export function replacing(base: TemplateFiles, files: TemplateFiles): Overlay {
  const all = new Map<string, string | null>(Object.entries(files));
  for (const path of Object.keys(base)) if (!all.has(path)) all.set(path, null);
  return sorted(all);
}

/** Returns the staged files that turn the base into these files. */
export function overlayTo(base: TemplateFiles, files: TemplateFiles): Overlay {
  return staged(base, {}, replacing(base, files));
}

/** The source of a template: the body file, and a digest of the content. */
export interface Source {
  digest: string;
  content: string;
}

export function sourceOf(files: TemplateFiles): Source {
  const known = new Map(Object.entries(files));
  const path = bodies.find((name) => known.has(name)) ?? '';
  const content = known.get(path) ?? '';
  return { digest: digestOf(content), content };
}

export function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
