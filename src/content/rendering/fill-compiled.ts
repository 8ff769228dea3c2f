// Fills a compiled template: contract first, then subject, preheader, HTML and text. Pure, for
// workers.
import { LiquidError, type Template } from 'liquidjs';
import type {
  BrandValues,
  CompiledTemplate,
  Filled,
  FillValues,
  TemplateWarning,
} from './compiled.ts';
import { CompiledContract } from './contract.ts';
import { footerHtml, footerText, withHtmlFooter, withTextFooter } from './footer.ts';
import { FillBoundError, liquidBounds, StepBudget, WorkBudget, workedMs } from './liquid/bounds.ts';
import { type FillRun, pathOf } from './liquid/context.ts';
import { type LiquidKind, type ParsedLiquid, parseLiquid } from './liquid/engine.ts';
import { HtmlWriter } from './liquid/html-writer.ts';
import { TextWriter } from './liquid/text-writer.ts';

/** Deepest nesting of arrays and objects in data. */
const mostDataDepth = 32;
const mostWarnings = 20;
/** Longest filled subject; no mail program shows a longer subject. */
const mostSubjectCharacters = 998;

type Partials = ReadonlyMap<string, Template[]>;

/** Bytes that a parsed character takes in memory: in text, and in tags and outputs. */
const bytesOfCharacter = 2;
const bytesOfTagCharacter = 300;
/** Bytes that a compiled schema takes in memory for each character. */
const bytesOfSchemaCharacter = 20;

/** A template with parsed texts. It can be filled any number of times. */
export interface ReadTemplate {
  compiled: CompiledTemplate;
  subject: ParsedLiquid;
  preheader: ParsedLiquid | null;
  html: ParsedLiquid | null;
  text: ParsedLiquid | null;
  htmlPartials: Partials;
  textPartials: Partials;
  contract: CompiledContract | null;
  /** Estimated upper bound of the bytes in memory. */
  bytes: number;
}

/** Refused data, with the problems by field. The main thread throws a ValidationError for it. */
export class FillRefusal extends Error {
  readonly fields: Record<string, string[]>;

  constructor(fields: Record<string, string[]>) {
    const [field = '', [problem = ''] = []] = Object.entries(fields)[0] ?? [];
    super(`${field}: ${problem}`);
    this.fields = fields;
  }
}

/** Parses the texts of a template. @throws TemplateProblem */
export function readTemplate(compiled: CompiledTemplate): ReadTemplate {
  const { allowRawHtml, partials, textPartials, contract } = compiled;
  let bytes = contract ? JSON.stringify(contract).length * bytesOfSchemaCharacter : 0;
  const parse = (text: string, name: string, kind: LiquidKind) => {
    const parsed = parseLiquid(text, name, { kind, allowRawHtml, partials: null });
    bytes += text.length * bytesOfCharacter + parsed.tagCharacters * bytesOfTagCharacter;
    return parsed;
  };
  const parseOr = (text: string | null, name: string, kind: LiquidKind) =>
    text === null ? null : parse(text, name, kind);
  const parseAll = (texts: Readonly<Record<string, string>>, kind: LiquidKind) =>
    new Map(
      Object.entries(texts).map(
        ([name, text]) => [name, parse(text, name, kind).templates] as const,
      ),
    );
  const texts = {
    subject: parse(compiled.subject, 'the subject', 'text'),
    preheader: parseOr(compiled.preheader, 'the preheader', 'text'),
    html: parseOr(compiled.html, 'the HTML', 'html'),
    text: parseOr(compiled.text, 'the text', 'text'),
    htmlPartials: parseAll(partials, 'html'),
    textPartials: parseAll(textPartials, 'text'),
  };
  return { compiled, ...texts, contract: contract && new CompiledContract(contract), bytes };
}

function depthOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (most === 0) return 1;
  let depth = 0;
  for (const one of Object.values(value)) depth = Math.max(depth, depthOf(one, most - 1));
  return depth + 1;
}

/** Values that every template may read, with the reason shown if a value is absent. */
const absent: Record<string, string> = {
  brand: 'there is no brand',
  contact: 'the message has no contact, or several recipients',
  unsubscribe_url: 'the message has no unsubscribe group',
  view_url: 'the message has no page',
};

class Warnings {
  readonly list: TemplateWarning[] = [];
  readonly #known = new Set<string>();

  add(code: string, message: string): void {
    const name = `${code} ${message}`;
    if (this.#known.has(name) || this.list.length >= mostWarnings) return;
    this.#known.add(name);
    this.list.push({ code, message, path: null, line: null });
  }
}

class Filling {
  readonly #read: ReadTemplate;
  readonly #values: FillValues;
  readonly #dataField: string;
  readonly #globals: Record<string, unknown>;
  readonly #warnings = new Warnings();
  readonly #deadline = workedMs() + liquidBounds.milliseconds;

