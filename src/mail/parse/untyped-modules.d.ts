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

declare module 'mailauth/lib/spf/syntax.js' {
  const syntax: {
    /** Returns the problem in the terms of an SPF record, or false. */
    validateTerms(terms: string[]): string | false;
  };
  export default syntax;
}
