// A problem in a file of a template, as a save or a publish reports it.

export class TemplateProblem extends Error {
  /** Path of the file. */
  readonly path: string;
  /** Line in the file, from 1; null if the problem concerns the whole file. */
  readonly line: number | null;

  constructor(path: string, line: number | null, message: string) {
    super(message);
    this.path = path;
    this.line = line;
  }
}