  constructor(read: ReadTemplate, values: FillValues, dataField: string) {
    this.#read = read;
    this.#values = values;
    this.#dataField = dataField;
    this.#globals = Object.assign(Object.create(null), {
      contact: values.contact,
      brand: values.brand,
      sender: values.sender,
      unsubscribe_url: values.unsubscribeUrl,
      view_url: values.viewUrl,
      message: values.message,
    });
  }

  run(): Filled {
    this.#checkData();
    const { subject, preheader, html, text } = this.#read;
    return {
      subject: this.#subject(subject),
      preheader: preheader && this.#line(preheader),
      html: html && this.#html(html),
      text: text && this.#text(text),
      warnings: this.#warnings.list,
    };
  }

  #checkData(): void {
    const { data } = this.#values;
    const field = this.#dataField;
    if (depthOf(data, mostDataDepth) > mostDataDepth) {
      throw new FillRefusal({ [field]: [`is nested over ${mostDataDepth} deep`] });
    }
    const errors = this.#read.contract?.errorsIn(data, field);
    if (errors) throw new FillRefusal(errors);
  }

  #newRun(partials: Partials, footer: (brand: BrandValues, url: string | null) => string): FillRun {
    const { brand, unsubscribeUrl, message } = this.#values;
    const warn = (code: string, text: string) => this.#warnings.add(code, text);
    return {
      budget: new WorkBudget(),
      steps: new StepBudget(this.#deadline),
      globals: this.#globals,
      partials,
      footer: () => {
        if (brand) return footer(brand, unsubscribeUrl);
        warn('brand-missing', 'the footer of the brand is empty: there is no brand');
        return '';
      },
      now: Math.floor(Date.parse(message.createdAt) / 1000),
      depth: 0,
      hasFooter: false,
      lastRead: [],
      missing: (path, isNull) => this.#missing(path, isNull),
      warn,
    };
  }

  #missing(path: string, isNull: boolean): void {
    const [root = ''] = path.split('.', 1);
    const reason = absent[root];
    const isOurs = root in this.#globals;
    if (reason !== undefined && this.#globals[root] === null && !(root in this.#values.data)) {
      this.#warnings.add(`${root.replace('_', '-')}-missing`, `${path} is empty: ${reason}`);
    } else if (!isNull && (isOurs || !this.#read.contract)) {
      this.#warnings.add('missing-variable', `${path} is missing: it was left empty`);
    }
  }

  #fill(parsed: ParsedLiquid, run: FillRun, writer: HtmlWriter | TextWriter): string {
    const scope = Object.assign(Object.create(null), this.#values.data);
    try {
      parsed.engine.fillSync(parsed.templates, scope, run, writer);
    } catch (error) {
      throw this.#refusalOf(error);
    }
    return writer.buffer;
  }

  #refusalOf(error: unknown): unknown {
    if (error instanceof FillRefusal) return error;
    const cause = LiquidError.is(error) ? (error.originalError ?? error) : error;
    if (cause instanceof FillRefusal) return cause;
    if (cause instanceof FillBoundError) {
      return new FillRefusal({ [this.#dataField]: [cause.message] });
    }
    const reason = cause instanceof Error ? cause.message.split(', line:', 1)[0] : '';
    return new FillRefusal({
      [this.#dataField]: [`the template cannot be filled with this data: ${reason?.slice(0, 200)}`],
    });
  }

  #subject(parsed: ParsedLiquid): string {
    const run = this.#newRun(this.#read.textPartials, footerText);
    const check = (text: string) => {
      if (/[\r\n\0]/.test(text)) throw this.#lineBreak(pathOf(run.lastRead));
    };
    const subject = this.#fill(parsed, run, new TextWriter(run, check));
    if (/[\r\n\0]/.test(subject)) throw this.#lineBreak('');
    if (subject.length > mostSubjectCharacters) {
      const problem = `the filled subject has over ${mostSubjectCharacters} characters`;
      throw new FillRefusal({ [this.#dataField]: [problem] });
    }
    return subject;
  }

  #lineBreak(path: string): FillRefusal {
    const [root = ''] = path.split('.', 1);
    const problem = 'has a line break or a NUL, which a subject cannot have';
    if (Object.hasOwn(this.#values.data, root)) {
      return new FillRefusal({ [`${this.#dataField}.${path}`]: [problem] });
    }
    return new FillRefusal({ [this.#dataField]: [`${path || 'the subject'} ${problem}`] });
  }

  /** Fills a text, and replaces line breaks and runs of spaces by a space. */
  #line(parsed: ParsedLiquid): string {
    const run = this.#newRun(this.#read.textPartials, footerText);
    return this.#fill(parsed, run, new TextWriter(run)).replace(/\s+/g, ' ').trim();
  }

  #html(parsed: ParsedLiquid): string {
    const run = this.#newRun(this.#read.htmlPartials, footerHtml);
    const html = this.#fill(parsed, run, new HtmlWriter(run, this.#read.compiled.allowRawHtml));
    return this.#values.footer && !run.hasFooter ? withHtmlFooter(html, run.footer()) : html;
  }

  #text(parsed: ParsedLiquid): string {
    const run = this.#newRun(this.#read.textPartials, footerText);
    const text = this.#fill(parsed, run, new TextWriter(run));
    return this.#values.footer && !run.hasFooter ? withTextFooter(text, run.footer()) : text;
  }
}

/**
 * Fills a template.
 * @throws FillRefusal for data that `contract.json` or the template refuses
 */
export function fillCompiled(read: ReadTemplate, values: FillValues, dataField: string): Filled {
  return new Filling(read, values, dataField).run();
}
