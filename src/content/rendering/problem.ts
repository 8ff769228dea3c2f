// A problem in a file of a template, for the answer to a save or a publish.

export class TemplateProblem extends Error {
  /** The file, as the reader was given it. */
  readonly path: string;
  /** Line in the file, from 1; null if the problem is about all of it. */
  readonly line: number | null;

  constructor(path: string, line: number | null, message: string) {
    super(message);
    this.path = path;
    this.line = line;
  }
}
