// Types of packages without their own, as far as mime/ and inbound/ use them.

declare module 'mailauth/lib/spf/syntax.js' {
  const syntax: {
    /** Returns the problem in the terms of an SPF record, or false. */
    validateTerms(terms: string[]): string | false;
  };
  export default syntax;
}
