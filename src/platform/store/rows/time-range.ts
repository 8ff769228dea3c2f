// Time bounds of a list: `after` and `before`, also named `since` and `until`.
import { ValidationError } from '../../errors.ts';

/** Time bounds of a list. Each bound has two names. */
export interface TimeRange {
  after?: string | null | undefined;
  since?: string | null | undefined;
  before?: string | null | undefined;
  until?: string | null | undefined;
}

function boundOf(range: TimeRange, name: 'after' | 'before', alias: 'since' | 'until') {
  const [one, same] = [range[name] ?? range[alias], range[alias] ?? range[name]];
  if (one === undefined || one === null || same === null || same === undefined) return undefined;
  if (Date.parse(one) === Date.parse(same)) return Date.parse(one);
  throw ValidationError.of(alias, `must equal \`${name}\`, as both name the same bound`);
}

/**
 * Returns the bounds in ms since 1970: `from` is included, `to` is not.
 * @throws ValidationError for two names of a bound with different times
 */
export function boundsOf(range: TimeRange): { from: number | undefined; to: number | undefined } {
  return { from: boundOf(range, 'after', 'since'), to: boundOf(range, 'before', 'until') };
}
