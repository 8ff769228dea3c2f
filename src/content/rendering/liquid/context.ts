// The context of filling a text: the values in scope and the bounds. Liquidjs hands it to every
// tag and filter, and makes new contexts for partials; all share one run.
import { Context, Drop, type Liquid, type Template } from 'liquidjs';
import type { StepBudget, WorkBudget } from './bounds.ts';

/** `this` of a filter. */
export interface FilterContext {
  context: Context;
}

type Scope = Parameters<Context['readProperty']>[0];
interface ScopeFinder {
  findScope(key: ReadPath[number]): unknown;
}

export type ReadPath = Parameters<Context['_get']>[0];

/** Returns a variable as people write it, shortened. */
export function pathOf(path: ReadPath): string {
  return path.slice(0, 8).map(String).join('.').slice(0, 200);
}

/** The filling of a text. */
export interface FillRun {
  readonly budget: WorkBudget;
  readonly steps: StepBudget;
  /** Names that partials see too. Their own data comes by parameters. */
  readonly globals: Readonly<Record<string, unknown>>;
  readonly partials: ReadonlyMap<string, Template[]>;
  /** Returns the footer of the brand, ready for this text. */
  readonly footer: () => string;
  /** Seconds since 1970 for `now`. */
  readonly now: number;
  /** Nested partials that are being filled. */
  depth: number;
  hasFooter: boolean;
  /** The variable that was read last. */
  lastRead: ReadPath;
  /** Notes a variable that a template prints and that is missing or null. */
  missing(path: string, isNull: boolean): void;
  warn(code: string, message: string): void;
}

export class FillContext extends Context {
  readonly run: FillRun;
  /** True while a value is read that goes into the text. */
  isPrinting: boolean = false;

  constructor(engine: Liquid, scope: object, run: FillRun) {
    // Limiter is a class with private fields, and liquidjs does not export it.
    const limits = { memoryLimit: run.budget, renderLimit: run.steps } as unknown as Pick<
      Context,
      'memoryLimit' | 'renderLimit'
    >;
    super(
      scope,
      engine.options,
      { sync: true, globals: run.globals },
      { ...limits, liquid: engine },
    );
    this.run = run;
  }

  /**
   * Reads a variable. Liquidjs takes six generators for it, which is most of the time of a fill.
   */
  read(path: ReadPath): unknown {
    const [root = ''] = path;
    // Private in the types alone: scopes of tags, then the data, then the globals.
    let value: unknown = (this as unknown as ScopeFinder).findScope(root);
    for (const name of path) value = this.readProperty(value as Scope, name);
    this.run.lastRead = path;
    if (this.isPrinting && (value === undefined || value === null)) {
      this.run.missing(pathOf(path), value === null);
    }
    return value;
  }

  // biome-ignore lint/correctness/useYield: liquidjs calls a generator here.
  override *_get(path: ReadPath): IterableIterator<unknown> {
    return this.read(path);
  }

  /**
   * Reads a property. Liquidjs calls methods of built-in objects, such as `forloop`, by any name.
   */
  override readProperty(object: Scope, key: ReadPath[number]): unknown {
    const isInherited =
      object instanceof Drop && typeof key === 'string' && key in Object.prototype;
    return isInherited ? undefined : super.readProperty(object, key);
  }

  override spawn(scope: object = {}): Context {
    return new FillContext(this.liquid, scope, this.run);
  }
}

/** Returns the context as ours: templates are filled with no other. */
export function contextOf(context: Context): FillContext {
  if (!(context instanceof FillContext)) throw new Error('a template is filled by its own context');
  return context;
}
