// A completed run with queued mail: every contact was judged, and a person sees a mistake.
import { describe, expect, it } from 'vitest';
import { cancelRun, pauseRun, resumeRun } from '../../../src/campaigns/setup/runs.ts';
import { listMessages } from '../../../src/outbound/messages/messages.ts';
import { bothStores } from '../../support/command.ts';
import { startPipeline } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';
import { makeCampaign, makeContacts, makeRun, readRun, whileWalking } from './fixtures.ts';

describe.each(bothStores)('a completed run with queued mail, on %s', (store) => {
  const test = eachApp({ store });

  async function completed() {
    await makeContacts(test.app, test.operator, 12);
    const run = await makeRun(test.app, test.operator, await makeCampaign(test.app, test.operator));
    await whileWalking(test.app, (loop) => loop.idle());
    expect(await readRun(test.app, test.operator, run)).toMatchObject({
      status: 'completed',
      dispatchedCount: 12,
    });
    return { run, place: { campaignId: run.campaignId, runId: run.id } };
  }

  /** Delivers all that may leave, and lists the statuses of the messages. */
  async function statuses(): Promise<string[]> {
    const pipeline = await startPipeline(test.app);
    await pipeline.idle();
    await pipeline.close();
    const { items } = await listMessages(test.app, test.operator, { page: 1, limit: 100 });
    return [...new Set(items.map(({ status }) => status))];
  }

  it('keeps its mail back while paused, and sends it after the resume', async () => {
    const { run, place } = await completed();
    const { completedAt } = await readRun(test.app, test.operator, run);
    const paused = await pauseRun(test.app, test.operator, place, { note: 'Wrong subject' });
    expect(paused).toMatchObject({ status: 'paused', completedAt, dispatchedCount: 12 });
    expect(await statuses()).toEqual(['pending']);
    const resumed = await resumeRun(test.app, test.operator, place, {});
    expect(resumed).toMatchObject({ status: 'completed', completedAt });
    expect(await statuses()).toEqual(['delivered']);
    await expect(pauseRun(test.app, test.operator, place, {})).rejects.toThrow(
      'it has ended and can be retried',
    );
  });

  it('cancels its mail and keeps its counts', async () => {
    const { place } = await completed();
    const cancelled = await cancelRun(test.app, test.operator, place, {});
    expect(cancelled).toMatchObject({ status: 'cancelled', dispatchedCount: 12 });
    expect(await statuses()).toEqual(['failed']);
    await expect(resumeRun(test.app, test.operator, place, {})).rejects.toThrow('cancelled');
  });
});
