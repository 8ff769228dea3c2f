// Changes of a resource's tags. Tags are compared without case. Each tag occurs once, spelled and
// placed as it was first added.
import { ValidationError } from '../../platform/errors.ts';
import { foldCase } from '../../platform/runtime/fold-case.ts';

export type TagsAfter = (had: readonly string[]) => readonly string[];

/** Returns the tags without repeats in a different case; the first spelling stays. */
export function uniqueTags(tags: readonly string[] = []): string[] {
  const byFolded = new Map<string, string>();
  for (const tag of tags) {
    const folded = foldCase(tag);
    if (!byFolded.has(folded)) byFolded.set(folded, tag);
  }
  return [...byFolded.values()];
}

/** Returns the tags of `has`, each once and in the spelling of `had`. */
export function keptTags(had: readonly string[], has: readonly string[]): string[] {
  const written = new Map(had.map((tag) => [foldCase(tag), tag]));
  return uniqueTags(has).map((tag) => written.get(foldCase(tag)) ?? tag);
}

/**
 * Returns a function that adds tags. It throws a ValidationError for more than `most` tags; `what`
 * names the resource.
 */
export function withTags(tags: readonly string[], most: number, what: string): TagsAfter {
  return (had) => {
    const all = uniqueTags([...had, ...tags]);
    if (all.length <= most) return all;
    throw ValidationError.of('tags', `would be ${all.length}: ${what} has ${most} at most`);
  };
}

/** Returns a function that removes tags; absent tags are ignored. */
export function withoutTags(tags: readonly string[]): TagsAfter {
  const removed = new Set(tags.map(foldCase));
  return (had) => had.filter((tag) => !removed.has(foldCase(tag)));
}

/** Returns the tags to remove from an index (`lost`), and the tags to add (`found`). */
export function tagMoves(had: readonly string[], has: readonly string[]) {
  return { lost: withoutTags(has)(had), found: withoutTags(had)(has) };
}
