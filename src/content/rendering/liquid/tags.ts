// The tags of templates, and the parts that are no tags: text and outputs. `plain` and `own` omit
// the tags of liquidjs that open files, change the layout or loop over HTML rows.
import {
  CaptureTag,
  type Context,
  evalToken,
  ForTag,
  type Liquid,
  Output,
  type Parser,
  RenderTag,
  Tag,
  type TagToken,
  type Template,
  type Token,
  TypeGuards,
  Value,
} from 'liquidjs';
import { FillBoundError, liquidBounds } from './bounds.ts';
import { contextOf, type ReadPath } from './context.ts';
import type { ContentWriter, StaticPiece } from './writer.ts';

type Tokens = ConstructorParameters<typeof Tag>[1];
export type OutputToken = ConstructorParameters<typeof Output>[0];

/** Result of a part that has written the text itself: liquidjs prints any result but undefined. */
const done = undefined as unknown as IterableIterator<unknown>;

/** Casts the emitter: templates are filled only into a ContentWriter. */
const writerOf = (emitter: unknown) => emitter as ContentWriter;

/** A piece of the author's text, between tags and outputs. */
export class StaticText implements Template, StaticPiece {
  readonly token: Token;
  readonly text: string;
  last: StaticPiece['last'] = null;

  constructor(token: Token, text: string) {
    this.token = token;
    this.text = text;
  }

  render(_context: Context, emitter: unknown): void {
    writerOf(emitter).writeStatic(this);
  }
}

/** Tells whether an absent value is expected, because the template gives a default. */
const hasDefault = (value: Value) => value.filters.some(({ name }) => name === 'default');

function* print(value: Value, context: Context, emitter: unknown): Generator<unknown, void> {
  const own = contextOf(context);
  own.isPrinting = !hasDefault(value);
  const made = yield value.value(context, false);
  own.isPrinting = false;
  writerOf(emitter).writeValue(made, value.filters.at(-1)?.raw === true);
}

/**
 * Returns the names of a variable without filters, such as `user.name`; null for values that are
 * not plain variables.
 */
function plainPath({ initial, filters }: Value): ReadPath | null {
  const [token, ...more] = initial.postfix;
  if (filters.length > 0 || more.length > 0 || !token) return null;
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable) return null;
  const path: ReadPath = [];
  for (const prop of token.props) {
    if (!TypeGuards.isWordToken(prop) && !TypeGuards.isQuotedToken(prop)) return null;
    path.push(prop.content);
  }
  return path;
}

/** `{{ value }}` */
export class ValueOutput extends Output {
  readonly #path: ReadPath | null;

  constructor(token: OutputToken, engine: Liquid) {
    super(token, engine);
    // Removes the filter `escape` that liquidjs adds at the end: the writer escapes each value for
    // the place in the HTML.
    const { filters } = this.value;
    if (engine.options.outputEscape && filters.at(-1)?.raw !== true) filters.pop();
    this.#path = plainPath(this.value);
  }

