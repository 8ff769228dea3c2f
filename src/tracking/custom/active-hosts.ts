// Which tracking hosts of sending domains answer now.
import type { App } from '../../app.ts';

/** The active tracking host of a sending domain, or null. */
export function activeHostOf(_app: App, _domainId: string): string | null {
  return null;
}
