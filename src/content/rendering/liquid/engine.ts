// Liquid for templates: no files, no layouts, only partials of the template, and only listed
// filters and tags. Pure, so that the workers of compiling and of filling read a template in the
// same way.
import {
  Expression,
  evalTokenValue,
  Liquid,
  LiquidError,
  type Output,
  Parser,
  type TagToken,
  type Template,
  type Token,
  Tokenizer,
  TokenKind,
  TypeGuards,
  toValueSync,
} from 'liquidjs';
import { TemplateProblem } from '../problem.ts';
import { FillBoundError, liquidBounds } from './bounds.ts';
import { FillContext, type FillRun } from './context.ts';
import { registerFilters } from './filters.ts';
import { rawAsText } from './raw-text.ts';
import {
  type OutputToken,
  placesFooter,
  registerTags,
  rendersIn,
  StaticText,
  unknownTag,
  ValueOutput,
} from './tags.ts';
import type { ContentWriter } from './writer.ts';

/** `html` escapes values; `text` is for subjects, preheaders and text parts. */
export type LiquidKind = 'html' | 'text';

export interface LiquidRules {
  kind: LiquidKind;
  /** True if the filter `raw` may be used. */
  allowRawHtml: boolean;
  /** Names allowed in `render`; null to allow all names. */
  partials: ReadonlySet<string> | null;
}

/** A parsed text. It can be filled any number of times. */
export interface ParsedLiquid {
  engine: TemplateEngine;
  templates: Template[];
  /** Partials that the text renders. */
  partials: ReadonlySet<string>;
  /** Characters of the tags and outputs of the text. */
  tagCharacters: number;
  /** Whether the text contains `{% brand_footer %}`. */
  placesFooter: boolean;
}

/**
 * The entries of `(low..high)`. Counts them before making them: liquidjs loops forever beyond 2^53.
 */
class BoundedRange extends Expression {
  override *evaluate(context: Parameters<Expression['evaluate']>[0]): Generator<unknown, number[]> {
    const [low, high] = this.postfix;
    const from = Math.trunc(Number(yield evalTokenValue(low, context)));
    const to = Math.trunc(Number(yield evalTokenValue(high, context)));
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || to < from) return [];
    const length = to - from + 1;
    if (length > liquidBounds.range) {
      throw new FillBoundError(`a range has at most ${liquidBounds.range} numbers`);
    }
    context.memoryLimit.use(length);
    return Array.from({ length }, (_, index) => from + index);
  }
}

const readGroupOrRange = Tokenizer.prototype.readGroupOrRange;
// All parsers of liquidjs in this thread read ranges by this function.
Tokenizer.prototype.readGroupOrRange = function () {
  const token = readGroupOrRange.call(this);
  if (!TypeGuards.isRangeToken(token)) return token;
  const { lhs, rhs } = token;
  return Object.assign(token, {
    kind: TokenKind.FilteredValue,
    initial: new BoundedRange([lhs, rhs]),
    filters: [],
  }) as unknown as ReturnType<typeof readGroupOrRange>;
};

const tooDeep = 'brackets are nested too deep';

class BoundedParser extends Parser {
  readonly #engine: Liquid;
  /** Characters of all tags and outputs so far. */
  tagCharacters = 0;
  #depth = 0;

  constructor(engine: Liquid) {
    super(engine);
    this.#engine = engine;
  }

  override parseTokens(tokens: Parameters<Parser['parseTokens']>[0]): Template[] {
    if (tokens.length > 2 * liquidBounds.tags + 1) {
      throw new Error(`a text has at most ${liquidBounds.tags} tags and outputs`);
    }
    for (const token of tokens) {
      if (TypeGuards.isHTMLToken(token)) continue;
      this.tagCharacters += token.end - token.begin;
      if (this.tagCharacters > liquidBounds.tagCharacters) {
        const most = liquidBounds.tagCharacters;
        throw new TokenProblem(`tags and outputs have over ${most} characters together`, token);
      }
    }
    return super.parseTokens(tokens);
  }

