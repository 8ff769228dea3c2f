// Compiles the files of a template: from MJML, HTML, CSS and Liquid to texts of Liquid that each
// send fills. Runs in a worker: mrml, css-inline and the parsers would block the event loop for too
// long.
import { escapeHtml } from '../../../platform/net/escape-html.ts';
import type { Compilation, CompiledTemplate, TemplateFiles, TemplateWarning } from '../compiled.ts';
import { checkContract } from '../contract.ts';
import { parseLiquid } from '../liquid/engine.ts';
import { TemplateProblem } from '../problem.ts';
import { type ReadState, shieldHtml } from './html.ts';
import { checkTree } from './html-tree.ts';
import { inlineCss } from './inline.ts';
import { compileLimits } from './limits.ts';
import { adviceOnSize, adviceOnText } from './lint.ts';
import { renderMjml } from './mjml.ts';
import { Placing } from './partials.ts';
import { type Hidden, hideLiquid, type ShieldedText, Shields, type SourceText } from './shields.ts';
import {
  type Body,
  findBody,
  findPartials,
  type PartialFile,
  readJson,
  readSettings,
  type Settings,
} from './sources.ts';
import { makeText } from './text.ts';

export interface CompileInput {
  files: TemplateFiles;
  /** CSS of the brand, after `checkBrandCss` accepted it. */
  brandCss: string;
}

class SourceCompiler {
  readonly #files: TemplateFiles;
  readonly #brandCss: string;
  readonly #settings: Settings;
  readonly #body: Body | null;
  readonly #partials: ReadonlyMap<string, PartialFile>;
  readonly #shields: Shields;
  readonly #placing: Placing;
  readonly #state: ReadState;

