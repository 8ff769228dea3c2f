// Mistakes in the files of a template, with their place. Pure.
import { fileLimits } from '../files.ts';

/** A mistake in one file. */
export class SourceFault extends Error {
  readonly path: string;
  /** Line from 1; null if the mistake is about the whole file. */
  readonly line: number | null;

  constructor(path: string, line: number | null, message: string) {
    super(message);
    this.path = path;
    this.line = line;
  }
}

/** Limits of compiling. */
export const compileLimits = {
  /** Elements that are open at a time, in MJML and in each piece of HTML. */
  nesting: 128,
  /** Elements open at a time in the HTML that is made of MJML: css-inline ends the process at 4,000. */
  nestingOfWhole: 256,
  /** Partials within each other. */
  partials: 16,
  /** Places of partials. */
  places: 500,
  /** Characters of all partials where they are placed. */
  placedCharacters: 2 * fileLimits.bytesOfFile,
  /** Elements of the compiled HTML. */
  elements: 30_000,
} as const;
