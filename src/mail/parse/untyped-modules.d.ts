// Types for packages that declare none, as far as src/mail/mime and src/mail/parse use them.

declare module 'mailauth/lib/spf/syntax.js' {
  const syntax: {
    /** Returns the problem in the terms of an SPF record; false without a problem. */
    validateTerms(terms: string[]): string | false;
  };
  export default syntax;
}
