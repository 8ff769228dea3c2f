import { type Answer, encode } from 'dns-packet';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeAnswer,
  encodeQuestion,
  type WireQuestion,
} from '../../../src/platform/net/dns-wire.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

const question: WireQuestion = { id: 7, name: 'a.test', type: 'MX', edns: true };

function answer(answers: Answer[] = [], flags = 0): Buffer {
  const questions = [{ name: 'A.Test', type: question.type }];
  return encode({ type: 'response', id: 7, flags, questions, answers });
}

const mx: Answer = {
  name: 'a.test',
  type: 'MX',
  ttl: 5,
  data: { exchange: 'mx.test', preference: 1 },
};

describe('an answer on the wire', () => {
  it('is read when it echoes the question, in any case of letters', () => {
    const read = decodeAnswer(answer([mx]), question);
    expect(read?.records).toMatchObject([{ name: 'a.test', data: { exchange: 'mx.test' } }]);
  });

  it('is ignored with another id, question or kind of message', () => {
    for (const other of [{ id: 8 }, { name: 'b.test' }, { type: 'A' as const }]) {
      expect(decodeAnswer(answer([mx]), { ...question, ...other })).toBeUndefined();
    }
    expect(decodeAnswer(encodeQuestion(question), question)).toBeUndefined();
    expect(decodeAnswer(Buffer.alloc(11), question)).toBeUndefined();
  });

  it('may leave the question out in a refusal, but not in NXDOMAIN', () => {
    const bare = (rcode: number) => encode({ type: 'response', id: 7, flags: rcode });
    expect(decodeAnswer(bare(5), question)?.rcode).toBe(5);
    expect(decodeAnswer(bare(3), question)).toBeUndefined();
    expect(decodeAnswer(bare(0), question)).toBeUndefined();
  });

  it('is read from its header alone when cut off', () => {
    const whole = answer([mx], 0x0200);
    expect(decodeAnswer(whole.subarray(0, -5), question)).toMatchObject({
      truncated: true,
      records: [],
    });
  });

  it('is read in bounded time with chains of name pointers', () => {
    // Each pointer points at the previous one: 8,000 steps for every record, 5,000 records.
    const head = answer();
    const pointers = Buffer.alloc(16_000);
    for (let at = 0; at < pointers.length; at += 2) {
      pointers.writeUInt16BE(0xc000 | (at === 0 ? 12 : head.length + 11 + at - 2), at);
    }
    const rdata = (owner: Buffer, type: number, data: Buffer) => {
      const fixed = Buffer.alloc(10);
      fixed.writeUInt16BE(type, 0);
      fixed.writeUInt16BE(1, 2);
      fixed.writeUInt16BE(data.length, 8);
      return Buffer.concat([owner, fixed, data]);
    };
    const last = Buffer.alloc(2);
    last.writeUInt16BE(0xc000 | (head.length + 11 + pointers.length - 2));
    const first = rdata(Buffer.from([0]), 99, pointers);
    const rest = Array.from({ length: 4_000 }, () => rdata(last, 99, Buffer.alloc(0)));
    const bytes = Buffer.concat([head, first, ...rest]);
    bytes.writeUInt16BE(4_001, 6);
    const started = startWork();
    expect(decodeAnswer(bytes, question)?.records).toHaveLength(416);
    expect(workedMs(started)).toBeLessThan(1_000);
  });

  it('is refused or read after random damage', () => {
    const valid = answer([mx, { name: 'a.test', type: 'TXT', data: ['x'.repeat(200)] }, mx]);
    const damage = fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 8 });
    fc.assert(
      fc.property(damage, fc.nat(valid.length), (changes, length) => {
        const bytes = Buffer.from(valid);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          const read = decodeAnswer(bytes.subarray(0, length), question);
          expect(read?.records.length ?? 0).toBeLessThanOrEqual(416);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect(error).not.toMatchObject({ name: 'AssertionError' });
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
