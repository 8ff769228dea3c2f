// Bounds of filling a text. The limits of liquidjs are kept too, but five CVEs of 2026 went around
// them, and a string of 500 MB ends the whole process, not only the worker. So sizes are known
// before anything is built.
import { Drop } from 'liquidjs';

export const liquidBounds = {
  /** Characters of a text as it is parsed. */
  source: 1_000_000,
  /** Tags and outputs of a text. */
  tags: 5000,
  /** Characters of all tags and outputs of a text. Parsed they take up to 300 bytes each. */
  tagCharacters: 100_000,
  /** Deepest nesting of blocks. */
  nesting: 64,
  /** Deepest nesting of partials, while filling. */
  partialDepth: 16,
  /** Characters of a filled text. */
  output: 2_000_000,
  /** Characters of a value that filters make. */
  value: 1_000_000,
  /** Characters and entries that filters and outputs may read together. */
  work: 8_000_000,
  /** Entries of a range, such as `(1..10)`. */
  range: 100_000,
  /** Tags, outputs and pieces of text that are filled, each pass of a loop anew. */
  steps: 200_000,
  /** Time that the thread works for a fill. */
  milliseconds: 1000,
} as const;

/** A fill that ended at a bound; the message names the remedy. */
export class FillBoundError extends Error {}

/** Deepest nesting of arrays in a value. */
const mostDepth = 64;
/** Characters that a number, a boolean or an object counts. */
const smallSize = 16;

/** Counts the work of filling a text, in place of a limiter of liquidjs. */
export class WorkBudget {
  #left: number = liquidBounds.work;

  use(amount: number): void {
    // Liquidjs counts differences, some of them negative or not a number.
    if (!(amount > 0)) return;
    if (amount > this.#left) {
      throw new FillBoundError(
        'the template does too much work: make its loops and values smaller',
      );
    }
    this.#left -= amount;
  }

  check(): void {}

  /** Counts the characters of a value as text, before anything joins them. Groups are objects. */
  useText(value: unknown, intoObjects = false): void {
    this.#useDeep(value, intoObjects, 0);
  }

  #useDeep(value: unknown, intoObjects: boolean, depth: number): void {
    if (typeof value === 'string') this.use(value.length + 1);
    else if (Array.isArray(value)) {
      if (depth >= mostDepth) throw new FillBoundError('a value is nested too deep');
      this.use(1);
      for (const one of value) this.#useDeep(one, intoObjects, depth + 1);
    } else if (intoObjects && typeof value === 'object' && value !== null) {
      if (depth >= mostDepth) throw new FillBoundError('a value is nested too deep');
      for (const [key, one] of Object.entries(value)) {
        this.use(key.length + 4);
        this.#useDeep(one, intoObjects, depth + 1);
      }
    } else this.use(smallSize);
  }
}

/**
 * Returns the milliseconds that this thread was at work; the load of the machine has no influence.
 */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Counts the steps of filling a text and watches the time, in place of a limiter of liquidjs. */
export class StepBudget {
  #left: number = liquidBounds.steps;
  readonly #mostWorkedMs: number;
  /** Time of the next look at the work, which costs more than this clock. */
  #lookAt = 0;

  /** `mostWorkedMs` is the end of the time as `workedMs` counts it. */
  constructor(mostWorkedMs: number) {
    this.#mostWorkedMs = mostWorkedMs;
  }

  use(): void {}

  check(now: number): void {
    this.#left -= 1;
    if (this.#left < 0) {
      throw new FillBoundError('the template takes too many steps: make its loops shorter');
    }
    if (now < this.#lookAt) return;
    const left = this.#mostWorkedMs - workedMs();
    if (left < 0) {
      throw new FillBoundError('the template takes too long to fill: make its loops shorter');
    }
    this.#lookAt = now + left;
  }
}

/**
 * Content with escaped values: the content of `capture` in HTML, and the result of filters such as
 * `escape`. Text prints it as HTML, an attribute escapes the text of the content. Other filters
 * read the text; where `raw` is allowed they read the HTML, so that no filter before `raw` takes
 * the escaping away.
 */
export class Markup extends Drop {
  readonly #html: string;
  readonly #text: string;
  readonly #isHtml: boolean;

  constructor(html: string, text: string, isHtml: boolean) {
    super();
    this.#html = html;
    this.#text = text;
    this.#isHtml = isHtml;
  }

  static htmlOf(markup: Markup): string {
    return markup.#html;
  }

  static textOf(markup: Markup): string {
    return markup.#text;
  }

  override valueOf(): string {
    return this.#isHtml ? this.#html : this.#text;
  }

  override liquidMethodMissing(key: string | number): unknown {
    return key === 'size' ? this.valueOf().length : undefined;
  }
}
