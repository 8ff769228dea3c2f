// Clicks of strangers on links that are filled: they cost one fill, and never the clicks of others.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addressee,
  campaignMail,
  dispatched,
  startedRun,
} from '../../campaigns/content/fixtures.ts';
import { send } from '../../support/delivery.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { page, type TrackingWorld, tracked, trackingWorld } from './fixtures.ts';

describe('links of filled content', () => {
  let world: TrackingWorld;
  beforeEach(async () => {
    world = await trackingWorld();
  });
  afterEach(() => world.close());

  /** Sends filled content to one contact and returns the path of its link. */
  async function filledLink(html: string): Promise<string> {
    const { app, caller } = world;
    const to = await addressee(app, caller, 'ada@example.com', { customFields: { n: '1' } });
    const email = { subject: 'Hi', html, tracking: tracked };
    await dispatched(app, caller, await startedRun(app, caller, campaignMail(email)), [to]);
    const [copy] = await world.copies(1);
    return copy?.links[0] ?? '';
  }

  it('are filled once for 300 clicks', async () => {
    const link = await filledLink(
      '<a href="https://shop.example/{{ contact.customFields.n }}">A</a>',
    );
    const queries = watchQueries();
    try {
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(Array.from({ length: 100 }, () => world.ask(link)));
        expect(new Set(answers.map((one) => one?.headers['location']))).toEqual(
          new Set(['https://shop.example/1']),
        );
      }
      const reads = queries.take().filter(({ text }) => text.includes('message_values'));
      expect(reads.map(({ times }) => times)).toEqual([1]);
    } finally {
      queries.stop();
    }
  });

  it('that take too long to fill leave the clicks of others alone', async () => {
    const { app, caller } = world;
    const slow = await filledLink(
      `{% for a in (1..contact.customFields.n) %}{% for b in (1..contact.customFields.n) %}{% endfor
        %}{% endfor %}<a href="https://shop.example/">A</a>`,
    );
    const values = JSON.stringify({ contact: { customFields: { n: '100000' } } });
    await app.store.write((trx) =>
      sql`update message_values set merge_data = ${values}`.execute(trx),
    );
    await send(app, caller, 'bob@example.com', { email: { html: page, tracking: tracked } });
    const copy = (await world.copies(2)).find(({ recipients }) => `${recipients}`.includes('bob'));
    const [, other] = await Promise.allSettled([world.ask(slow), world.ask(copy?.links[0] ?? '')]);
    expect(other).toMatchObject({ status: 'fulfilled', value: { status: 302 } });
  });
});
