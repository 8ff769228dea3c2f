// Limits of compiling.
import { fileLimits } from '../files.ts';

export const compileLimits = {
  /** Elements that are open at a time, in MJML and in each piece of HTML. */
  nesting: 128,
  /**
   * Elements open at a time in the HTML that is made of MJML: css-inline ends the process at 4,000.
   */
  nestingOfWhole: 256,
  /** Deepest nesting of partials. */
  partials: 16,
  /** Places of partials. */
  places: 500,
  /** Characters of all partials where they are placed. */
  placedCharacters: 2 * fileLimits.bytesOfFile,
  /** Tags of MJML: mrml writes 0.7 KB for an empty section. */
  tags: 3000,
  /** Elements of the compiled HTML. */
  elements: 20_000,
} as const;
