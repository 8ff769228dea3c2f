// The decoded bytes of one attachment out of a raw mail, within a bound. body.ts counts bytes
// and throws them away; the few readers that want them parse once more and keep one part.
import { Readable } from 'node:stream';
import { MailParser } from 'mailparser';
import { parseLimits } from '../parsed-mail.ts';

interface AttachmentEvent {
  type: 'attachment';
  content: Readable;
  partId: string | null;
  release: (() => void) | null;
}

const pieceBytes = 64 * 1024;
/** As in body.ts, so that part numbers are the same. */
const parserOptions = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
  keepDeliveryStatus: true,
  ignoreEmbedded: true,
  checksumAlgo: 'sha1',
  maxHeadSize: parseLimits.headerBytes,
  maxChildNodes: parseLimits.parts,
};

/** Small pieces keep what mailparser buffers small. */
function* piecesOf(raw: Buffer): Generator<Buffer> {
  for (let at = 0; at < raw.length; at += pieceBytes) yield raw.subarray(at, at + pieceBytes);
}

/**
 * The bytes of the part that `MailAttachment.partNumber` names, or null where there is none, where
 * it is longer than `maxBytes` decoded, or where the mail cannot be parsed so far.
 */
export function readAttachmentBytes(
  raw: Buffer,
  partNumber: string,
  maxBytes: number,
): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const parser = new MailParser(parserOptions);
    const kept: Buffer[] = [];
    let keptBytes = 0;
    let isFound = false;
    let isWhole = false;
    const finish = () => resolve(isWhole && keptBytes <= maxBytes ? Buffer.concat(kept) : null);
    parser.on('data', (event: AttachmentEvent | { type: 'text' }) => {
      if (event.type !== 'attachment') return;
      const isWanted = !isFound && (event.partId ?? '1') === partNumber;
      isFound ||= isWanted;
      event.content.on('data', (chunk: Buffer) => {
        if (!isWanted) return;
        keptBytes += chunk.length;
        if (keptBytes <= maxBytes) kept.push(chunk);
      });
      event.content.on('error', () => event.release?.());
      event.content.on('end', () => {
        isWhole ||= isWanted;
        event.release?.();
      });
    });
    parser.on('end', finish);
    parser.on('error', finish);
    Readable.from(piecesOf(raw), { objectMode: false }).pipe(parser);
  });
}
