// Encryption of blobs: AES-256-GCM in frames, each with a number and a mark on the last frame, so
// that frames can neither change places nor be left out (the STREAM construction of Hoang,
// Reyhanitabar, Rogaway and Vizár, 2015).
//
//   bytes        | content
//   -------------+---------------------------------------------------------------
//   5            | `svcb1`
//   7            | random beginning of the nonces; the frame's number and mark follow it
//   65,536 + 16  | a frame and its tag; the last frame may be shorter
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '../../platform/runtime/random.ts';

const mark = Buffer.from('svcb1');
const prefixBytes = 7;
const frameBytes = 65_536;
const tagBytes = 16;
const headBytes = mark.length + prefixBytes;

/** Bytes of a key for `seal`. */
export const blobKeyBytes = 32;

/** Returns the length of this many bytes once they are sealed. */
export function sealedLength(bytes: number): number {
  return headBytes + bytes + frameCount(bytes) * tagBytes;
}

function frameCount(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / frameBytes));
}

function nonceOf(prefix: Buffer, number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  prefix.copy(nonce);
  nonce.writeUInt32BE(number, prefixBytes);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** Encrypts bytes. A key may be used for a single content only. */
export function seal(key: Buffer, plain: Buffer, random: Random): Buffer {
  const prefix = Buffer.from(random.bytes(prefixBytes));
  const count = frameCount(plain.length);
  const pieces: Buffer[] = [mark, prefix];
  for (let number = 0; number < count; number++) {
    const nonce = nonceOf(prefix, number, number === count - 1);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const frame = plain.subarray(number * frameBytes, (number + 1) * frameBytes);
    pieces.push(cipher.update(frame), cipher.final(), cipher.getAuthTag());
  }
  return Buffer.concat(pieces);
}

/** Decrypts a result of `seal`. @throws Error if a byte was changed, or a frame is missing */
export function unseal(key: Buffer, sealed: Buffer): Buffer {
  if (!sealed.subarray(0, mark.length).equals(mark)) throw new Error('it is not encrypted by svc');
  const prefix = sealed.subarray(mark.length, headBytes);
  const frames = sealed.subarray(headBytes);
  const count = Math.max(1, Math.ceil(frames.length / (frameBytes + tagBytes)));
  const pieces: Buffer[] = [];
  for (let number = 0; number < count; number++) {
    const from = number * (frameBytes + tagBytes);
    const frame = frames.subarray(from, from + frameBytes + tagBytes);
    if (frame.length < tagBytes) throw new Error('its last frame is cut off');
    const nonce = nonceOf(prefix, number, number === count - 1);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce);
    decipher.setAuthTag(frame.subarray(frame.length - tagBytes));
    pieces.push(decipher.update(frame.subarray(0, frame.length - tagBytes)), decipher.final());
  }
  return Buffer.concat(pieces);
}
