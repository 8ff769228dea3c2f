// The tags of a resource as its list of them changes: each once, in the order in which they came.
import { ValidationError } from '../errors.ts';

export type TagsAfter = (had: readonly string[]) => readonly string[];

/** Adds tags. @throws ValidationError where there would be more than `what` may have. */
export function withTags(tags: readonly string[], most: number, what: string): TagsAfter {
  return (had) => {
    const all = [...new Set([...had, ...tags])];
    if (all.length <= most) return all;
    throw ValidationError.of('tags', `would be ${all.length}: ${what} has ${most} at most`);
  };
}

/** Takes tags off; one that is not there is ignored. */
export function withoutTags(tags: readonly string[]): TagsAfter {
  return (had) => had.filter((tag) => !tags.includes(tag));
}

/** What an index of tags loses and gets. */
export function tagMoves(had: readonly string[], has: readonly string[]) {
  return { lost: withoutTags(has)(had), found: withoutTags(had)(has) };
}
