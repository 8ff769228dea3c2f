// The collector joins the pieces of a message, makes its line ends CRLF, and releases the memory
// that it reserved.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MailCollector } from '../../daemon/smtp/mail-collector.ts';
import { SharedPool } from '../../src/platform/runtime/fairness/shared-pool.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const ample = 100_000_000;

function collecting(maxBytes: number) {
  const memory = new SharedPool(2 * ample);
  const clock = virtualClock(0);
  const collector = new MailCollector({ clock, memory, holder: '192.0.2.0/24', maxBytes });
  return { collector, held: () => memory.heldBy('192.0.2.0/24') };
}

function collect(pieces: readonly Buffer[], maxBytes = ample) {
  const { collector, held } = collecting(maxBytes);
  for (const piece of pieces) collector.add(piece);
  const refusal = collector.refusal;
  const message = collector.finish();
  collector.release();
  return { message, refusal, held: held() };
}

/**
 * Bytes rich in line ends and dots, cut into pieces; the last line ends with CRLF, as in the
 * library.
 */
const pieces = fc
  .array(fc.array(fc.constantFrom(13, 10, 46, 0, 65, 255), { maxLength: 40 }), { maxLength: 20 })
  .map((list) => [...list.map((bytes) => Buffer.from(bytes)), Buffer.from('\r\n')]);

describe('a collected message', () => {
  it('has CRLF for each CRLF, CR CR LF, CR or LF, and no other change', () => {
    fc.assert(
      fc.property(pieces, (list) => {
        const text = Buffer.concat(list).toString('latin1');
        const { message, held } = collect(list);
        expect(message.toString('latin1')).toBe(text.replace(/\r{1,8}\n|\r|\n/g, '\r\n'));
        expect(held).toBe(0);
      }),
      { seed: 8, numRuns: 500 },
    );
  });

  it('has one line end for CR CR LF, in whatever pieces it comes', () => {
    const text = 'Subject: a\r\r\nTo: b\r\r\r\n\r\r\nwords\r\r\n.\r\n';
    const wanted = 'Subject: a\r\nTo: b\r\n\r\nwords\r\n.\r\n';
    for (let at = 0; at <= text.length; at += 1) {
      const halves = [Buffer.from(text.slice(0, at)), Buffer.from(text.slice(at))];
      expect(collect(halves).message.toString()).toBe(wanted);
    }
  });

  it('is complete when it comes byte by byte over many blocks', () => {
    const text = `${'.'.repeat(99)}\r\n`.repeat(5_000);
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));
    const before = text.repeat(4);
    const { message } = collect([Buffer.from(before), ...bytes]);
    expect(message.toString()).toBe(before + text);
  });

  it('is refused one byte above the limit, counting the added line ends', () => {
    const line = Buffer.from('x\n'.repeat(10));
    expect(collect([line], 30).refusal).toBeNull();
    expect(collect([line], 29)).toMatchObject({ refusal: { code: 552 }, held: 0 });
  });

  it('releases its memory at its refusal, before the session ends', () => {
    const { collector, held } = collecting(50_000);
    collector.add(Buffer.alloc(40_000, 'x'));
    expect(held()).toBeGreaterThan(0);
    collector.add(Buffer.alloc(40_000, 'x'));
    expect([collector.refusal?.code, held()]).toEqual([552, 0]);
  });

  it('takes little more memory than its size', () => {
    const { collector, held } = collecting(ample);
    for (let i = 0; i < 200; i++) collector.add(Buffer.alloc(65_536, 'x'));
    expect(held()).toBeLessThan(1.2 * 200 * 65_536);
  });
});
