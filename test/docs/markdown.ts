// Reads our own Markdown files for the tests that hold them to the program: fences, tables, code
// spans, sections. Supports only the Markdown that we write.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../support/cli.ts';

export interface Fence {
  /** First word of the info string, as in "sh". */
  language: string;
  /** Remaining words of the info string. */
  marks: readonly string[];
  text: string;
  /** Line of the opening fence, from 1. */
  line: number;
}

export interface Markdown {
  text: string;
  /** Lines outside of fences. */
  prose: readonly string[];
  fences: readonly Fence[];
}

/** Reads a file of the repository. @throws Error for a fence that is left open. */
export function readMarkdown(name: string): Markdown {
  const text = readFileSync(join(repository, name), 'utf8');
  const prose: string[] = [];
  const fences: Fence[] = [];
  let open: (Omit<Fence, 'text'> & { lines: string[] }) | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const info = /^```(.*)$/.exec(line)?.[1];
    if (info === undefined) {
      (open ? open.lines : prose).push(line);
    } else if (open) {
      const { lines, ...fence } = open;
      fences.push({ ...fence, text: lines.join('\n') });
      open = null;
    } else {
      const [language = '', ...marks] = info.split(' ');
      open = { language, marks, line: index + 1, lines: [] };
    }
  }
  if (open) throw new Error(`${name}:${open.line}: a fence is left open`);
  return { text, prose, fences };
}

/**
 * Reads README.md, the index of docs/ and the pages that the index lists, in that order: the pages
 * for users.
 */
export function userPages(): readonly (Markdown & { name: string })[] {
  const index = readMarkdown('docs/README.md');
  const links = tableRows(index.prose).flatMap(([cell = '']) => /\((.+)\)/.exec(cell)?.[1] ?? []);
  const names = ['README.md', 'docs/README.md', ...links.map((link) => `docs/${link}`)];
  return names.map((name) => ({ name, ...readMarkdown(name) }));
}

/** Finds the `code` spans of prose. */
export function codeSpans(lines: readonly string[]): string[] {
  return [...lines.join('\n').matchAll(/`([^`]+)`/g)].map(([, span = '']) =>
    span.replaceAll('\n', ' '),
  );
}

/** Returns the lines from a heading to the next one. @throws Error without such a heading. */
export function section({ prose }: Markdown, heading: string): string[] {
  const start = prose.findIndex((line) => line.replace(/^#+ /, '') === heading);
  if (start < 0 || !prose[start]?.startsWith('#')) throw new Error(`no heading "${heading}"`);
  const rest = prose.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith('#'));
  return rest.slice(0, end < 0 ? rest.length : end);
}

/** Returns the cells of the tables in these lines, without their heads. */
export function tableRows(lines: readonly string[]): string[][] {
  const isHead = (index: number) => /^\|[-| :]+\|$/.test(lines[index + 1] ?? '');
  return lines
    .filter((line, index) => line.startsWith('|') && !/^\|[-| :]+\|$/.test(line) && !isHead(index))
    .map((line) => line.slice(1, -1).split('|'))
    .map((cells) => cells.map((cell) => cell.trim()));
}
