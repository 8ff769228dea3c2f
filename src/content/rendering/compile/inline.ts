// Writes CSS into `style` attributes by css-inline. This is native code that no deadline can end,
// so the cost is bounded beforehand. html-tree.ts bounds the tree.
import { inline } from '@css-inline/css-inline';
import { messageOf } from '../../../platform/errors.ts';
import { readCss } from '../css.ts';
import { TemplateProblem } from '../problem.ts';
import type { HtmlTree } from './html-tree.ts';

/**
 * Limits of the work, for about 1 s, as products with the number of elements. Measured when a rule
 * matches all elements: 60 ns for each part of a selector, 2 ns for each pair of declaration and
 * property, 15 ns for each character.
 */
const most = { selectors: 1.5e7, declarations: 5e8, characters: 1e8 } as const;

/** Inlines style sheets. Reads no files and opens no connections. @throws TemplateProblem */
export function inlineCss(
  html: string,
  sheets: readonly string[],
  { elements, doctype }: Pick<HtmlTree, 'elements' | 'doctype'>,
  path: string,
): string {
  const css = sheets.filter((sheet) => sheet.trim() !== '');
  if (css.length === 0) return html;
  let selectors = 0;
  let declarations = 0;
  let properties = 0;
  let characters = 0;
  for (const sheet of css) {
    const facts = readCss(sheet);
    selectors += facts.selectors;
    declarations += facts.declarations;
    properties += facts.properties;
    characters += facts.characters;
  }
  const isTooMuch =
    selectors * elements > most.selectors ||
    declarations * properties * elements > most.declarations ||
    characters * elements > most.characters;
  if (isTooMuch) {
    const message = `the CSS is too large for ${elements} elements: remove rules or elements`;
    throw new TemplateProblem(path, null, message);
  }
  try {
    const inlined = inline(html, {
      extraCss: css.join('\n'),
      inlineStyleTags: false,
      keepStyleTags: true,
      keepLinkTags: true,
      loadRemoteStylesheets: false,
    });
    // All Liquid is hidden in words, so these braces are text that the author wrote as entities.
    const braced = inlined.replace(/\{(?=[{%])/g, '&#123;');
    // css-inline shortens doctypes, which would change how browsers and Outlook lay out the mail.
    return doctype === '' ? braced : withDoctype(braced, doctype);
  } catch (error) {
    throw new TemplateProblem(
      path,
      null,
      `the CSS cannot be inlined: ${messageOf(error).slice(0, 200)}`,
    );
  }
}

/** Replaces the first doctype of `html` by `doctype`. */
function withDoctype(html: string, doctype: string): string {
  const start = html.search(/<!DOCTYPE/i);
  const end = html.indexOf('>', start);
  return start < 0 || end < 0 ? html : html.slice(0, start) + doctype + html.slice(end + 1);
}
