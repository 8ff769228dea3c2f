// The log of mail: a line for the end of each attempt; none with `log.mail: false`.
import { afterEach, describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../../src/core/config/config.ts';
import { LineLimit } from '../../../src/platform/runtime/mail-log.ts';
import { send, startPipeline } from '../../support/delivery.ts';
import { type TestApp, testApp, testStart } from '../../support/test-app.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

let test: TestApp | undefined;
afterEach(() => test?.close());

async function logged(config: ConfigInput, to: readonly string[]) {
  const lines: Record<string, unknown>[] = [];
  const log = { write: (line: string) => void lines.push(JSON.parse(line)) };
  test = await testApp({ config, log });
  const { id } = await send(test.app, test.caller, to);
  const pipeline = await startPipeline(test.app);
  await pipeline.idle();
  await pipeline.close();
  return { id, lines: lines.filter(({ msg }) => msg === 'attempt') };
}

describe('the log of a finished attempt', () => {
  it('has one line for each recipient, with target, reply and duration', async () => {
    const to = ['delivered@simulator.test', 'bounced@simulator.test', 'ada@example.com'];
    const { id, lines } = await logged({}, to);
    const line = { level: 'info', time: expect.any(String), msg: 'attempt', messageId: id };
    const took = { attempt: 1, durationMs: 0, queueMs: 0 };
    const byRecipient = lines.sort((a, b) => (String(a.recipient) < String(b.recipient) ? -1 : 1));
    expect(byRecipient).toEqual([
      {
        ...line,
        ...took,
        recipient: 'ada@example.com',
        outcome: 'sent',
        route: 'capture',
        host: null,
        code: 250,
        enhancedCode: '2.0.0',
      },
      {
        ...line,
        ...took,
        recipient: 'bounced@simulator.test',
        outcome: 'bounced',
        route: 'simulator',
        host: 'simulator.test',
        code: 550,
        enhancedCode: '5.1.1',
        errorCode: 'invalid-recipient',
        reply: 'simulated: user unknown',
      },
      {
        ...line,
        ...took,
        recipient: 'delivered@simulator.test',
        outcome: 'sent',
        route: 'simulator',
        host: 'simulator.test',
        code: 250,
        enhancedCode: '2.0.0',
      },
    ]);
  });

  it('is empty where log.mail is false', async () => {
    const { lines } = await logged({ log: { mail: false } }, ['delivered@simulator.test']);
    expect(lines).toEqual([]);
  });
});

describe('log lines caused by strangers', () => {
  it('are limited per second, and the next one counts the omitted ones', async () => {
    const clock = virtualClock(testStart);
    const limit = new LineLimit(clock, 2);
    const admitted = () => [limit.admit(), limit.admit(), limit.admit(), limit.admit()];
    expect(admitted()).toEqual([{}, {}, null, null]);
    await clock.advance(999);
    expect(limit.admit()).toBeNull();
    await clock.advance(1);
    expect(admitted()).toEqual([{ leftOut: 3 }, {}, null, null]);
  });
});
