// Requests to fetch that name as many commits as a body holds.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pktLine } from '../../../src/content/git/pkt-line.ts';
import { findHead } from '../../../src/content/git/repository.ts';
import { answerFetch, readFetch } from '../../../src/content/git/smart-http.ts';
import { eachApi } from '../../support/each-app.ts';
import { longestStallMs } from '../../support/work-time.ts';
import { makeTemplate } from '../templates/workspace/fixtures.ts';

const randomOid = () => randomBytes(20).toString('hex');

describe('a request to fetch', () => {
  const { test } = eachApi({ store: 'sqlite' });

  it('holds the event loop for less than 100 ms with 19,000 commits of the client', async () => {
    const { db } = test.app.store;
    const id = await makeTemplate(test.app, test.caller);
    const head = await findHead(db, id);
    if (!head) throw new Error('the template has a head');
    const haves = Array.from({ length: 19_000 }, () => randomOid());
    const fetch = { wants: [head.oid], haves, isDone: true, isBanded: false };
    const parts: Buffer[] = [];
    const answer = async () => {
      for await (const part of answerFetch(db, id, head, fetch)) parts.push(part);
    };
    expect(await longestStallMs(answer())).toBeLessThan(100);
    expect(Buffer.concat(parts).toString('latin1', 0, 12)).toBe('0008NAK\nPACK');
  });

  it('for more than 1,000 commits is refused', () => {
    const wants = Array.from({ length: 1_001 }, () => pktLine(`want ${randomOid()}\n`));
    expect(() => readFetch(Buffer.concat(wants))).toThrow('more than 1000 lines');
  });
});
