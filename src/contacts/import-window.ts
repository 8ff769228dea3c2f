// In which order the rows of a file are written: some thousand at a time by their addresses, so that those of one
// transaction meet the same pages of the index of addresses. In no order each row meets one of its own, which
// costs 40 µs a row in the store in place of 23. Rows that name the same person keep their order: the later is
// laid over the earlier.
import type { Candidate } from './import-merge.ts';

/** Rows whose order is changed together. */
export const rowsPerWindow = 5_000;

/** No address ends so. */
export function nameOfExternalId(externalId: string): string {
  return `${externalId}@`;
}

/**
 * The candidates in the order in which they are written. `contactOf`: which contact that is there has a name.
 * Where a row makes one of two people before it they stay as they are.
 */
export function inOrderOfNames(
  candidates: readonly Candidate[],
  contactOf: ReadonlyMap<string, string>,
): readonly Candidate[] {
  const places = new Map<string, string>();
  const placed: { place: string; candidate: Candidate }[] = [];
  for (const candidate of candidates) {
    const names = [...candidate.folded];
    const { externalId } = candidate.contact;
    if (externalId !== undefined) names.push(nameOfExternalId(externalId));
    const [first = ''] = names;
    for (const name of names) {
      const contact = contactOf.get(name);
      if (contact !== undefined && !names.includes(contact)) names.push(contact);
    }
    let place: string | undefined;
    for (const name of names) {
      const known = places.get(name);
      if (known !== undefined && place !== undefined && known !== place) return candidates;
      place ??= known;
    }
    place ??= first;
    for (const name of names) places.set(name, place);
    placed.push({ place, candidate });
  }
  // Stable: those of one place stay as they came.
  placed.sort((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0));
  return placed.map(({ candidate }) => candidate);
}
