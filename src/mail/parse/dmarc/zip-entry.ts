// Unpacks a zip archive with a single file (APPNOTE 4.3), stored or deflated, or a gzip stream,
// within bounds. Reports need no zip64, no encryption and no second file.
import { crc32, gunzipSync, inflateRawSync } from 'node:zlib';

const endSignature = 0x06054b50;
const centralSignature = 0x02014b50;
const localSignature = 0x04034b50;
const endBytes = 22;
const centralBytes = 46;
const localBytes = 30;
const maxCommentBytes = 0xffff;
const isEncrypted = 0x0001;

interface Entry {
  method: number;
  crc: number;
  packedBytes: number;
  bytes: number;
  localAt: number;
}

/** Returns the offset of the end record, which a comment may follow; -1 without a record. */
function findEnd(zip: Buffer): number {
  const first = Math.max(0, zip.length - endBytes - maxCommentBytes);
  for (let at = zip.length - endBytes; at >= first; at -= 1) {
    if (zip.readUInt32LE(at) === endSignature) return at;
  }
  return -1;
}

function readEntry(zip: Buffer): Entry | null {
  const end = findEnd(zip);
  if (end < 0 || zip.readUInt16LE(end + 10) !== 1) return null;
  const at = zip.readUInt32LE(end + 16);
  if (at + centralBytes > end || zip.readUInt32LE(at) !== centralSignature) return null;
  if ((zip.readUInt16LE(at + 8) & isEncrypted) !== 0) return null;
  return {
    method: zip.readUInt16LE(at + 10),
    crc: zip.readUInt32LE(at + 16),
    packedBytes: zip.readUInt32LE(at + 20),
    bytes: zip.readUInt32LE(at + 24),
    localAt: zip.readUInt32LE(at + 42),
  };
}

/**
 * Returns the packed bytes. Uses the sizes in the central directory, because the sizes before the
 * file may be zero.
 */
function readPacked(zip: Buffer, { localAt, packedBytes }: Entry): Buffer | null {
  if (localAt + localBytes > zip.length || zip.readUInt32LE(localAt) !== localSignature)
    return null;
  const start =
    localAt + localBytes + zip.readUInt16LE(localAt + 26) + zip.readUInt16LE(localAt + 28);
  return start + packedBytes > zip.length ? null : zip.subarray(start, start + packedBytes);
}

function unpack(packed: Buffer, { method, bytes }: Entry, maxBytes: number): Buffer | null {
  if (bytes > maxBytes) return null;
  if (method === 0) return packed;
  if (method !== 8) return null;
  try {
    return inflateRawSync(packed, { maxOutputLength: maxBytes });
  } catch {
    return null;
  }
}

/**
 * Returns the file of a zip archive with a single file, at most `maxBytes` unpacked; otherwise
 * null.
 */
export function unzipOne(zip: Buffer, maxBytes: number): Buffer | null {
  if (zip.length < endBytes) return null;
  const entry = readEntry(zip);
  const packed = entry && readPacked(zip, entry);
  if (!packed) return null;
  const content = unpack(packed, entry, maxBytes);
  return content?.length === entry.bytes && crc32(content) === entry.crc ? content : null;
}

/** Returns the content of a gzip stream, at most `maxBytes` unpacked; otherwise null. */
export function gunzip(packed: Buffer, maxBytes: number): Buffer | null {
  try {
    return gunzipSync(packed, { maxOutputLength: maxBytes });
  } catch {
    return null;
  }
}
