// Changes of a resource's tags: each tag occurs once, in the order in which it was added.
import { ValidationError } from '../../platform/errors.ts';

export type TagsAfter = (had: readonly string[]) => readonly string[];

/** Adds tags. @throws ValidationError beyond `most` tags; `what` names the resource. */
export function withTags(tags: readonly string[], most: number, what: string): TagsAfter {
  return (had) => {
    const all = [...new Set([...had, ...tags])];
    if (all.length <= most) return all;
    throw ValidationError.of('tags', `would be ${all.length}: ${what} has ${most} at most`);
  };
}

/** Removes tags; absent ones are ignored. */
export function withoutTags(tags: readonly string[]): TagsAfter {
  return (had) => had.filter((tag) => !tags.includes(tag));
}

/** Returns the tags to remove from an index and to add to it. */
export function tagMoves(had: readonly string[], has: readonly string[]) {
  return { lost: withoutTags(has)(had), found: withoutTags(had)(has) };
}
