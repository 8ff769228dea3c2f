// Types of packages without their own, as far as mime/ and inbound/ use them.

declare module 'libmime' {
  interface StructuredValue {
    value: string | false;
    params: Record<string, string>;
  }
  const libmime: {
    decodeWords(value: string): string;
    normalizeCharset(charset: string): string;
    parseHeaderValue(value: string): StructuredValue;
  };
  export default libmime;
}

declare module 'html-to-text' {
  /** Adds the text of child nodes. */
  export type Walk = (children: unknown[], builder: BlockBuilder) => void;
  export interface HtmlElement {
    attribs?: Record<string, string>;
    children?: unknown[];
  }
  export interface BlockBuilder {
    openBlock(options: { leadingLineBreaks: number }): void;
    closeBlock(options: { trailingLineBreaks: number }): void;
    addLiteral(text: string): void;
  }
  interface ConvertOptions {
    wordwrap?: number | false;
    preserveNewlines?: boolean;
    limits?: { maxInputLength?: number; maxDepth?: number; maxChildNodes?: number };
    formatters?: Record<string, (element: HtmlElement, walk: Walk, builder: BlockBuilder) => void>;
    selectors?: { selector: string; format?: string; options?: Record<string, unknown> }[];
  }
  export function compile(options?: ConvertOptions): (html: string) => string;
}

declare module 'mailauth/lib/spf/syntax.js' {
  const syntax: {
    /** Returns the problem in the terms of an SPF record, or false. */
    validateTerms(terms: string[]): string | false;
  };
  export default syntax;
}
