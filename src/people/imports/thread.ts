// Reads large files on a separate thread. Parsing, checking and ordering rows takes half the cost
// of an import, and would block the event loop for concurrent sends. Small files are read on the
// main thread, because a thread takes 0.3 s to start. The thread reads ahead of the import by a
// limited number of bytes.
import type { Encoding } from '../../platform/csv/decode.ts';
import { ValidationError } from '../../platform/errors.ts';
import { WorkerThread } from '../../platform/runtime/workers/worker-thread.ts';
import { type ReadFile, type ReadOptions, type ReadWindow, readRows } from './rows.ts';
import type { ImportPiece, ImportReply } from './worker.ts';

/** Most bytes of a file that is read on the main thread. */
const smallFile = 262_144;
/** Bytes that are sent ahead to the thread: about a window, so that the thread never waits. */
const mostBytesAhead = 2_097_152;

type ImportThread = WorkerThread<ImportPiece, ImportReply>;
type Pieces = AsyncIterator<Buffer>;

/** Reads the beginning of a file. `isWhole`: the file has ended. */
async function beginningOf(pieces: Pieces): Promise<{ head: Buffer[]; isWhole: boolean }> {
  const head: Buffer[] = [];
  let bytes = 0;
  while (bytes <= smallFile) {
    const { value, done } = await pieces.next();
    if (done) return { head, isWhole: true };
    head.push(value);
    bytes += value.length;
  }
  return { head, isWhole: false };
}

async function* joined(head: readonly Buffer[], rest: Pieces): AsyncGenerator<Buffer> {
  try {
    yield* head;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/**
 * Returns a function that sends pieces of the file to the thread, up to `mostBytesAhead`. `taken`:
 * bytes that the thread has read since the last call.
 */
function feeder(worker: ImportThread, source: Pieces) {
  let ahead = 0;
  let hasEnded = false;
  return async (taken: number) => {
    ahead -= taken;
    while (!hasEnded && ahead < mostBytesAhead) {
      const { value, done } = await source.next();
      hasEnded = done === true;
      // A copy, because the buffer of the piece may be shared.
      const piece = done ? null : new Uint8Array(value);
      ahead += piece?.length ?? 0;
      worker.order(piece, piece ? [piece.buffer] : []);
    }
  };
}

/** Sends the file to the thread, and yields the replies until the thread ends. */
async function* repliesOf(worker: ImportThread, source: Pieces): AsyncGenerator<ImportReply> {
  const reports = worker.reports();
  const feed = feeder(worker, source);
  try {
    await feed(0);
    for await (const reply of reports) {
      if (reply.kind === 'taken') await feed(reply.bytes);
      else if (reply.kind === 'refused') throw new ValidationError(reply.message, reply.fields);
      else yield reply;
    }
  } finally {
    await worker.end();
    await source.return?.();
  }
}

async function* windowsOf(
  replies: AsyncIterable<ImportReply>,
  onEnd: (encoding: Encoding) => void,
): AsyncGenerator<ReadWindow> {
  for await (const reply of replies) {
    if (reply.kind === 'ended') return onEnd(reply.encoding);
    if (reply.kind === 'window') yield reply.window;
  }
  throw new Error('The thread that reads an import ended before the file');
}

async function readInThread(source: Pieces, options: ReadOptions): Promise<ReadFile> {
  const worker: ImportThread = new WorkerThread({
    script: new URL('./worker.ts', import.meta.url),
    name: 'import',
    heapMb: 128,
    youngMb: 16,
    data: options,
  });
  const replies = repliesOf(worker, source);
  const { value: first } = await replies.next();
  if (first?.kind !== 'begun') throw new Error('The thread that reads an import did not begin');
  let encoding: Encoding = 'utf-8';
  const windows = windowsOf(replies, (found) => {
    encoding = found;
  });
  return { ...first.head, windows, encoding: () => encoding };
}

/** Reads a file as `readRows` does, on a thread if it is large. */
export async function readFile(
  source: AsyncIterable<Buffer>,
  options: ReadOptions,
): Promise<ReadFile> {
  const pieces = source[Symbol.asyncIterator]();
  const { head, isWhole } = await beginningOf(pieces);
  const all = joined(head, pieces);
  return isWhole ? readRows(all, options) : readInThread(all, options);
}
