// The unsubscribe URL inside a stored content, which several recipients may share. Each copy gets the link of
// its own recipient in place of it.
import type { App } from '../../core/app.ts';

const path = '/u/of-this-recipient';
/** The service may have had another public URL when the content was stored. */
const anyRecipientUrl = /https?:\/\/[^\s"'<>()]{1,300}\/u\/of-this-recipient(?![\w-])/g;

/** Returns the URL that stands for the unsubscribe link of each recipient. */
export function recipientUrl(app: App): string {
  return `${app.publicUrl.current.replace(/\/$/, '')}${path}`;
}

/** Puts the link of one recipient in place of each such URL. */
export function withRecipientUrl<Text extends string | null>(text: Text, url: string): Text {
  if (!text?.includes(path)) return text;
  return text.replace(anyRecipientUrl, () => url) as Text;
}
