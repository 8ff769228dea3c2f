// The receiving of DATA: large messages of many clients at once leave the event loop its turns.
import { Readable } from 'node:stream';
import type { SMTPServerDataStream } from 'smtp-server';
import { describe, expect, it } from 'vitest';
import { collectData } from '../../daemon/smtp/data.ts';
import { MailCollector } from '../../daemon/smtp/mail-collector.ts';
import type { Session, Sessions } from '../../daemon/smtp/sessions.ts';
import { SharedPool } from '../../src/platform/runtime/fairness/shared-pool.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { longestStallMs } from '../support/work-time.ts';

const clients = 20;
const chunksEach = 200;
const chunk = Buffer.from(`${'x'.repeat(998)}\r\n`.repeat(65));
const messageBytes = chunksEach * chunk.length;

/** A message whose bytes are all there at once, as those of a fast client. */
function wholeStream(): SMTPServerDataStream {
  let left = chunksEach;
  return new Readable({
    read() {
      left -= 1;
      this.push(left >= 0 ? chunk : null);
    },
  }) as SMTPServerDataStream;
}

describe('messages of 13 MB from 20 clients at once', () => {
  it('leave the event loop its turns', async () => {
    const memory = new SharedPool(10 * clients * messageBytes);
    const clock = virtualClock(0);
    const sessions = {
      answer: (_: Session, answer: () => void) => answer(),
    } as unknown as Sessions;
    const received = Array.from({ length: clients }, async (_, n) => {
      const holder = `192.0.${n}.0/24`;
      const collector = new MailCollector({ clock, memory, holder, maxBytes: 2 * messageBytes });
      const bytes = Promise.withResolvers<number>();
      const take = async (raw: Buffer) => {
        bytes.resolve(raw.length);
        return { refusal: null, text: 'OK' };
      };
      collectData(sessions, {} as Session, wholeStream(), collector, take, () => {});
      return bytes.promise;
    });
    const all = Promise.all(received);
    const stalled = await longestStallMs(all);
    expect(await all).toEqual(Array.from({ length: clients }, () => messageBytes));
    expect(stalled).toBeLessThan(150);
  });
});
