// Concurrent messages are composed and signed by workers, with the bytes of composing on this
// thread.
import { createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Composer, composeHere } from '../../../src/mail/mime/composer.ts';
import type { SignedMessage } from '../../../src/mail/mime/dkim/sign.ts';
import type { ComposeRequest } from '../../../src/mail/mime/input.ts';
import { inputs, plainInput, testSeed } from './compose-corpus.ts';
import { ed25519Key, rsaKey, timestampSeconds } from './test-keys.ts';

const keys = [rsaKey, ed25519Key()];

function requestOf(change: Partial<ComposeRequest['input']>, by = keys): ComposeRequest {
  return { input: { ...plainInput, ...change }, keys: by, timestampSeconds };
}

/** Expects equal bytes: both signatures are deterministic (RFC 8017 8.2, RFC 8032). */
async function expectSame(made: SignedMessage[], requests: ComposeRequest[]): Promise<void> {
  expect(made).toHaveLength(requests.length);
  for (const [index, request] of requests.entries()) {
    const { data, ...needs } = await composeHere(request);
    const { data: madeData, ...madeNeeds } = made[index] as SignedMessage;
    expect(Buffer.concat(madeData).equals(Buffer.concat(data))).toBe(true);
    expect(madeNeeds).toEqual(needs);
  }
}

describe('the composer', () => {
  let composer: Composer;
  beforeEach(() => {
    composer = new Composer();
  });
  afterEach(() => composer.close());
  const composeAll = (requests: readonly ComposeRequest[]) =>
    Promise.all(requests.map((request) => composer.compose(request)));

  it.each([1, 3, 4, 33, 400])(
    'makes %i messages at once, each with its own text',
    async (count) => {
      const requests = Array.from({ length: count }, (_, index) =>
        requestOf({ subject: `grüße ${index}`, text: `${index}\n` }),
      );
      await expectSame(await composeAll(requests), requests);
    },
  );

  it('makes the same bytes as this thread for any input', async () => {
    const batches = fc.array(inputs, { minLength: 4, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(batches, async (batch) => {
        const requests = batch.map((input) => requestOf(input));
        await expectSame(await composeAll(requests), requests);
      }),
      { seed: testSeed, numRuns: 20 },
    );
  });

  it('keeps attachments, large texts and unsigned mail complete', async () => {
    const content = Buffer.alloc(3_000, 'attachment ');
    const attachment = {
      filename: 'a.bin',
      contentType: 'application/pdf',
      contentId: null,
      content,
    };
    const requests = [
      requestOf({ attachments: [attachment] }),
      requestOf({ text: 'word '.repeat(100_000) }),
      requestOf({ html: '<p>x</p>' }, []),
      ...[1, 2, 3, 4].map((number) => requestOf({ text: `${number}` })),
    ];
    await expectSame(await composeAll(requests), requests);
  });

  it('signs with more keys than the worker caches', async () => {
    for (let round = 0; round < 5; round++) {
      const requests = Array.from({ length: 600 }, (_, index) =>
        requestOf({ text: `${index}` }, [ed25519Key(`d${index}.test`)]),
      );
      await expectSame(await composeAll(requests), requests);
    }
  });

  it('reports a message that cannot be made, and makes its neighbours', async () => {
    const wrong = { ...rsaKey, algorithm: 'ed25519-sha256' as const };
    const noSecret = { ...rsaKey, privateKey: createPublicKey(rsaKey.privateKey) };
    const asked = [
      composer.compose(requestOf({ text: 'a' })),
      composer.compose(requestOf({ text: 'b' }, [wrong])),
      composer.compose(requestOf({ text: 'c' }, [noSecret])),
      composer.compose(requestOf({ subject: 'two\nlines' })),
      composer.compose(requestOf({ text: 'd' })),
    ];
    const results = await Promise.allSettled(asked);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    await expect(asked[1]).rejects.toThrow('r1._domainkey.sandbox.test is not ed25519-sha256');
    await expect(asked[3]).rejects.toThrow('subject cannot be written into a header');
  });

  it('finishes messages under way when it is closed', async () => {
    const requests = Array.from({ length: 50 }, () => requestOf({ text: 'text' }));
    const asked = composeAll(requests);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await composer.close();
    await expectSame(await asked, requests);
  });
});
