// Cuts a data block into pieces of about 64 KB, and writes each piece in a single call, uncopied.
import type { Socket } from 'node:net';

/** Size of a piece. The kernel must accept each piece within `progressMs`. */
const pieceBytes = 64 * 1024;

/** Groups the buffers of a block into pieces of about 64 KB. */
export function cutIntoPieces(block: readonly Buffer[]): Buffer[][] {
  const pieces: Buffer[][] = [];
  let piece: Buffer[] = [];
  let bytes = 0;
  for (const chunk of block) {
    for (let from = 0; from < chunk.length; ) {
      const part = chunk.subarray(from, from + pieceBytes - bytes);
      piece.push(part);
      from += part.length;
      bytes += part.length;
      if (bytes < pieceBytes) continue;
      pieces.push(piece);
      piece = [];
      bytes = 0;
    }
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}

/**
 * Writes a group of buffers in a single gathered write. Calls `onTaken` once the kernel has
 * accepted the last buffer.
 */
export function gather(socket: Socket, piece: readonly Buffer[], onTaken?: () => void): void {
  const [only] = piece;
  if (only && piece.length === 1) {
    socket.write(only, onTaken);
    return;
  }
  socket.cork();
  for (const [index, part] of piece.entries()) {
    socket.write(part, index === piece.length - 1 ? onTaken : undefined);
  }
  socket.uncork();
}
