// Content of a forwarded mail, in text and HTML: the caller's text, then the header fields and the
// content of the original. Pure.
import { textAtOnce } from '../../outbound/messages/made-text.ts';

/** The fields of the original that new recipients see. */
export interface Original {
  from: string;
  /** ISO 8601. */
  date: string;
  subject: string | null;
  to: readonly string[];
  cc: readonly string[];
  text: string | null;
  html: string | null;
}

/** Text and HTML of the caller, which stand above the original. */
export interface Written {
  text: string | null;
  html: string | null;
}

const announcement = '---------- Forwarded message ----------';

function headLines({ from, date, subject, to, cc }: Original): string[] {
  return [
    `From: ${from}`,
    `Date: ${date}`,
    `Subject: ${subject ?? ''}`,
    ...(to.length > 0 ? [`To: ${to.join(', ')}`] : []),
    ...(cc.length > 0 ? [`Cc: ${cc.join(', ')}`] : []),
  ];
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
}

function htmlOfText(text: string): string {
  return `<div style="white-space:pre-wrap">${escapeHtml(text)}</div>`;
}

/**
 * Returns the content of a forwarded mail. It has HTML only if the caller's part or the original
 * has HTML. If the HTML is long, the caller must pass the text too: a missing text is made here,
 * which blocks the event loop.
 */
export function forwardedContent(written: Written, original: Original): Written {
  const head = [announcement, ...headLines(original)];
  const above = written.text ?? (written.html === null ? '' : textAtOnce(written.html));
  const below = original.text ?? (original.html === null ? '' : textAtOnce(original.html));
  const text = [...(above === '' ? [] : [above, '']), ...head, '', below].join('\n');
  if (written.html === null && original.html === null) return { text, html: null };
  const top = written.html ?? (above === '' ? '' : htmlOfText(above));
  const bottom = original.html ?? htmlOfText(below);
  const html = `${top}<br><div>${head.map(escapeHtml).join('<br>')}</div><br>${bottom}`;
  return { text, html };
}
