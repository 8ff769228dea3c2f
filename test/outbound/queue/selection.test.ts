// Parts of the queue that a person drops or retries at once.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { holdQueue } from '../../../src/outbound/queue/desk/holds.ts';
import { flushQueue, listQueue } from '../../../src/outbound/queue/desk/queue.ts';
import { countSelected, dropSelected } from '../../../src/outbound/queue/desk/selection.ts';
import { bothStores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { claim, query, queued, waiting } from './entries.ts';

const hourMs = 3_600_000;

describe.each(bothStores)('a selection of the queue on %s', (store) => {
  let service: TestApp;
  beforeEach(async () => {
    service = await testApp({ store });
  });
  afterEach(() => service.close());

  const left = async () =>
    (await listQueue(service.app, query())).items.map(({ recipient }) => recipient);

  it('is dropped with its ready, waiting and held deliveries', async () => {
    const { app, caller, clock } = service;
    await queued(app, caller, 'ready@a.example');
    await waiting(app, caller, 'waiting@a.example', clock.now() + hourMs);
    await holdQueue(app, { id: (await queued(app, caller, 'held@a.example')).id }, null);
    await queued(app, caller, 'other@b.example');
    expect(await countSelected(app, { domain: 'a.example' }, 'drop')).toBe(3);
    expect(await dropSelected(app, { domain: 'a.example' })).toEqual({ dropped: 3 });
    expect(await left()).toEqual(['other@b.example']);
  });

  it('is dropped without attempts under way', async () => {
    const { app, caller } = service;
    await queued(app, caller, 'claimed@a.example');
    await claim(app, 1);
    await queued(app, caller, 'ready@a.example');
    expect(await dropSelected(app, {})).toEqual({ dropped: 1 });
    expect(await left()).toEqual(['claimed@a.example']);
  });

  it('ends dropped recipients of a message, and no others', async () => {
    const { app, caller } = service;
    const { id } = await send(app, caller, ['x@a.example', 'y@b.example']);
    await dropSelected(app, { domain: 'a.example' });
    const { deliveries } = await getMessage(app, caller, id);
    expect(deliveries.map(({ status, errorCode }) => [status, errorCode])).toEqual([
      ['failed', 'cancelled'],
      ['pending', null],
    ]);
  });

  it('is limited to deliveries queued before a time', async () => {
    const { app, caller, clock } = service;
    await waiting(app, caller, 'old@a.example', clock.now() + 9 * hourMs);
    await clock.advance(hourMs);
    await waiting(app, caller, 'new@a.example', clock.now() + 9 * hourMs);
    const selection = { queuedBefore: clock.now() };
    expect(await countSelected(app, selection, 'retry')).toBe(1);
    expect(await flushQueue(app, selection)).toEqual({ flushed: 1 });
    expect(await claim(app)).toEqual(['old@a.example']);
  });
});
