// Tracked links after `retention.contentDays`, on both stores: they lead on until their message is
// deleted.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deleteOldMessages } from '../../../src/outbound/messages/forget/retention.ts';
import { linkKeeper } from '../../../src/outbound/tracking/kept-links.ts';
import {
  addressee,
  campaignMail,
  dispatched,
  startedRun,
} from '../../campaigns/content/fixtures.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { passingTime } from '../../support/virtual-clock.ts';
import { rowCounts } from '../messages/fixtures.ts';
import { page, type TrackingWorld, tracked, trackingWorld } from './fixtures.ts';

const dayMs = 86_400_000;

describe.each(stores)('tracked links on %s', (store) => {
  let world: TrackingWorld;
  beforeEach(async () => {
    world = await trackingWorld(store);
  });
  afterEach(() => world.close());

  /** Runs the retention two days later, in a process that began then. */
  async function retain(days: { contentDays?: number; messagesDays?: number }): Promise<number> {
    await world.clock.advance(2 * dayMs);
    const app = await world.another();
    Object.assign(app.config.retention, { contentDays: null, messagesDays: null }, days);
    const parts = { isPressing: () => false, isWorking: () => false, keeper: linkKeeper };
    const { signal } = new AbortController();
    return passingTime(world.clock, deleteOldMessages(app, parts, signal), 100);
  }

  const targetOf = async (link: string | undefined) =>
    (await world.ask(link ?? ''))?.headers['location'];
  const htmlLeft = async () =>
    (
      await sql<{ n: number }>`select count(*) as n from contents
        where html is not null or text is not null or attachments is not null`.execute(
        world.app.store.db,
      )
    ).rows[0]?.n;

  it('outlive the content that messages share, and end with the last message', async () => {
    const { app, caller } = world;
    const email = { html: page, text: 'Hello', tracking: tracked };
    await send(app, caller, ['ada@example.com', 'bob@example.com'], { email });
    await send(app, caller, 'carol@example.com', { email });
    const copies = await world.copies(3);
    expect(await retain({ contentDays: 1 })).toBe(2);
    expect(Number(await htmlLeft())).toBe(0);
    for (const { links } of copies) {
      expect(await targetOf(links[0])).toBe('https://shop.example/a?x=1&y=2');
      expect(await targetOf(links[1])).toBe('https://shop.example/b');
    }
    expect(await retain({ contentDays: 1 })).toBe(0);
    expect(await retain({ messagesDays: 1 })).toBe(2);
    expect(await targetOf(copies[0]?.links[0])).toBeUndefined();
    expect(await rowCounts(app)).toMatchObject({ messages: 0, contents: 0 });
    const left = await sql<object>`select * from content_links`.execute(app.store.db);
    expect(left.rows).toEqual([]);
  });

  it('outlive a content that is filled for each message', async () => {
    const { app, caller } = world;
    const contacts = await Promise.all(
      ['1', '2'].map((n) => addressee(app, caller, `ada${n}@example.com`, { customFields: { n } })),
    );
    const html = '<a href="https://shop.example/{{ contact.customFields.n }}">A</a>';
    const mail = campaignMail({ subject: 'Hi', html, tracking: tracked });
    await dispatched(app, caller, await startedRun(app, caller, mail), contacts);
    const copies = await world.copies(2);
    expect(await retain({ contentDays: 1 })).toBe(2);
    expect(Number(await htmlLeft())).toBe(0);
    const targets = await Promise.all(copies.map(({ links }) => targetOf(links[0])));
    expect(targets).toEqual(['https://shop.example/1', 'https://shop.example/2']);
    expect(await retain({ messagesDays: 1 })).toBe(2);
    expect(await targetOf(copies[0]?.links[0])).toBeUndefined();
  });

  it('leave no content where clicks are not tracked', async () => {
    const { app, caller } = world;
    await send(app, caller, 'ada@example.com', {
      email: { html: page, tracking: { opens: true, clicks: false } },
    });
    await world.copies(1);
    await retain({ contentDays: 1 });
    expect(await rowCounts(app)).toMatchObject({ messages: 1, contents: 0 });
  });
});
