// The bytes of one attachment of a mail that came in, found by the number of its part: parsing describes
// attachments and throws their bytes away. Takes the event loop, so a command asks, or a worker.
import { runParser } from './body.ts';

/**
 * The bytes of the part that `MailAttachment.partNumber` names, or null where there is none, where
 * it is longer than `maxBytes` decoded, or where the mail cannot be parsed so far.
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
  await runParser('', raw, ({ content, partId, release }) => {
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
