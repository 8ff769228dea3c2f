// The far end of import-thread.ts: reads and checks the rows of one file, and ends.
import { on } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { type FieldErrors, ValidationError } from '../errors.ts';
import { type FileKind, type ReadWindow, readRows } from './import-rows.ts';

/** A piece of the file; null: it has ended. */
export type ImportPiece = Uint8Array | null;

export type ImportReply =
  /** A piece of so many bytes is being read. */
  | { kind: 'taken'; bytes: number }
  | { kind: 'begun'; format: string }
  | { kind: 'window'; window: ReadWindow }
  | { kind: 'refused'; message: string; fields: FieldErrors | undefined }
  | { kind: 'ended' };

const post = (reply: ImportReply) => parentPort?.postMessage(reply);

/** The pieces as they come. */
async function* pieces(messages: AsyncIterable<[ImportPiece]>): AsyncGenerator<Buffer> {
  for await (const [piece] of messages) {
    if (piece === null) return;
    post({ kind: 'taken', bytes: piece.length });
    yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  }
}

async function read(source: AsyncIterable<Buffer>, as: FileKind | undefined): Promise<void> {
  try {
    const { format, windows } = await readRows(source, as);
    post({ kind: 'begun', format });
    for await (const window of windows) post({ kind: 'window', window });
    post({ kind: 'ended' });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    post({ kind: 'refused', message: error.message, fields: error.fieldErrors });
  }
}

if (parentPort) {
  await read(pieces(on(parentPort, 'message') as AsyncIterable<[ImportPiece]>), workerData.as);
  parentPort.close();
}