  override render(context: Context, emitter: unknown): IterableIterator<unknown> {
    if (!this.#path) return print(this.value, context, emitter);
    const own = contextOf(context);
    own.isPrinting = true;
    const value = own.read(this.#path);
    own.isPrinting = false;
    writerOf(emitter).writeValue(value, false);
    return done;
  }
}

/** `{% echo value %}` */
class Echo extends Tag {
  readonly #value: Value;

  constructor(token: TagToken, rest: Tokens, engine: Liquid) {
    super(token, rest, engine);
    this.#value = new Value(this.tokenizer.readFilteredValue(), engine);
  }

  *render(context: Context, emitter: unknown): Generator<unknown, void> {
    yield print(this.#value, context, emitter);
  }

  arguments(): Value[] {
    return [this.#value];
  }
}

/** `{% cycle 'odd', 'even' %}`, also with a name: `{% cycle 'rows': 'odd', 'even' %}`. */
class Cycle extends Tag {
  readonly #name: string;
  readonly #values: Value[] = [];

  constructor(token: TagToken, rest: Tokens, engine: Liquid) {
    super(token, rest, engine);
    const { tokenizer } = this;
    const begin = tokenizer.p;
    const group = tokenizer.readValue();
    tokenizer.skipBlank();
    if (group && tokenizer.peek() === ':') tokenizer.advance();
    else tokenizer.p = begin;
    const list = tokenizer.remaining().trim();
    this.#name = group && tokenizer.p !== begin ? `cycle:${group.getText()}` : `cycle-of:${list}`;
    while (!tokenizer.end()) {
      this.#values.push(new Value(tokenizer.readFilteredValue(), engine));
      tokenizer.skipBlank();
      if (tokenizer.end()) break;
      tokenizer.assert(tokenizer.peek() === ',', 'the values of cycle are separated by commas');
      tokenizer.advance();
    }
    tokenizer.assert(this.#values.length > 0, 'cycle needs values');
  }

  *render(context: Context, emitter: unknown): Generator<unknown, void> {
    const place = context.getRegister<{ at: number }>(this.#name, { at: 0 });
    const value = this.#values[place.at % this.#values.length];
    place.at += 1;
    if (value) yield print(value, context, emitter);
  }

  arguments(): Value[] {
    return this.#values;
  }
}

/** `{% for item in items %}`; warns if the items are missing. */
class For extends ForTag {
  override *render(
    context: Context,
    emitter: Parameters<ForTag['render']>[1],
  ): ReturnType<ForTag['render']> {
    if (TypeGuards.isPropertyAccessToken(this.collection)) {
      const own = contextOf(context);
      own.isPrinting = true;
      yield evalToken(this.collection, context);
      own.isPrinting = false;
    }
    return yield* super.render(context, emitter);
  }
}

/** `{% capture name %}`. Values are escaped once, where the content is printed. */
class Capture extends CaptureTag {
  override *render(context: Context, emitter?: unknown): ReturnType<CaptureTag['render']> {
    const writer = writerOf(emitter).forCapture();
    yield this.liquid.renderer.renderTemplates(this.templates, context, writer);
    context.bottom()[this.variable] = writer.captured();
  }
}

/** `{% render 'name', key: value %}` of a partial of the template. */
class Render extends RenderTag {
  readonly partial: string;

  constructor(token: TagToken, rest: Tokens, engine: Liquid, parser: Parser) {
    const quoted = /^(?:"([^"\\{]*)"|'([^'\\{]*)')/.exec(token.args);
    if (!quoted)
      throw new Error("render needs the name of a partial in quotes: {% render 'name' %}");
    super(token, rest, engine, parser);
    this.partial = quoted[1] ?? quoted[2] ?? '';
    if (/^(?:\.|\/)|\.\./.test(this.partial) || this.partial === '') {
      throw new Error('render needs the name of a partial, without its folder and ending');
    }
  }

  override *render(
    context: Context,
    emitter: Parameters<RenderTag['render']>[1],
  ): ReturnType<RenderTag['render']> {
    const { run } = contextOf(context);
    if (run.depth >= liquidBounds.partialDepth) {
      throw new FillBoundError(
        `partials render each other over ${liquidBounds.partialDepth} deep: end the circle`,
      );
    }
    run.depth += 1;
    try {
      yield* super.render(context, emitter);
    } finally {
      run.depth -= 1;
    }
  }
}

/** `{% brand_footer %}`: company, address, social links and the unsubscribe link of the brand. */
class BrandFooter extends Tag {
  constructor(token: TagToken, rest: Tokens, engine: Liquid) {
    super(token, rest, engine);
    if (token.args.trim() !== '') throw new Error('brand_footer takes no parameters');
  }

  render(context: Context, emitter: unknown): void {
    const { run } = contextOf(context);
    run.hasFooter = true;
    writerOf(emitter).writeReady(run.footer());
  }
}

/** Tags of liquidjs that are used unchanged. */
const plain = [
  ...['#', 'assign', 'break', 'case', 'comment', 'continue', 'decrement', 'if', 'increment'],
  ...['raw', 'unless'],
];

const own = {
  brand_footer: BrandFooter,
  capture: Capture,
  cycle: Cycle,
  echo: Echo,
  for: For,
  render: Render,
};

/** Registers only the tags of templates. */
export function registerTags(engine: Liquid): void {
  for (const name of Object.keys(engine.tags)) {
    if (!plain.includes(name)) delete engine.tags[name];
  }
  for (const [name, tag] of Object.entries(own)) engine.registerTag(name, tag);
}

/** Tags that only continue a block, such as `else`, with the tags that begin such a block. */
const blockParts = new Map([
  ['else', 'if, unless, case or for'],
  ['elsif', 'if or unless'],
  ['when', 'case'],
]);

/** Returns the reason why a tag is unknown. */
export function unknownTag(name: string): string {
  if (name === 'include') return "include is not available: use {% render 'name' %}";
  if (name.startsWith('end')) return `${name} ends a block that is not open`;
  const block = blockParts.get(name);
  if (block !== undefined) return `${name} stands outside of ${block}`;
  return `the tag ${name} is not available`;
}

const childrenOf = (one: Template): Template[] =>
  one instanceof Render || !one.children
    ? []
    : (one.children(false, true).next().value as Template[]);

/** Returns the `render` tags of these templates, including tags within blocks. */
export function rendersIn(templates: readonly Template[]): Render[] {
  return templates.flatMap((one) => (one instanceof Render ? [one] : rendersIn(childrenOf(one))));
}

/** Tells whether these templates place the footer of the brand themselves. */
export function placesFooter(templates: readonly Template[]): boolean {
  return templates.some((one) => one instanceof BrandFooter || placesFooter(childrenOf(one)));
}
