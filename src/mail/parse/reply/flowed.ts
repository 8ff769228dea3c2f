// Joins the lines of `format=flowed` (RFC 3676). Pure and linear.

/** Parts of a line: quote marks, a stuffed space, and the words. */
const form = /^(>*) ?(.*)$/s;
const signatureSeparator = '-- ';

/**
 * Returns the paragraphs of a flowed text, one line each, with their quote marks. A line continues
 * in the next if it ends in a space and both have the same quote depth (4.5); a signature separator
 * never joins (4.3). `delSp` removes the space at each cut. Words that begin with `>` after a
 * stuffed space (4.4) are not quoted: they get `literal` in front.
 */
export function joinFlowed(text: string, delSp: boolean, literal = ''): string {
  const paragraphs: string[] = [];
  let open: { marks: string; pieces: string[] } | null = null;
  const close = () => {
    if (open) {
      const words = open.pieces.join('');
      const mark = open.marks === '' && words.startsWith('>') ? literal : open.marks;
      paragraphs.push(`${mark}${words}`);
    }
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
