// The frame of a page of the reference: style, navigation, and the form of the search. It has no
// script and no external asset, can be printed, and fits windows from 320 px on.
import { escapeHtml } from '../../../src/platform/net/escape-html.ts';

/** Longest search in characters; the rest is ignored. */
export const longestSearch = 100;

export const docsStyle = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --link: #0b63c5; }
@media (prefers-color-scheme: dark) { :root { --link: #6cb0ff; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; display: flex; overflow-wrap: anywhere;
  -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; flex: 0 0 17rem; padding: 1rem;
  box-sizing: border-box; border-right: 1px solid var(--line); font-size: 13px; }
main { flex: 1; min-width: 0; max-width: 60rem; padding: 1rem 2rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav ul ul { margin: 0 0 .5rem; padding: 0 0 0 1rem; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
code { background: var(--soft); border-radius: 3px; padding: 0 .25em; }
pre { background: var(--soft); border-radius: 5px; padding: .75rem; overflow-x: auto; }
#menu, #menu + label { display: none; }
form { display: flex; gap: .5rem; margin: 0 0 1rem; }
input[type=search] { flex: 1; min-width: 0; font: inherit; padding: .3rem; }
summary { cursor: pointer; font-size: 13px; }
section { border-top: 1px solid var(--line); margin-top: 2rem; }
h3 code { background: none; padding: 0; font-size: 16px; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid var(--line); }
th { font-size: 12px; font-weight: 600; }
td { min-width: 3.5rem; }
small { opacity: .75; }
@media (width >= 80rem) {
  main { max-width: 90rem; }
  section:has(> pre) { display: grid; column-gap: 2rem; align-items: start;
    grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
  section > div { grid-column: 1; }
  section > pre { grid-column: 2; grid-row: 1 / span 2; position: sticky; top: 1rem; }
}
@media (max-width: 50rem) {
  body { display: block; }
  nav { position: static; height: auto; border: 0; border-bottom: 1px solid var(--line); }
  #menu { display: inline; } #menu + label { display: inline; font-weight: 600; }
  #menu:not(:checked) ~ div { display: none; }
  nav a { display: block; padding: .3rem 0; }
  main { padding: .5rem 1rem; }
}
@media (max-width: 40rem) {
  thead { display: none; } table, tbody, tr, td { display: block; }
  tr { border-bottom: 1px solid var(--line); padding: .4rem 0; } td { border: 0; padding: 0; }
}
@media print { nav { display: none; } section { break-inside: avoid; } }
`;

/** A link of the navigation, with the links below it. */
export interface NavigationItem {
  href: string;
  text: string;
  inner?: readonly NavigationItem[];
}

interface PageParts {
  /** Name of the API with its version. */
  title: string;
  /** Heading of the page. */
  heading: string;
  search: string;
  navigation: readonly NavigationItem[];
  /** HTML of the page below the heading. */
  body: string;
}

/** Draws a page as HTML. Escapes all texts except `body`. */
export function drawPage({ title, heading, search, navigation, body }: PageParts): string {
  const name = heading === title ? title : `${heading} · ${title}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name)}</title>
<link rel="icon" href="data:,"><style>${docsStyle}</style></head>
<body><nav><h3><a href="/docs">${escapeHtml(title)}</a></h3>
<form action="/docs" role="search"><input type="search" name="q" aria-label="Search the reference"
placeholder="Search" maxlength="${longestSearch}" value="${escapeHtml(search)}"> <button>Search</button></form>
<input type="checkbox" id="menu"> <label for="menu">Contents</label>
<div>${drawNavigation(navigation)}
</div></nav><main><h1>${escapeHtml(heading)}</h1>
${body}
</main></body></html>
`;
}

function drawNavigation(items: readonly NavigationItem[]): string {
  if (items.length === 0) return '';
  const entries = items.map(
    ({ href, text, inner = [] }) =>
      `<li><a href="${escapeHtml(href)}">${escapeHtml(text)}</a>${drawNavigation(inner)}</li>`,
  );
  return `<ul>${entries.join('\n')}</ul>`;
}

/** Returns paragraphs, with `code` as the only markup. */
export function prose(text: string): string {
  const paragraphs = text.split('\n\n').filter((paragraph) => paragraph !== '');
  return paragraphs.map((paragraph) => `<p>${inline(paragraph)}</p>`).join('');
}

/** Returns escaped text, with `code` as the only markup. */
export function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** Returns a table; heads and cells are HTML. */
export function table(heads: readonly string[], rows: readonly string[][]): string {
  const head = heads.map((text) => `<th>${text}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
}
