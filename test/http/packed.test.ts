// Texts kept in compressed form: the choice of the coding, and one compression for all clients.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { codingFor, Packed } from '../../daemon/http/openapi/packed.ts';

const text = 'A text that repeats. '.repeat(200);
const asking = (encoding?: string) =>
  ({ headers: { 'accept-encoding': encoding } }) as unknown as FastifyRequest;

describe('the coding of an answer', () => {
  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['br;q=0.1, gzip;q=0.9', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['*', 'br'],
    ['*;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['identity', null],
    ['gzip;q=x', null],
    ['', null],
    [undefined, null],
  ])('for %j is %s', (accepted, coding) => {
    expect(codingFor(accepted)).toBe(coding);
  });
});

describe('a kept text', () => {
  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('is compressed once as %s', async (coding, decompress) => {
    const packed = new Packed(text);
    const [first, second] = await Promise.all([
      packed.answerTo(asking(coding)),
      packed.answerTo(asking(coding)),
    ]);
    expect(first.headers).toEqual({ vary: 'Accept-Encoding', 'content-encoding': coding });
    expect(decompress(first.bytes).toString()).toBe(text);
    expect(second.bytes).toBe(first.bytes);
  });

  it('is sent as it is to a client that accepts no coding', async () => {
    const { headers, bytes } = await new Packed(text).answerTo(asking());
    expect([headers, bytes.toString()]).toEqual([{ vary: 'Accept-Encoding' }, text]);
  });

  it('is not compressed if it is short', async () => {
    const { headers } = await new Packed('short').answerTo(asking('gzip'));
    expect(headers).toEqual({ vary: 'Accept-Encoding' });
  });
});
