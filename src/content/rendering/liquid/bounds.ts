// Bounds of filling a text. The limits of liquidjs apply too, but five CVEs of 2026 bypassed them,
// and a string of 500 MB ends the whole process, not only the worker. So sizes are computed before
// anything is built.
import { Drop } from 'liquidjs';

export const liquidBounds = {
  /** Most characters of a text when it is parsed. */
  source: 1_000_000,
  /** Most tags and outputs of a text. */
  tags: 5000,
  /** Most characters of all tags and outputs of a text: each takes up to 300 bytes once parsed. */
  tagCharacters: 100_000,
  /** Deepest nesting of blocks. */
  nesting: 64,
  /** Deepest nesting of partials, while filling. */
  partialDepth: 16,
  /** Most characters of a filled text. */
  output: 2_000_000,
  /** Most characters of a value that filters make. */
  value: 1_000_000,
  /** Most characters and entries that filters and outputs together may read. */
  work: 8_000_000,
  /** Most entries of a range, such as `(1..10)`. */
  range: 100_000,
  /** Most tags, outputs and pieces of text that are filled. Each pass of a loop counts anew. */
  steps: 200_000,
  /** Longest time that the thread works for a fill. */
  milliseconds: 1000,
} as const;

/** A fill that ended at a bound; the message names the remedy. */
export class FillBoundError extends Error {}

/** Deepest nesting of arrays and objects in a value. */
const mostDepth = 64;
/** Characters counted for a number, a boolean or an object. */
const smallSize = 16;

/** Counts the work of filling a text. Replaces a limiter of liquidjs. */
export class WorkBudget {
  #left: number = liquidBounds.work;

  use(amount: number): void {
    // Ignores amounts that are negative or not a number: liquidjs passes differences.
    if (!(amount > 0)) return;
    if (amount > this.#left) {
      throw new FillBoundError(
        'the template does too much work: make its loops and values smaller',
      );
    }
    this.#left -= amount;
  }

  check(): void {}

  /**
   * Counts the characters of a value as text, before filters join them. Counts the fields of
   * objects only with `intoObjects`.
   */
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

/** Returns the CPU time of this thread in ms, which does not depend on the load of the machine. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Counts the steps of filling a text and checks the time. Replaces a limiter of liquidjs. */
export class StepBudget {
  #left: number = liquidBounds.steps;
  readonly #mostWorkedMs: number;
  /** Value of `now` from which `workedMs` is checked again, because `workedMs` is slow to read. */
  #lookAt = 0;

  /** `mostWorkedMs`: value of `workedMs` at which the time ends. */
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
 * HTML with escaped values: the content of `capture`, and the result of filters such as `escape`.
 * In text it is printed as HTML; in an attribute the text is escaped. Filters read the text. Where
 * `raw` is allowed they read the HTML, so that a filter before `raw` cannot remove the escaping.
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
