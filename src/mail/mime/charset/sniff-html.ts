// Finds the charset that an HTML document declares in a `<meta>`: the prescan of the HTML standard
// (13.2.3.2).
import { readTokens } from '../html/tokens.ts';

/**
 * Bytes that the prescan reads. Some programs write a long comment first, so it is more than the
 * 1,024 of the standard.
 */
const prescanBytes = 4096;
const inContent = /charset[\s]{0,20}=[\s]{0,20}["']?([^\s"';]{1,60})/i;

/**
 * Returns the label declared, or null. A label of UTF-16 means UTF-8, because the reader of the
 * label found ASCII.
 */
export function sniffHtmlCharset(bytes: Buffer): string | null {
  const start = bytes.toString('latin1', 0, prescanBytes);
  if (!/charset/i.test(start)) return null;
  let found: string | null = null;
  readTokens(start, {
    open(name, attributes) {
      if (name !== 'meta' || found !== null) return;
      const isPragma = attributes.get('http-equiv')?.trim().toLowerCase() === 'content-type';
      const content = isPragma ? inContent.exec(attributes.get('content') ?? '')?.[1] : undefined;
      const label = attributes.get('charset') ?? content;
      if (label) found = label;
    },
    close() {},
    text() {},
  });
  return found !== null && /^utf-?16/i.test(found) ? 'utf-8' : found;
}
