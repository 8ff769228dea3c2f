// The context of filling a text: the values in scope and the bounds. Liquidjs passes it to every
// tag and filter, and makes new contexts for partials; all contexts share a run.
import { Context, Drop, type Liquid, type Template } from 'liquidjs';
import type { StepBudget, WorkBudget } from './bounds.ts';

/** Type of `this` in a filter. */
export interface FilterContext {
  context: Context;
}

type Scope = Parameters<Context['readProperty']>[0];
interface ScopeFinder {
  findScope(key: ReadPath[number]): unknown;
}

export type ReadPath = Parameters<Context['_get']>[0];

/** Returns a variable as users write it, such as `user.name`, with at most 200 characters. */
export function pathOf(path: ReadPath): string {
  return path.slice(0, 8).map(String).join('.').slice(0, 200);
}

/** The state of filling a text. */
export interface FillRun {
  readonly budget: WorkBudget;
  readonly steps: StepBudget;
  /** Names that partials can read too. Partials get all other data as parameters. */
  readonly globals: Readonly<Record<string, unknown>>;
  readonly partials: ReadonlyMap<string, Template[]>;
  /** Returns the footer of the brand, escaped for this text. */
  readonly footer: () => string;
  /** Time that `now` and `today` mean, in seconds since 1970. */
  readonly now: number;
  /** Number of nested partials that are being filled now. */
  depth: number;
  hasFooter: boolean;
  /** The last variable that was read. */
  lastRead: ReadPath;
  /** Reports a variable that is printed, but missing or null. */
  missing(path: string, isNull: boolean): void;
  warn(code: string, message: string): void;
}

export class FillContext extends Context {
  readonly run: FillRun;
  /** True while a value is read to be printed: only then a missing value is reported. */
  isPrinting: boolean = false;

  constructor(engine: Liquid, scope: object, run: FillRun) {
    // The type Limiter has private fields, and liquidjs does not export it, so the types are cast.
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
   * Reads a variable directly: the six generators of liquidjs would take most of the time of a
   * fill.
   */
  read(path: ReadPath): unknown {
    const [root = ''] = path;
    // `findScope` is private only in the types. It searches tag scopes, the data, then globals.
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
   * Reads a property. Hides methods that `forloop` and other Drops inherit: liquidjs would call
   * them.
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

/** Casts the context. @throws Error for a context of a different class */
export function contextOf(context: Context): FillContext {
  if (!(context instanceof FillContext)) throw new Error('a template is filled by its own context');
  return context;
}
