// The target of tags; liquidjs calls it an emitter. Values are written apart from the author's own
// text, because only values are escaped.
import type { Emitter } from 'liquidjs';

/** A piece of the author's text, which is parsed once and written at each fill. */
export interface StaticPiece {
  readonly text: string;
  /** Places before and after this piece when it was last written; see html-place.ts. */
  last: { before: unknown; after: unknown } | null;
}

export interface ContentWriter extends Emitter {
  /** Writes text of the author that is not a piece, such as the content of `{% raw %}`. */
  write(text: unknown): void;
  /** Writes a piece of the author's text. */
  writeStatic(piece: StaticPiece): void;
  /** Writes a value. `isRaw` is true after the filter `raw`, or a filter that gives HTML. */
  writeValue(value: unknown, isRaw: boolean): void;
  /** Writes content that is escaped already, such as the footer of the brand. */
  writeReady(text: string): void;
  /** Makes a writer for the content of `capture`. */
  forCapture(): CaptureWriter;
}

export interface CaptureWriter extends ContentWriter {
  /** Returns the captured content as a value. */
  captured(): unknown;
}
