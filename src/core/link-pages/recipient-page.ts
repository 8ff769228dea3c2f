// The look of pages that recipients open from their mail, and the page of a broken link. The pages
// have no script, and load only the logo of a brand. Content-Security-Policy allows only the styles
// of the page, by their hashes.
import { hash } from 'node:crypto';
import { escapeHtml } from '../../platform/net/escape-html.ts';

/** A logo with the alternative text. */
interface Logo {
  url: string;
  darkUrl: string | null;
  name: string;
}

/** Look of the pages of a brand. */
export interface PageLook {
  /** CSS that follows the CSS of the service; empty without a style of the brand. */
  style: string;
  logo: Logo | null;
  /** Company and address lines in the footer. */
  foot: readonly string[];
}

/** Look of a page without a brand. */
export const plainLook: PageLook = { style: '', logo: null, foot: [] };

const style = `
:root { color-scheme: light dark; --text: #1c1f23; --soft: #59616b; --back: #f3f4f6; --card: #fff;
  --line: #8a929c; --button: #14599e; --on-button: #fff; }
@media (prefers-color-scheme: dark) { :root { --text: #eceef1; --soft: #a9b1bb; --back: #15181c;
  --card: #20252b; --line: #79828d; --button: #7db9f5; --on-button: #0d1115; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: flex; align-items: center; justify-content: center;
  padding: 1rem; background: var(--back); color: var(--text); overflow-wrap: anywhere;
  font: 1.0625rem/1.5 system-ui, sans-serif; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
main { width: 100%; max-width: 30rem; padding: 1.75rem 1.5rem; background: var(--card);
  border-radius: .75rem; }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 1.75rem 0 0; font-size: 1.125rem; line-height: 1.3; }
p { margin: 0 0 1rem; }
.logo { display: block; max-width: 100%; max-height: 3.5rem; margin: 0 0 1.25rem; }
@media (prefers-color-scheme: dark) { .logo:only-child { padding: .5rem; background: #fff;
  border-radius: .375rem; } }
.sender { margin: 0 0 .25rem; color: var(--soft); }
.note { color: var(--soft); }
.done { padding: .25rem .875rem; border-left: 4px solid var(--button); }
ul { margin: .25rem 0 0; padding: 0; list-style: none; }
li { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; padding: .875rem 0;
  border-bottom: 1px solid var(--line); }
li:last-child { border: 0; }
li > div { flex: 1 1 12rem; min-width: 0; }
li strong, li span { display: block; }
li span { color: var(--soft); font-size: .9375rem; }
li form { flex: 0 1 auto; margin: 0; }
li button { padding: .5rem .875rem; font-size: .9375rem; }
footer { margin: 1.75rem 0 0; color: var(--soft); font-size: .875rem; }
address { font-style: normal; }
form { margin: .75rem 0 0; }
form + p { margin: 1rem 0 0; }
button { width: 100%; padding: .75rem 1rem; font: inherit; font-weight: 600; cursor: pointer;
  border: 1px solid var(--line); border-radius: .5rem; background: none; color: inherit;
  overflow-wrap: anywhere; }
button.first { border-color: var(--button); background: var(--button); color: var(--on-button); }
button:focus-visible { outline: 3px solid var(--button); outline-offset: 2px; }
`;
const hashOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;
const styleHash = hashOf(style);

/** Returns the headers of a page: not stored, not indexed, not framed. */
export function recipientPageHeaders({ style: own, logo }: PageLook): Record<string, string> {
  const styles = own === '' ? styleHash : `${styleHash} ${hashOf(own)}`;
  const logos = logo ? [logo.url, logo.darkUrl ?? logo.url].map((url) => new URL(url).origin) : [];
  const images = ['data:', ...new Set(logos)].join(' ');
  return {
    'cache-control': 'no-store, private, max-age=0',
    'content-security-policy':
      `default-src 'none'; style-src ${styles}; img-src ${images}; form-action 'self'; ` +
      "frame-ancestors 'none'; base-uri 'none'",
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex, nofollow',
  };
}

function drawLogo({ url, darkUrl, name }: Logo): string {
  const image = `<img class="logo" src="${escapeHtml(url)}" alt="${escapeHtml(name)}">`;
  // Without a dark logo, the CSS gives the logo a white background on dark screens.
  if (darkUrl === null) return `<picture>${image}</picture>\n`;
  // In `srcset`, a comma at an end of a URL would separate two images.
  const candidate = escapeHtml(darkUrl.replaceAll(',', '%2C'));
  const dark = `<source media="(prefers-color-scheme: dark)" srcset="${candidate}">`;
  return `<picture>${dark}${image}</picture>\n`;
}

function drawFoot(lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `<footer><address>${lines.map(escapeHtml).join('<br>\n')}</address></footer>\n`;
}

/** Returns a page. @param content HTML: the caller has escaped the texts */
export function recipientPage(title: string, content: string, look = plainLook): string {
  const own = look.style === '' ? '' : `<style>${look.style}</style>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><style>${style}</style>${own}</head>
<body><main>
${look.logo ? drawLogo(look.logo) : ''}${content}${drawFoot(look.foot)}</main></body></html>
`;
}

/** Words of a page with at most one button; empty parts are left out. */
export interface PageWords {
  /** Name of the sender, above the heading and in the title. */
  sender?: string;
  heading: string;
  text: string;
  about?: string | false;
  button?: { action: string; words: string } | false;
  note?: string;
}

/** Renders a page with a heading, a text, and at most a single button. */
export function wordedPage(
  { sender, heading, text, about, button, note }: PageWords,
  look: PageLook,
): string {
  const small = (words: string) => `<p class="note">${escapeHtml(words)}</p>\n`;
  return recipientPage(
    sender === undefined ? heading : `${heading} – ${sender}`,
    (sender === undefined ? '' : `<p class="sender">${escapeHtml(sender)}</p>\n`) +
      `<h1>${escapeHtml(heading)}</h1>\n<p>${escapeHtml(text)}</p>\n` +
      (about ? small(about) : '') +
      (button ? pageButton(button, 'first') : '') +
      (note === undefined ? '' : small(note)),
    look,
  );
}

/** Returns a form with a single button. `look` is the class of the button. */
export function pageButton(
  { action, words }: { action: string; words: string },
  look = '',
): string {
  const field = `<input type="hidden" name="action" value="${action}">`;
  const style = look && ` class="${look}"`;
  return `<form method="post">${field}<button${style}>${escapeHtml(words)}</button></form>\n`;
}

const brokenLinkPage = recipientPage(
  'Broken link',
  `<h1>This link does not work</h1>
<p>Part of the link may be missing. Open the mail again and use the link in it.</p>
<p class="note">If that does not work either, reply to the mail: the sender can help you.</p>
`,
);

/** Answer to a link that is cut, forged or unknown. */
export const brokenLink = {
  status: 404,
  headers: recipientPageHeaders(plainLook),
  body: Buffer.from(brokenLinkPage),
} as const;