  override parseToken(
    token: Parameters<Parser['parseToken']>[0],
    rest: Parameters<Parser['parseToken']>[1],
  ): ReturnType<Parser['parseToken']> {
    if (TypeGuards.isHTMLToken(token)) {
      // Uses our own class for text: liquidjs has one, but does not export it.
      return new StaticText(token, token.getContent()) as unknown as Output;
    }
    if (token.kind === TokenKind.Output) return this.#output(token as OutputToken);
    const tag = token as TagToken;
    if (!this.#engine.tags[tag.name]) throw new TokenProblem(unknownTag(tag.name), tag);
    if (this.#depth >= liquidBounds.nesting) {
      throw new TokenProblem(`blocks are nested over ${liquidBounds.nesting} deep`, tag);
    }
    this.#depth += 1;
    try {
      return super.parseToken(token, rest);
    } finally {
      this.#depth -= 1;
    }
  }

  #output(token: OutputToken): ValueOutput {
    try {
      return new ValueOutput(token, this.#engine);
    } catch (error) {
      if (LiquidError.is(error)) throw error;
      throw new TokenProblem(error instanceof Error ? error.message : String(error), token);
    }
  }
}

/** An error at the line and column of a token. */
class TokenProblem extends LiquidError {
  constructor(message: string, token: Token) {
    super(message, token);
  }
}

/** An engine with the tags and filters of templates. */
class TemplateEngine extends Liquid {
  /** Partials of the text that is being filled now. */
  #partials: FillRun['partials'] = new Map();

  constructor(kind: LiquidKind, allowRawHtml: boolean) {
    super({
      // Escapes values that bypass the writers, which escape for the place in the HTML.
      ...(kind === 'html' && { outputEscape: 'escape' as const }),
      ownPropertyOnly: true,
      strictFilters: true,
      parseLimit: liquidBounds.source,
      renderLimit: liquidBounds.milliseconds,
      memoryLimit: liquidBounds.work,
      // Replaces the file system by an empty file system.
      templates: Object.create(null),
      locale: 'en-US',
      timezoneOffset: 0,
    });
    registerFilters(this, kind, !allowRawHtml ? null : kind === 'html' ? String : rawAsText);
    registerTags(this);
  }

  /** Fills templates with the values in `scope`. The result is written to `writer`. */
  fillSync(templates: Template[], scope: object, run: FillRun, writer: ContentWriter): void {
    this.#partials = run.partials;
    toValueSync(
      this.renderer.renderTemplates(templates, new FillContext(this, scope, run), writer),
    );
  }

  /** Gives `render` the partials of the text that is being filled now. */
  // biome-ignore lint/correctness/useYield: liquidjs calls a generator here.
  override *_parsePartialFile(name: string): Generator<unknown, Template[]> {
    const partial = this.#partials.get(name);
    if (!partial) throw new Error(`there is no partial ${name}`);
    return partial;
  }
}

const engines = new Map<string, TemplateEngine>();

function engineOf({ kind, allowRawHtml }: LiquidRules): TemplateEngine {
  const name = `${kind}:${allowRawHtml}`;
  const engine = engines.get(name) ?? new TemplateEngine(kind, allowRawHtml);
  engines.set(name, engine);
  return engine;
}

/** Matches line and column in an error text of liquidjs, which TemplateProblem has as a field. */
const placeAtEnd = /, line:\d+, col:\d+$/;

const rawIsRefused =
  'the filter raw is refused: allow it by allowRawHtml: true in template.yaml, or remove it';

function problemOf(error: unknown, path: string): TemplateProblem {
  if (error instanceof RangeError) return new TemplateProblem(path, null, tooDeep);
  if (!(error instanceof Error)) throw error;
  const line = LiquidError.is(error) ? (error.token.getPosition()[0] ?? null) : null;
  const reason = error.message.replace(placeAtEnd, '');
  if (reason.includes('call stack')) return new TemplateProblem(path, line, tooDeep);
  const filter = /^undefined filter: (.*)/s.exec(reason)?.[1];
  if (filter === 'raw') return new TemplateProblem(path, line, rawIsRefused);
  const text = filter === undefined ? reason : `there is no filter ${filter}`;
  return new TemplateProblem(path, line, text.slice(0, 300));
}

/**
 * Parses a text. The time grows with the size: 1 MB takes 50 ms.
 * @throws TemplateProblem at the first problem
 */
export function parseLiquid(text: string, path: string, rules: LiquidRules): ParsedLiquid {
  if (text.length > liquidBounds.source) {
    throw new TemplateProblem(path, null, `has at most ${liquidBounds.source} characters`);
  }
  const engine = engineOf(rules);
  try {
    const parser = new BoundedParser(engine);
    const templates = parser.parse(text);
    const renders = rendersIn(templates);
    const unknown = renders.find(({ partial }) => rules.partials?.has(partial) === false);
    if (unknown) throw new TokenProblem(`there is no partial ${unknown.partial}`, unknown.token);
    const partials = new Set(renders.map(({ partial }) => partial));
    const { tagCharacters } = parser;
    return { engine, templates, partials, tagCharacters, placesFooter: placesFooter(templates) };
  } catch (error) {
    throw problemOf(error, path);
  }
}
