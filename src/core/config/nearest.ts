// Suggestions ("did you mean …?") for names of the configuration. Pure; the caller passes the
// candidates.

/** Returns the number of single-character edits between two words (Levenshtein). */
function editDistance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const line = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      const removed = (above[column] ?? 0) + 1;
      const inserted = (line[column - 1] ?? 0) + 1;
      line.push(Math.min(replaced, removed, inserted));
    }
    above = line;
  }
  return above[other.length] ?? 0;
}

const longestName = 100;
const fold = (name: string) => name.toLowerCase().replace(/[_-]/g, '');

/**
 * Returns the candidate that `name` probably means, or undefined. Ignores case, `_` and `-`; a
 * third of the letters (at least two) may differ.
 */
export function findNearest(name: string, candidates: readonly string[]): string | undefined {
  const wanted = fold(name.slice(0, longestName));
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const folded = fold(candidate);
    if (Math.abs(wanted.length - folded.length) >= bestDistance) continue;
    const distance = editDistance(wanted, folded);
    if (distance >= bestDistance || distance >= folded.length) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}
