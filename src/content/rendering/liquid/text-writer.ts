// Writes a subject, a preheader or a text part: values as they are.
import { toValue } from 'liquidjs';
import { FillBoundError, liquidBounds, Markup } from './bounds.ts';
import type { FillRun } from './context.ts';
import type { CaptureWriter, StaticPiece } from './writer.ts';

/** Returns the text of a value, and counts the characters as work. An object has an empty text. */
export function printed(value: unknown, run: FillRun): string {
  const plain = value instanceof Markup ? Markup.textOf(value) : toValue(value);
  if (typeof plain === 'string') {
    run.budget.use(plain.length);
    return plain;
  }
  if (plain === null || plain === undefined) return '';
  if (typeof plain !== 'object') return String(plain);
  if (Array.isArray(plain)) {
    run.budget.useText(plain);
    return plain.map((one) => printed(one, run)).join('');
  }
  run.warn('object-printed', 'an object was printed, which has no text: name one of its fields');
  return '';
}

/** Returns the length after a further part. @throws FillBoundError above 2,000,000 characters */
export function lengthWith(length: number, part: string): number {
  const sum = length + part.length;
  if (sum > liquidBounds.output) {
    throw new FillBoundError(`the filled text has over ${liquidBounds.output} characters`);
  }
  return sum;
}

export class TextWriter implements CaptureWriter {
  buffer: string = '';
  readonly #run: FillRun;
  readonly #checkValue: (text: string) => void;
  #length = 0;

  /** `checkValue` throws for a value that the text cannot have. */
  constructor(run: FillRun, checkValue: (text: string) => void = () => {}) {
    this.#run = run;
    this.#checkValue = checkValue;
  }

  write(text: unknown): void {
    this.#add(printed(text, this.#run));
  }

  writeStatic({ text }: StaticPiece): void {
    this.#add(text);
  }

  writeValue(value: unknown): void {
    const text = printed(value, this.#run);
    this.#checkValue(text);
    this.#add(text);
  }

  writeReady(text: string): void {
    this.#add(text);
  }

  forCapture(): CaptureWriter {
    return new TextWriter(this.#run, this.#checkValue);
  }

  captured(): string {
    return this.buffer;
  }

  #add(text: string): void {
    this.#length = lengthWith(this.#length, text);
    this.buffer += text;
  }
}
