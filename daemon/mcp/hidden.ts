// Messages that hide text from a reader: the text of a mail has what its HTML hides, and an agent reads the text.
import type { App } from '../../src/core/app.ts';
import { hidesWords } from '../../src/mail/mime/html/hidden-words.ts';
import { mostCharacters } from '../../src/mail/mime/html/tokens.ts';
import { findFoundHtmlStarts } from '../../src/outbound/messages/projection-queries.ts';
import { sliceTurns } from '../../src/platform/runtime/turns.ts';

const atOnce = 20;

/** Returns those of these messages whose HTML hides text. */
export async function hiddenAmong(
  { store }: App,
  messageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const hidden = new Set<string>();
  for (let at = 0; at < messageIds.length; at += atOnce) {
    const some = messageIds.slice(at, at + atOnce);
    const found = await findFoundHtmlStarts(store.db, some, mostCharacters);
    for (const [id, html] of found) {
      await sliceTurns('find hidden text');
      if (hidesWords(html)) hidden.add(id);
    }
  }
  return hidden;
}
