// The text part of mail with only HTML. Long HTML is converted in the parse worker: hostile HTML of
// 256 KB takes 0.1 s, which would block the main thread.
import type { App } from '../../core/app.ts';
import { textOfHtml } from '../../mail/mime/html-text.ts';
import { ServiceError } from '../../platform/errors.ts';

/** Longest HTML in characters that is converted on the main thread: it takes 10 ms. */
const longestAtOnce = 32 * 1024;
/** Most characters of HTML that are converted in the worker. */
const longest = 2 * 1024 * 1024;
const rest = '[The rest of this message is in its HTML part.]';

/** Returns the text of the first `most` characters. If there are more, a last line says so. */
function textOfStart(html: string, most: number): string {
  const text = textOfHtml(html.slice(0, most));
  return html.length > most ? `${text}\n${rest}\n` : text;
}

/** Returns the text of the first 32 K characters of HTML, converted on the main thread. */
export function textAtOnce(html: string): string {
  return textOfStart(html, longestAtOnce);
}

/**
 * Returns the text of HTML for an organization: from the first 2 M characters, or from the first 32
 * K if the worker fails or takes too long.
 * @throws CapacityError if the parse worker is full
 */
async function textInWorker(app: App, organizationId: string, html: string): Promise<string> {
  try {
    const text = await app.mime.readText(html.slice(0, longest), organizationId);
    return html.length > longest ? `${text}\n${rest}\n` : text;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    return textAtOnce(html);
  }
}

interface Texts {
  html: string | null;
  text: string | null;
}

/** Returns the content, with a text if it has only HTML that is too long to convert at once. */
export function withLongText<T extends Texts>(
  app: App,
  organizationId: string,
  content: T,
): T | Promise<T> {
  const { html, text } = content;
  if (text !== null || html === null || html.length <= longestAtOnce) return content;
  return textInWorker(app, organizationId, html).then((made) => ({ ...content, text: made }));
}
