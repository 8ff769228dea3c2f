// Types for modules that declare none, as far as they are used (src/inbox/receiving/spf.ts).

declare module 'mailauth/lib/spf/syntax.js' {
  const syntax: {
    /** Returns the problem in the terms of an SPF record; false without a problem. */
    validateTerms(terms: string[]): string | false;
  };
  export default syntax;
}
