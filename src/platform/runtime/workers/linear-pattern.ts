// Patterns that users write. RE2 matches them in linear time, so no text makes them slow. It has no
// lookaround and no backreferences. Long repetitions (`x{1000}`) cost space and time, so only
// workers with a deadline compile patterns.
import { RE2JS } from 're2js';

export interface LinearPattern {
  /** Tells whether any part of the text matches. */
  test(text: string): boolean;
}

/** Compiles a pattern in the syntax of JavaScript. @throws Error if RE2 does not support it */
export function linearPattern(pattern: string, { anyCase = false } = {}): LinearPattern {
  const flags = anyCase ? RE2JS.CASE_INSENSITIVE : 0;
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern), flags);
  return { test: (text) => compiled.matcher(text).find() };
}
