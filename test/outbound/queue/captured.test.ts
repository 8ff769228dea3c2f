// Captured mail counts as delivered; every view says that nothing left this machine, and names the
// key of the configuration that captured it.
import { afterEach, describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../../src/core/config/config.ts';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import { shownStatusOfAll } from '../../../src/outbound/messages/captured.ts';
import { getMessage, listMessageEvents } from '../../../src/outbound/messages/messages.ts';
import { stores, type TestStore } from '../../support/command.ts';
import { send, startPipeline } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let test: TestApp | undefined;
afterEach(() => test?.close());

async function sent(store: TestStore, delivery: ConfigInput['delivery'], to: string) {
  test = await testApp({ store, config: { delivery } });
  const { app, caller } = test;
  const { id } = await send(app, caller, to);
  const pipeline = await startPipeline(app);
  await pipeline.idle();
  await pipeline.close();
  const message = await getMessage(app, caller, id);
  const { recipients, summary } = await explainMessage(app, caller, id);
  const [explained] = recipients;
  const events = await listMessageEvents(app, caller, id);
  return { message, explained, summary, events };
}

const relay = { mode: 'relay', relay: { host: '127.0.0.1', port: 1 } } as const;

describe.each(stores)('captured mail on %s', (store) => {
  it.each([
    [
      'by the mode',
      {},
      'delivery.mode',
      'captured: delivery.mode keeps this mail on the machine',
      'It counts as delivered, but nothing left this machine: delivery.mode is capture.',
    ],
    [
      'by the list of allowed recipients',
      { ...relay, allow: ['example.org'] },
      'delivery.allow',
      'captured: delivery.allow does not name this recipient',
      'It counts as delivered, but nothing left this machine: delivery.allow does not name ada@example.com.',
    ],
    [
      'by a route',
      {
        ...relay,
        routes: [
          { match: 'example.org', via: 'direct' },
          { match: 'example.com', via: 'capture' },
        ],
      },
      'delivery.routes.1',
      'captured: delivery.routes.1 keeps mail to this domain on the machine',
      'It counts as delivered, but nothing left this machine: delivery.routes.1 captures mail to example.com.',
    ],
  ] as const)(
    'names the key of the configuration that captured it %s',
    async (_by, config, by, reply, happened) => {
      const { message, explained, summary, events } = await sent(
        store,
        structuredClone(config) as ConfigInput['delivery'],
        'ada@example.com',
      );
      expect(message.status).toBe('delivered');
      expect(message.deliveries).toMatchObject([
        {
          status: 'delivered',
          errorDetails: null,
          metadata: { captured: { by } },
          attempts: [{ outcome: 'sent', host: null, capturedBy: by, reply }],
        },
      ]);
      expect(explained?.happened).toBe(happened);
      expect(explained?.status).toBe('delivered');
      expect(summary).toBe('1 recipient: 1 captured.');
      expect(shownStatusOfAll(message.status, message.deliveries)).toBe('captured');
      const told = events.filter(({ eventType }) => ['sent', 'delivered'].includes(eventType));
      expect(told.map(({ metadata }) => metadata.captured)).toEqual([{ by }, { by }]);
    },
  );

  it('excludes mail to a simulated recipient', async () => {
    const { message, summary, events } = await sent(store, {}, 'delivered@simulator.test');
    expect(summary).toBe('1 recipient: 1 delivered.');
    expect(shownStatusOfAll(message.status, message.deliveries)).toBe('delivered');
    expect(message.deliveries).toMatchObject([{ status: 'delivered', metadata: null }]);
    expect(events.some(({ metadata }) => 'captured' in metadata)).toBe(false);
  });
});