  constructor({ files, brandCss }: CompileInput) {
    this.#files = files;
    this.#brandCss = brandCss;
    this.#settings = readSettings(files);
    this.#body = findBody(files);
    this.#partials = findPartials(files);
    this.#shields = new Shields([...Object.values(files), brandCss]);
    this.#placing = new Placing(this.#shields, files, this.#partials, (path) => this.#hide(path));
    this.#state = {
      shields: this.#shields,
      warnings: [],
      css: [],
      placePartial: (hidden) => this.#placeHtml(hidden),
      firstTagOf: (partial) => this.#placing.firstTagOf(partial),
    };
  }

  compile(): Compilation {
    this.#checkLiquid();
    readJson(this.#files, 'sample.json');
    const { 'contract.json': contractText } = this.#files;
    const contract =
      contractText === undefined ? null : checkContract(contractText, 'contract.json');
    const made = this.#body && this.#makeHtml(this.#body);
    const preheader = this.#preheader(made?.preview ?? null);
    const whole = made && this.#finishHtml(made.html, preheader, this.#body?.path ?? '');
    const html = whole === null ? null : this.#placing.cut(whole);
    const text = this.#makeText(made?.forText ?? null);
    const { warnings } = this.#state;
    const advice = [...(html ? adviceOnSize(html.text) : []), ...adviceOnText(text.text)];
    warnings.push(
      ...advice.map((one) => ({ ...one, path: this.#body?.path ?? 'body.txt', line: null })),
    );
    const { subject, brand, priority, allowRawHtml } = this.#settings;
    const compiled = {
      subject,
      preheader,
      html: html?.text ?? null,
      text: text.text,
      partials: html?.partials ?? {},
      textPartials: text.partials,
      brand,
      priority,
      allowRawHtml,
      contract,
    };
    this.#checkCompiled(compiled);
    return { compiled, warnings: firstOf(warnings) };
  }

  /** Parses the Liquid of each text, so that errors name the line in the file. */
  #checkLiquid(): void {
    const { subject, preheader, allowRawHtml } = this.#settings;
    const names = new Set(this.#partials.keys());
    const line = { kind: 'text', allowRawHtml, partials: new Set<string>() } as const;
    parseLiquid(subject, 'template.yaml', line);
    if (preheader !== null) parseLiquid(preheader, 'template.yaml', line);
    const check = (path: string, kind: 'html' | 'text') => {
      const source = this.#files[path];
      if (source !== undefined) parseLiquid(source, path, { kind, allowRawHtml, partials: names });
    };
    if (this.#body) check(this.#body.path, 'html');
    check('body.txt', 'text');
    for (const { path } of this.#partials.values()) check(path, 'html');
  }

  #hide(path: string): SourceText {
    return hideLiquid(this.#shields, this.#files[path] ?? '', path);
  }

  #placeHtml(hidden: Hidden): ShieldedText {
    const { source, begin, end, close } = this.#placing.render(hidden, ['html', 'liquid']);
    const { text, marks } = shieldHtml(this.#state, source);
    close();
    const before = `<!--${begin}-->`;
    return {
      text: `${before}${text}<!--${end}-->`,
      marks: marks.map((mark) => ({ ...mark, at: mark.at + before.length })),
    };
  }

  #makeHtml({ kind, path }: Body) {
    const source = this.#hide(path);
    if (kind === 'html') {
      const html = asDocument(shieldHtml(this.#state, source));
      return { html, forText: html.text, preview: null };
    }
    const { html, preview } = renderMjml(
      this.#state,
      {
        shields: this.#shields,
        openInclude: (address, from, line) => this.#placing.include(address, from, line),
        openPartial: (hidden) => this.#placing.render(hidden, ['mjml']),
      },
      source,
    );
    return { html, forText: html.text, preview };
  }

  /**
   * Returns the preheader as Liquid, from `template.yaml` or from `preview` (`<mj-preview>`); null
   * if neither has a preheader. @throws TemplateProblem if both have a preheader
   */
  #preheader(preview: string | null): string | null {
    const { preheader } = this.#settings;
    if (preview === null) return preheader;
    if (preheader !== null) {
      const message = 'the preheader is in <mj-preview> too: keep one of them';
      throw new TemplateProblem('template.yaml', null, message);
    }
    return this.#shields.restore(makeText(this.#shields, preview).replace(/\s+/g, ' ').trim());
  }

  /** Inserts the CSS of the brand and the preheader, and inlines all CSS. */
  #finishHtml(html: ShieldedText, preheader: string | null, path: string): string {
    const unplaced = this.#placing.unplaced(html.text);
    if (unplaced) {
      const message = 'a partial is possible between elements only, not in an attribute or a title';
      throw new TemplateProblem(unplaced.path, unplaced.line, message);
    }
    const nesting =
      this.#body?.kind === 'mjml' ? compileLimits.nestingOfWhole : compileLimits.nesting;
    const tree = checkTree(this.#shields, html, { nesting });
    const { headAt, bodyAt } = tree;
    const brand = this.#brandCss.trim() === '' ? '' : `<style>${this.#brandCss}</style>`;
    const put = (one: string) =>
      one === '' ? '' : `<!--${this.#shields.hideText(one, path, 1)}-->`;
    const head = put(brand);
    const begin = put(preheader === null ? '' : this.#hiddenText(preheader));
    const { text } = html;
    const whole =
      text.slice(0, headAt) + head + text.slice(headAt, bodyAt) + begin + text.slice(bodyAt);
    const sheets = [this.#brandCss, ...this.#state.css];
    this.#adviseOnCounting(sheets, path);
    return inlineCss(whole, sheets, tree, path);
  }

  /**
   * Warns of selectors that count elements if Liquid decides about the number of elements: inlining
   * happens before Liquid is filled.
   */
  #adviseOnCounting(sheets: readonly string[], path: string): void {
    const hasBlocks = this.#shields.all().some(({ role }) => role === 'begin');
    const selectors = sheets.map((css) => css.replace(/\{[^{}]*\}/g, '{}')).join('\n');
    if (!hasBlocks || !/:(?:nth-|first-|last-|only-|empty)|[+~]/.test(selectors)) return;
    this.#state.warnings.push({
      code: 'css-counts-elements',
      message:
        'selectors such as :first-child and + are inlined before the blocks of Liquid are filled',
      path,
      line: null,
    });
  }

  /** Returns the preheader as hidden HTML: mail programs show it only in lists. */
  #hiddenText(preheader: string): string {
    const { text } = hideLiquid(this.#shields, preheader, 'template.yaml');
    return `<div style="${hiddenStyle}">${escapeHtml(text)}</div>`;
  }

  #makeText(html: string | null): { text: string | null; partials: Record<string, string> } {
    const written = this.#files['body.txt'];
    if (written !== undefined) return { text: written, partials: this.#partialsOfText(written) };
    if (html === null) return { text: null, partials: {} };
    return this.#placing.cut(makeText(this.#shields, html));
  }

  /** Returns the partials that `body.txt` renders, and the partials that those partials render. */
  #partialsOfText(text: string): Record<string, string> {
    const found: Record<string, string> = {};
    const waiting = [{ text, path: 'body.txt' }];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { text: source, path } = next;
      for (const { partial, line } of this.#shields.in(
        hideLiquid(this.#shields, source, path).text,
      )) {
        if (partial === null || Object.hasOwn(found, partial)) continue;
        const file = this.#partials.get(partial);
        if (file?.kind !== 'liquid') {
          const message = `in text only partials that end in .liquid are possible, not ${partial}`;
          throw new TemplateProblem(path, line, message);
        }
        found[partial] = this.#files[file.path] ?? '';
        waiting.push({ text: found[partial] ?? '', path: file.path });
      }
    }
    return found;
  }

  /** Parses the compiled texts as each send does, to refuse a template that would fail there. */
  #checkCompiled({ html, text, partials, textPartials }: CompiledTemplate): void {
    const { allowRawHtml } = this.#settings;
    const path = this.#body?.path ?? 'body.txt';
    const check = (source: string, kind: 'html' | 'text', known: object) => {
      parseLiquid(source, path, { kind, allowRawHtml, partials: new Set(Object.keys(known)) });
    };
    if (html !== null) check(html, 'html', partials);
    if (text !== null) check(text, 'text', textPartials);
    for (const one of Object.values(partials)) check(one, 'html', partials);
    for (const one of Object.values(textPartials)) check(one, 'text', textPartials);
  }
}

/**
 * Makes a document of a piece of HTML. In a mere piece, parsers would move comments at the
 * beginning out of the body, and such a comment may stand for Liquid.
 */
function asDocument(html: ShieldedText): ShieldedText {
  if (/<(?:!doctype|html|head|body)[\s>]/i.test(html.text)) return html;
  const before = '<html><head></head><body>';
  const marks = html.marks.map((mark) => ({ ...mark, at: mark.at + before.length }));
  return { text: `${before}${html.text}</body></html>`, marks };
}

/** Style that hides text, as mjml writes it. */
const hiddenStyle =
  'display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;' +
  'overflow:hidden;';

/** Most warnings of a kind that a compilation reports. */
const mostOfKind = 10;

function firstOf(warnings: readonly TemplateWarning[]): TemplateWarning[] {
  const counts = new Map<string, number>();
  return warnings.filter(({ code }) => {
    counts.set(code, (counts.get(code) ?? 0) + 1);
    return (counts.get(code) ?? 0) <= mostOfKind;
  });
}

/**
 * Compiles a template.
 * @throws TemplateProblem at the first mistake; WebAssembly.RuntimeError if mrml failed
 */
export function compileSources(input: CompileInput): Compilation {
  return new SourceCompiler(input).compile();
}
