// Unified diffs of files. The work is bounded: where two texts differ too much, the whole part
// between equal lines is shown as replaced.
import { diffArrays } from 'diff';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';
import type { TemplateFiles } from '../rendering/compiled.ts';

export interface FileDiff {
  path: string;
  status: 'added' | 'deleted' | 'modified';
  /** Unified diff with `---` and `+++` lines. */
  diff: string;
  /** Whether the diff was cut off at the limit. */
  isTruncated: boolean;
}

/** Most differing lines for which the shortest diff is searched: time grows with the square. */
const mostEdits = 250;
const contextLines = 3;
const longestDiff = 100_000;
const longestInAll = 1_000_000;

/** Most lines of the differing part of a file: the diff of a longer part is left empty. */
const mostLines = 10_000;

/** Lines of `a` that became lines of `b`. Lines count from 0; `endA` and `endB` are excluded. */
interface Change {
  startA: number;
  endA: number;
  startB: number;
  endB: number;
}

/** Returns the lines of a text, each with the line end. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    lines.push(text.slice(at, end < 0 ? text.length : end + 1));
    at = end < 0 ? text.length : end + 1;
  }
  return lines;
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/**
 * The middle of two texts, without the equal beginning and end except for some lines of context.
 */
interface Window {
  a: string;
  b: string;
  /** Number of lines before the window. */
  before: number;
}

function windowOf(a: string, b: string): Window {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a.charCodeAt(start) === b.charCodeAt(start)) start++;
  let end = 0;
  const room = shorter - start;
  while (end < room && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end++;
  // Extends the window by the context lines, and by the whole first and last line.
  for (let i = 0; i <= contextLines && start > 0; i++) start = a.lastIndexOf('\n', start - 2) + 1;
  for (let i = 0; i <= contextLines && end > 0; i++) {
    const next = a.indexOf('\n', a.length - end);
    end = next < 0 ? 0 : a.length - next - 1;
  }
  const before = countLines(a.slice(0, start));
  return { a: a.slice(start, a.length - end), b: b.slice(start, b.length - end), before };
}

/**
 * Returns the fewest changes between two lists, in order; a single change above `mostEdits` edits.
 */
function changesOf(a: string[], b: string[]): Change[] {
  const parts = diffArrays(a, b, { maxEditLength: mostEdits });
  if (!parts) return [{ startA: 0, endA: a.length, startB: 0, endB: b.length }];
  const changes: Change[] = [];
  let [startA, startB] = [0, 0];
  for (const { count, added, removed } of parts) {
    const [endA, endB] = [startA + (added ? 0 : count), startB + (removed ? 0 : count)];
    const last = changes.at(-1);
    // Joins edits that have no common line between them.
    const isJoined = last?.endA === startA && last.endB === startB;
    if (added || removed) {
      if (isJoined) Object.assign(last, { endA, endB });
      else changes.push({ startA, endA, startB, endB });
    }
    [startA, startB] = [endA, endB];
  }
  return changes;
}

/**
 * Returns the changes between two lists of lines. Does not compare the common beginning and end of
 * the lists. The numbers of lines refer to the whole lists, where the context lines are.
 */
function changesBetween(a: readonly string[], b: readonly string[]): Change[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--;
    endB--;
  }
  return changesOf(a.slice(start, endA), b.slice(start, endB)).map((change) => ({
    startA: change.startA + start,
    endA: change.endA + start,
    startB: change.startB + start,
    endB: change.endB + start,
  }));
}

/** Groups changes into hunks: changes whose context lines meet share a hunk. */
function hunksOf(changes: readonly Change[]): Change[][] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const hunk = hunks.at(-1);
    const last = hunk?.at(-1);
    if (hunk && last && change.startA - last.endA <= 2 * contextLines) hunk.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function rangeOf(start: number, end: number): string {
  const count = end - start;
  const first = count === 0 ? start : start + 1;
  return count === 1 ? `${first}` : `${first},${count}`;
}

function* linesOfHunk(
  a: readonly string[],
  b: readonly string[],
  hunk: readonly Change[],
  offset: number,
): Generator<string> {
  const [first, last] = [hunk[0], hunk.at(-1)];
  if (!first || !last) return;
  const before = Math.min(contextLines, first.startA);
  const after = Math.min(contextLines, a.length - last.endA);
  const [startA, startB] = [first.startA - before + offset, first.startB - before + offset];
  const rangeA = rangeOf(startA, last.endA + after + offset);
  yield `@@ -${rangeA} +${rangeOf(startB, last.endB + after + offset)} @@\n`;
  let at = first.startA - before;
  for (const { startA, endA, startB, endB } of hunk) {
    for (const line of a.slice(at, startA)) yield ` ${line}`;
    for (const line of a.slice(startA, endA)) yield `-${line}`;
    for (const line of b.slice(startB, endB)) yield `+${line}`;
    at = endA;
  }
  for (const line of a.slice(at, last.endA + after)) yield ` ${line}`;
}

/** Returns the hunks from `from` to `to`, cut off at `longest` characters. */
function bodyOf(from: string, to: string, longest: number): { text: string; isTruncated: boolean } {
  const window = windowOf(from, to);
  const lines = Math.max(countLines(window.a), countLines(window.b));
  if (lines > mostLines) return { text: '', isTruncated: true };
  const [a, b] = [linesOf(window.a), linesOf(window.b)];
  let text = '';
  for (const hunk of hunksOf(changesBetween(a, b))) {
    for (const line of linesOfHunk(a, b, hunk, window.before)) {
      if (text.length + line.length > longest) return { text, isTruncated: true };
      text += line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`;
    }
  }
  return { text, isTruncated: false };
}

/** Returns the diffs of the changed files, in the order of their paths. */
export async function diffFiles(from: TemplateFiles, to: TemplateFiles): Promise<FileDiff[]> {
  const [before, after] = [new Map(Object.entries(from)), new Map(Object.entries(to))];
  const diffs: FileDiff[] = [];
  let room = longestInAll;
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [a, b] = [before.get(path), after.get(path)];
    if (a === b) continue;
    const names = [
      a === undefined ? '/dev/null' : `a/${path}`,
      b === undefined ? '/dev/null' : `b/${path}`,
    ];
    const status = a === undefined ? 'added' : b === undefined ? 'deleted' : 'modified';
    const { text, isTruncated } = bodyOf(a ?? '', b ?? '', Math.min(longestDiff, room));
    room -= text.length;
    diffs.push({ path, status, diff: `--- ${names[0]}\n+++ ${names[1]}\n${text}`, isTruncated });
    await sliceTurns();
  }
  return diffs;
}
