// The look of pages that recipients open from their mail, and the page of a broken link. No script, nothing
// loaded from elsewhere; the policy allows exactly this style by its hash.
import { createHash } from 'node:crypto';
import { escapeHtml } from '../../platform/net/escape-html.ts';

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
p { margin: 0 0 1rem; }
.sender { margin: 0 0 .25rem; color: var(--soft); }
.note { color: var(--soft); }
form { margin: .75rem 0 0; }
button { width: 100%; padding: .75rem 1rem; font: inherit; font-weight: 600; cursor: pointer;
  border: 1px solid var(--line); border-radius: .5rem; background: none; color: inherit;
  overflow-wrap: anywhere; }
button.first { border-color: var(--button); background: var(--button); color: var(--on-button); }
button:focus-visible { outline: 3px solid var(--button); outline-offset: 2px; }
`;
const styleHash = createHash('sha256').update(style).digest('base64');

/** Headers of every page of a recipient: not stored, not indexed, not framed. */
export const recipientPageHeaders = {
  'cache-control': 'no-store, private, max-age=0',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; form-action 'self'; ` +
    "frame-ancestors 'none'; base-uri 'none'",
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
};

/** Returns a page. @param content HTML: the caller has escaped its texts */
export function recipientPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><style>${style}</style></head>
<body><main>
${content}</main></body></html>
`;
}

const brokenLinkPage = recipientPage(
  'Broken link',
  `<h1>This link does not work</h1>
<p>Part of the link may be missing. Open the mail again and use the link in it.</p>
<p class="note">If that does not work either, reply to the mail: the sender can help you.</p>
`,
);

/** The answer to a link that is cut, forged or unknown. */
export const brokenLink = {
  status: 404,
  headers: recipientPageHeaders,
  body: Buffer.from(brokenLinkPage),
} as const;
