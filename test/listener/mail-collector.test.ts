// The collector keeps a message whatever pieces it comes in, makes line ends CRLF, and gives back
// what it took.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MailCollector, MemoryBudget } from '../../daemon/smtp/mail-collector.ts';

const ample = 100_000_000;

function collect(pieces: readonly Buffer[], maxBytes = ample) {
  const budget = new MemoryBudget(ample);
  const collector = new MailCollector(budget, maxBytes);
  for (const piece of pieces) collector.add(piece);
  const refusal = collector.refusal;
  const message = collector.finish();
  collector.release();
  return { message, refusal, free: budget.free };
}

/** Bytes rich in line ends and dots, cut into pieces; the last line is ended as by the library. */
const pieces = fc
  .array(fc.array(fc.constantFrom(13, 10, 46, 0, 65, 255), { maxLength: 40 }), { maxLength: 20 })
  .map((list) => [...list.map((bytes) => Buffer.from(bytes)), Buffer.from('\r\n')]);

describe('a collected message', () => {
  it('has CRLF where CRLF, CR or LF stood, and is the same otherwise', () => {
    fc.assert(
      fc.property(pieces, (list) => {
        const text = Buffer.concat(list).toString('latin1');
        const { message, free } = collect(list);
        expect(message.toString('latin1')).toBe(text.replace(/\r\n|\r|\n/g, '\r\n'));
        expect(free).toBe(ample);
      }),
      { seed: 8, numRuns: 500 },
    );
  });

  it('is whole when it comes byte by byte, over many blocks', () => {
    const text = `${'.'.repeat(99)}\r\n`.repeat(5_000);
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));
    const before = text.repeat(4);
    const { message } = collect([Buffer.from(before), ...bytes]);
    expect(message.toString()).toBe(before + text);
  });

  it('is refused one byte above the limit, which counts the line ends made', () => {
    const line = Buffer.from('x\n'.repeat(10));
    expect(collect([line], 30).refusal).toBeNull();
    expect(collect([line], 29)).toMatchObject({ refusal: { code: 552 }, free: ample });
  });

  it('gives its memory back as it is refused, not when its session ends', () => {
    const budget = new MemoryBudget(ample);
    const collector = new MailCollector(budget, 50_000);
    collector.add(Buffer.alloc(40_000, 'x'));
    expect(budget.free).toBeLessThan(ample);
    collector.add(Buffer.alloc(40_000, 'x'));
    expect([collector.refusal?.code, budget.free]).toEqual([552, ample]);
  });

  it('takes little more memory than it has bytes', () => {
    const budget = new MemoryBudget(ample);
    const collector = new MailCollector(budget, ample);
    for (let i = 0; i < 200; i++) collector.add(Buffer.alloc(65_536, 'x'));
    expect(ample - budget.free).toBeLessThan(1.2 * 200 * 65_536);
  });
});
