// The second step of the send flow (ARCHITECTURE.md, "Send"): an accepted message becomes RFC 5322
// bytes. Pure: no store, no clock, no randomness, so a retry and a raw download are the same bytes.
import type { Composed, ComposeInput } from './input.ts';
import { composeLean } from './lean.ts';

/**
 * Composes a message; the same input gives the same bytes. Without attachments the result is
 * there at once, with attachments it is a promise. Throws ComposeError (or rejects with it) where
 * a value that is bound for the header holds CR, LF, NUL or is otherwise unfit for one.
 */
export function compose(input: ComposeInput): Composed | Promise<Composed> {
  return input.attachments.length === 0 ? composeLean(input) : composeWithAttachments(input);
}

/** Few threads ever need nodemailer, which takes 40 ms to load. */
async function composeWithAttachments(input: ComposeInput): Promise<Composed> {
  const { composeWithMailComposer } = await import('./mail-composer.ts');
  return composeWithMailComposer(input);
}
