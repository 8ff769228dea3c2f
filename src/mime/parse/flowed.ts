// Joins the lines of `format=flowed` (RFC 3676). Pure and linear.

/** Quote marks, one stuffed space, the words. */
const form = /^(>*) ?(.*)$/s;
const signatureSeparator = '-- ';

/**
 * The paragraphs of a flowed text, a line each, with the quote marks that they came with. A line goes on
 * in the next one where it ends in a space and both are quoted as deep (4.5); a signature's separator
 * joins nothing (4.3). `delSp` takes out the space at which lines were cut.
 */
export function joinFlowed(text: string, delSp: boolean): string {
  const paragraphs: string[] = [];
  let open: { marks: string; pieces: string[] } | null = null;
  const close = () => {
    if (open) paragraphs.push(`${open.marks}${open.pieces.join('')}`);
    open = null;
  };
  for (const line of text.split(/\r?\n/)) {
    const [, quote = '', words = ''] = form.exec(line) ?? [];
    const marks = quote === '' ? '' : `${quote} `;
    const isSeparator = words === signatureSeparator;
    if (open && (open.marks !== marks || isSeparator)) close();
    open ??= { marks, pieces: [] };
    const isSoft = words.endsWith(' ') && !isSeparator;
    open.pieces.push(isSoft && delSp ? words.slice(0, -1) : words);
    if (!isSoft) close();
  }
  close();
  if (paragraphs.at(-1) === '') paragraphs.pop();
  return paragraphs.join('\n');
}
