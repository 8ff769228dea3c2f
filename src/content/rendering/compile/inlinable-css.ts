// The CSS of HTML with Liquid: finds the CSS that css-inline can write into `style` attributes.
import type { TemplateWarning } from '../compiled.ts';
import { CssFault, readCss } from '../css.ts';
import { TemplateProblem } from '../problem.ts';
import { checkBalance } from './html-tree.ts';
import type { Shields, SourceText } from './shields.ts';

/** The parts of a compilation that CSS needs. */
interface CssState {
  shields: Shields;
  warnings: TemplateWarning[];
}

/** Tells whether css-inline can read the value of a `style`. */
export function areDeclarations(css: string): boolean {
  const pieces = css.split(';').map((piece) => piece.trim());
  if (!pieces.every((piece) => piece === '' || /^[\w-]+\s*:\s*[^\s{}][^{}]*$/.test(piece)))
    return false;
  try {
    readCss(css);
    return true;
  } catch {
    return false;
  }
}

/** Tells whether the text from `at` to `end` is a value in CSS, or a part of a value. */
function isValue(css: string, at: number, end: number): boolean {
  const before =
    css
      .slice(Math.max(0, at - 1000), at)
      .split(/[{};]/)
      .at(-1) ?? '';
  return before.includes(':') && /^[^{};]*(?:[;}]|$)/.test(css.slice(end, end + 1000));
}

/**
 * Checks a style sheet. Returns false, with a warning, if it has Liquid at a place that css-inline
 * would not keep. @throws TemplateProblem
 */
export function collectCss({ shields, warnings }: CssState, css: SourceText): boolean {
  try {
    readCss(css.text);
  } catch (fault) {
    if (!(fault instanceof CssFault)) throw fault;
    throw new TemplateProblem(css.path, css.lineAt(fault.at), `in CSS ${fault.message}`);
  }
  checkBalance(shields.in(css.text), '<style>');
  const hidden = [...css.text.matchAll(shields.words)];
  const misplaced = hidden.find((match) => {
    const kind = shields.only(match[0])?.kind;
    return kind !== 'output' || !isValue(css.text, match.index, match.index + match[0].length);
  });
  if (!misplaced) return true;
  warnings.push({
    code: 'style-not-inlined',
    message: 'a style sheet with Liquid other than in values stays in <style>',
    path: css.path,
    line: css.lineAt(misplaced.index),
  });
  return false;
}
