// Limits of compiling a template.
import { fileLimits } from '../files.ts';

export const compileLimits = {
  /** Most elements open at a time, in MJML and in each piece of HTML. */
  nesting: 128,
  /**
   * Most elements open at a time in the HTML made of MJML. At 4,000, css-inline ends the process.
   */
  nestingOfWhole: 256,
  /** Deepest nesting of partials. */
  partials: 16,
  /** Most insertions of partials in a template. */
  places: 500,
  /** Most characters of all insertions of partials together. */
  placedCharacters: 2 * fileLimits.bytesOfFile,
  /** Most tags of MJML: mrml writes 0.7 KB for an empty section. */
  tags: 3000,
  /** Most elements of the compiled HTML. */
  elements: 20_000,
} as const;
