// Marks in the text of a mail for the reply split: noncharacters of Unicode. Some are on a separate
// line, around parts that a mail program names by class or id. The rest precede the words of a
// line.

/**
 * Marks of parts. `whole`: the whole part is quoted. `lead`: the part is quoted up to the first
 * `>`, after which the sender may answer between quotations. `tail`: all following text is quoted.
 * `signature`: the part is a signature.
 */
export const marks = {
  whole: '\ufdd0',
  lead: '\ufdd1',
  tail: '\ufdd2',
  signature: '\ufdd3',
} as const;
export type Mark = keyof typeof marks;
export const endMark = '\ufdd4';
const partMark = /[\ufdd0-\ufdd4]/;
/** Replaces `>` before lines of a blockquote that may be indented words of the sender. */
export const indentMark = '\ufdd5';
/** Precedes a line of the sender that begins with `>`. */
export const literalMark = '\ufdd6';
const everyMark = /[\ufdd0-\ufdd6]/g;

/** Removes all marks of this file from a text. */
export const withoutMarks = (text: string) => text.replace(everyMark, '');

export interface MarkedLines {
  lines: string[];
  /** For each line: whether a mark declares it quoted, or part of a signature. */
  declared: ('quoted' | 'signature' | null)[];
}

/**
 * Removes the marks of parts from the lines. Marks after a `>` belong to an older mail and are
 * ignored.
 */
export function readMarks(marked: readonly string[]): MarkedLines {
  const lines: string[] = [];
  const declared: MarkedLines['declared'] = [];
  const open: { mark: Mark; isPast: boolean }[] = [];
  const count = { whole: 0, signature: 0, tail: 0, lead: 0 };
  for (const line of marked) {
    if (!partMark.test(line)) {
      if (/^[ \t]*>/.test(line)) {
        const lead = open.at(-1);
        if (lead) lead.isPast = true;
      }
      lines.push(line);
      const isLead = open.at(-1)?.mark === 'lead' && open.at(-1)?.isPast === false;
      const isQuoted = count.tail + count.whole > 0 || isLead;
      declared.push(isQuoted ? 'quoted' : count.signature > 0 ? 'signature' : null);
      continue;
    }
    const found = line.trim();
    const mark = (Object.keys(marks) as Mark[]).find((one) => marks[one] === found);
    if (mark !== undefined) {
      count[mark] += 1;
      if (mark !== 'tail') open.push({ mark, isPast: false });
    } else if (found === endMark) {
      const closed = open.pop();
      if (closed) count[closed.mark] -= 1;
      const outer = open.at(-1);
      if (outer && closed?.isPast) outer.isPast = true;
    }
  }
  return { lines, declared };
}
