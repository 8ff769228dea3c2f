// The worker side of thread.ts. Reads and checks the rows of a file, then ends.
import { on } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import type { Encoding } from '../../platform/csv/decode.ts';
import { type FieldErrors, ValidationError } from '../../platform/errors.ts';
import { type FileHead, type ReadOptions, type ReadWindow, readRows } from './rows.ts';

/** A piece of the file. Null marks the end. */
export type ImportPiece = Uint8Array | null;

export type ImportReply =
  /** Sent when the thread reads a piece of this size. */
  | { kind: 'taken'; bytes: number }
  | { kind: 'begun'; head: FileHead }
  | { kind: 'window'; window: ReadWindow }
  | { kind: 'refused'; message: string; fields: FieldErrors | undefined }
  | { kind: 'ended'; encoding: Encoding };

const post = (reply: ImportReply) => parentPort?.postMessage(reply);

/** Yields the pieces as they arrive, and reports the bytes of each to the main thread. */
async function* pieces(messages: AsyncIterable<[ImportPiece]>): AsyncGenerator<Buffer> {
  for await (const [piece] of messages) {
    if (piece === null) return;
    post({ kind: 'taken', bytes: piece.length });
    yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  }
}

async function read(source: AsyncIterable<Buffer>, options: ReadOptions): Promise<void> {
  try {
    const { windows, encoding, ...head } = await readRows(source, options);
    post({ kind: 'begun', head });
    for await (const window of windows) post({ kind: 'window', window });
    post({ kind: 'ended', encoding: encoding() });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    post({ kind: 'refused', message: error.message, fields: error.fieldErrors });
  }
}

if (parentPort) {
  await read(pieces(on(parentPort, 'message') as AsyncIterable<[ImportPiece]>), workerData);
  parentPort.close();
}
