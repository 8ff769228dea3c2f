// The unsubscribe URL inside a stored content, which several recipients may share. Each copy gets the link of
// its own recipient in place of it.
import type { App } from '../../core/app.ts';

const path = '/u/of-this-recipient';

/** Returns the URL that stands for the unsubscribe link of each recipient. */
export function recipientUrl(app: App): string {
  return `${app.publicUrl.current.replace(/\/$/, '')}${path}`;
}
