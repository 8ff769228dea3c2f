import { expect, it } from 'vitest';
import { seal, sealedLength, unseal } from '../../../../src/core/blobs/frames.ts';
import { systemRandom } from '../../../../src/platform/runtime/random.ts';

const random = systemRandom();
const key = Buffer.from(random.bytes(32));
const frame = 65_536;
const head = 12;

it.each([0, 1, frame - 1, frame, frame + 1, 2 * frame, 200_000])('opens %i bytes', (length) => {
  const plain = Buffer.from(Array.from({ length }, (_, index) => index % 251));
  const sealed = seal(key, plain, random);
  expect(sealed).toHaveLength(sealedLength(length));
  expect(unseal(key, sealed)).toEqual(plain);
});

it('refuses each changed byte', () => {
  const sealed = seal(key, Buffer.from('the mail'), random);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(() => unseal(key, changed), `byte ${at}`).toThrow();
  }
});

it('refuses each shorter length, at the end of a frame too', () => {
  const sealed = seal(key, Buffer.alloc(2 * frame + 5, 'a'), random);
  const lengths = [0, 4, head, head + 15, head + 16, head + frame + 16, head + 2 * (frame + 16)];
  for (const length of [...lengths, sealed.length - 1]) {
    expect(() => unseal(key, sealed.subarray(0, length)), `${length} bytes`).toThrow();
  }
});

it('refuses frames that changed places', () => {
  const sealed = seal(key, Buffer.alloc(3 * frame, 'a'), random);
  const [first, second] = [0, 1].map((n) =>
    sealed.subarray(head + n * (frame + 16), head + (n + 1) * (frame + 16)),
  );
  const rest = sealed.subarray(head + 2 * (frame + 16));
  const swapped = Buffer.concat([sealed.subarray(0, head), second ?? rest, first ?? rest, rest]);
  expect(swapped).toHaveLength(sealed.length);
  expect(() => unseal(key, swapped)).toThrow();
});

it('refuses another key', () => {
  const sealed = seal(key, Buffer.from('the mail'), random);
  expect(() => unseal(Buffer.alloc(32), sealed)).toThrow();
});

it('seals equal contents differently', () => {
  const [one, two] = [1, 2].map(() => seal(key, Buffer.from('the mail'), random));
  expect(one).not.toEqual(two);
});
