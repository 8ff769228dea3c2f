// Reads the bytes of an attachment of received mail, found by part number, because parsing discards
// the bytes. Blocks the event loop, so only commands and workers call it.
import { runParser, splitMail } from './body.ts';

/**
 * Returns the bytes of the part named by `MailAttachment.partNumber`. Returns null if it does not
 * exist, if it is longer than `maxBytes` decoded, or if the mail cannot be parsed that far.
 */
export async function readAttachmentBytes(
  raw: Buffer,
  partNumber: string,
  maxBytes: number,
): Promise<Buffer | null> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let isFound = false;
  let isWhole = false;
  await runParser(splitMail(raw), ({ content, partId, release }) => {
    const isWanted = !isFound && (partId ?? '1') === partNumber;
    isFound ||= isWanted;
    content.on('data', (chunk: Buffer) => {
      if (!isWanted) return;
      keptBytes += chunk.length;
      if (keptBytes <= maxBytes) kept.push(chunk);
    });
    content.on('error', () => release?.());
    content.on('end', () => {
      isWhole ||= isWanted;
      release?.();
    });
  });
  return isWhole && keptBytes <= maxBytes ? Buffer.concat(kept) : null;
}
