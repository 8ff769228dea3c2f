// Opens and clicks from the send to the statistics (specification 2.16, 3), as a ledger: each line
// is an action with the status, the timeline and the cohorts after it.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { updateOrganization } from '../../../src/access/organizations/organizations.ts';
import { channelStats } from '../../../src/identity/reputation/stats.ts';
import { storageUrls } from '../../../src/outbound/messages/contents/storage-urls.ts';
import {
  deleteMessage,
  getMessage,
  listMessageEvents,
} from '../../../src/outbound/messages/messages.ts';
import { readStoredPart } from '../../../src/outbound/sending/stored-parts.ts';
import { late, lateBounce } from '../../identity/reputation/fixtures.ts';
import { stores } from '../../support/command.ts';
import { send, timeline } from '../../support/delivery.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import {
  ask,
  cohorts,
  engagement,
  page,
  person,
  publicUrl,
  type TrackingWorld,
  tracked,
  trackingWorld,
} from './fixtures.ts';

const minuteMs = 60_000;
const html = { html: page, tracking: tracked };

describe.each(stores)('tracking on %s', (store) => {
  let world: TrackingWorld;
  beforeEach(async () => {
    world = await trackingWorld(store);
  });
  afterEach(() => world.close());

  const statusOf = async (id: string) => (await getMessage(world.app, world.caller, id)).status;
  /** Returns the status, the cohorts, and the engagement in the timeline. */
  const standing = async (id: string) => [
    await statusOf(id),
    await cohorts(world.app, world.caller),
    ...(await engagement(world.app, world.caller, id)),
  ];
  const confirmed = async () => {
    await world.clock.advance(241 * minuteMs);
    await world.pipeline.idle();
  };

  it('keeps the time of delivery at an open', async () => {
    const { app, caller, clock, ask } = world;
    const { id } = await send(app, caller, 'ada@example.com', { email: html });
    const [copy] = await world.copies(1);
    await confirmed();
    const deliveryOf = async () => (await getMessage(app, caller, id)).deliveries[0];
    const { deliveredAt, terminalAt } = (await deliveryOf()) ?? {};
    await clock.advance(minuteMs);
    await ask(copy?.pixel ?? '');
    expect(await deliveryOf()).toMatchObject({ status: 'read', deliveredAt, terminalAt });
  });

  it('ignores repeated opens and machines in its ledger', async () => {
    const { app, caller, clock, ask } = world;
    const { id, tracking } = await send(app, caller, 'ada@example.com', { email: html });
    expect(tracking).toEqual(tracked);
    const [copy] = await world.copies(1);
    const { pixel = '', links: [a = '', b = ''] = [] } = copy ?? {};
    await confirmed();
    expect(await standing(id)).toEqual(['delivered', 'opened 0/1, clicked 0/1']);

    await ask(pixel, { headers: { 'user-agent': 'Mozilla/5.0' } });
    const scanned = ['opened:delivered*'];
    expect(await standing(id)).toEqual(['delivered', 'opened 0/1, clicked 0/1', ...scanned]);

    await ask(a, { method: 'HEAD' });
    const headed = [...scanned, 'clicked:delivered*'];
    expect(await standing(id)).toEqual(['delivered', 'opened 0/1, clicked 0/1', ...headed]);

    await ask(pixel);
    const opened = [...headed, 'opened:read'];
    expect(await standing(id)).toEqual(['read', 'opened 1/1, clicked 0/1', ...opened]);

    await Promise.all(Array.from({ length: 20 }, () => ask(pixel)));
    await clock.advance(29_000);
    await ask(pixel);
    expect(await standing(id)).toEqual(['read', 'opened 1/1, clicked 0/1', ...opened]);

    await clock.advance(2_000);
    await ask(pixel);
    const again = [...opened, 'opened:read'];
    expect(await standing(id)).toEqual(['read', 'opened 1/1, clicked 0/1', ...again]);

    await ask(a);
    await ask(a);
    const clicked = [...again, 'clicked:read'];
    expect(await standing(id)).toEqual(['read', 'opened 1/1, clicked 1/1', ...clicked]);

    await ask(b);
    const other = [...clicked, 'clicked:read'];
    expect(await standing(id)).toEqual(['read', 'opened 1/1, clicked 1/1', ...other]);

    expect(await late(app, id, lateBounce)).toBe(true);
    expect(await standing(id)).toEqual(['bounced', 'opened 0/0, clicked 0/0', ...other]);
    await clock.advance(31_000);
    await ask(pixel);
    expect(await standing(id)).toEqual([
      'bounced',
      'opened 0/0, clicked 0/0',
      ...[...other, 'opened:bounced'],
    ]);
  });

  it('records 100 events of engagement per delivery, and counts later ones', async () => {
    const { app, caller, clock, ask } = world;
    const { id } = await send(app, caller, 'ada@example.com', { email: html });
    const [copy] = await world.copies(1);
    const { pixel = '', links: [a = ''] = [] } = copy ?? {};
    await confirmed();
    for (let n = 0; n < 95; n += 1) {
      await ask(a, { method: 'HEAD' });
      await clock.advance(31_000);
    }
    expect(await engagement(app, caller, id)).toHaveLength(90);
    for (let n = 0; n < 15; n += 1) {
      await ask(pixel);
      await clock.advance(31_000);
    }
    const told = await engagement(app, caller, id);
    expect(told).toHaveLength(100);
    expect(told.filter((event) => event.endsWith('*'))).toHaveLength(90);
    const counts = sql`select opens, automated from engagements`;
    expect((await counts.execute(app.store.db)).rows).toEqual([{ opens: 15, automated: 95 }]);
  });

  it('gives each recipient own links, and the message is read once all have read it', async () => {
    const { app, caller, ask } = world;
    const to = ['ada@example.com', 'bob@example.com', 'eve@other.example'];
    const { id } = await send(app, caller, to, { email: html });
    const copies = await world.copies(3);
    expect(copies.map(({ recipients }) => recipients)).toEqual(to.map((one) => [one]));
    expect(new Set(copies.map(({ pixel }) => pixel)).size).toBe(3);
    await confirmed();
    expect(await cohorts(app, caller)).toBe('opened 0/1, clicked 0/1');
    await ask(copies[1]?.pixel ?? '');
    const message = await getMessage(app, caller, id);
    expect(message.recipients.map(({ status }) => status)).toEqual([
      'delivered',
      'read',
      'delivered',
    ]);
    expect(message.status).toBe('delivered');
    expect(await cohorts(app, caller)).toBe('opened 1/1, clicked 0/1');
    const [opened] = (await listMessageEvents(app, caller, id)).slice(-1);
    expect(opened).toMatchObject({
      eventType: 'opened',
      metadata: { recipient: 'bob@example.com', automated: false, userAgent: person },
    });
    await ask(copies[0]?.pixel ?? '');
    await ask(copies[2]?.pixel ?? '');
    expect(await statusOf(id)).toBe('read');
    expect(await cohorts(app, caller)).toBe('opened 1/1, clicked 0/1');
  });

  it('leaves a message unread while one of two recipients has not read it', async () => {
    const { app, caller, ask } = world;
    const to = ['ada@example.com', 'bob@example.com'];
    const { id } = await send(app, caller, to, { email: html });
    const [first, second] = await world.copies(2);
    await confirmed();
    await ask(first?.pixel ?? '');
    expect(await statusOf(id)).toBe('delivered');
    await ask(second?.pixel ?? '');
    expect(await statusOf(id)).toBe('read');
  });

  it('moves relayed mail from sent to read at an open, which proves the delivery', async () => {
    const { app, caller, ask } = world;
    const { id } = await send(app, caller, 'ada@example.com', { email: html });
    const [copy] = await world.copies(1);
    expect(await standing(id)).toEqual(['sent', 'opened 0/0, clicked 0/0']);
    await ask(copy?.pixel ?? '');
    expect(await standing(id)).toEqual(['read', 'opened 1/1, clicked 0/1', 'opened:read']);
    const [delivery] = (await getMessage(app, caller, id)).deliveries;
    expect(delivery?.readAt).not.toBeNull();
    expect(delivery?.deliveredAt).toBe(delivery?.readAt);
    expect((await channelStats(app, caller, {})).email.deliveryRate).toBe(1);
    await confirmed();
    expect(await standing(id)).toEqual(['read', 'opened 1/1, clicked 0/1', 'opened:read']);
  });

  it("takes a click soon after the proving open for a person's", async () => {
    const { app, caller, clock, ask } = world;
    const { id } = await send(app, caller, 'ada@example.com', { email: html });
    const [copy] = await world.copies(1);
    const { pixel = '', links: [a = ''] = [] } = copy ?? {};
    await clock.advance(10_000);
    await ask(pixel);
    await clock.advance(1_000);
    await ask(a);
    expect(await standing(id)).toEqual([
      'read',
      'opened 1/1, clicked 1/1',
      ...['opened:read', 'clicked:read'],
    ]);
  });

  it('derives an open from a click, except within two seconds of the delivery', async () => {
    const { app, caller, clock, ask } = world;
    const { id } = await send(app, caller, 'ada@example.com', { email: html });
    const [copy] = await world.copies(1);
    const [a = ''] = copy?.links ?? [];
    await clock.advance(1_900);
    expect((await ask(a))?.status).toBe(302);
    expect(await standing(id)).toEqual(['sent', 'opened 0/0, clicked 0/0', 'clicked:sent*']);
    await clock.advance(200);
    const answer = await ask(a);
    expect(answer).toMatchObject({
      status: 302,
      headers: { location: 'https://shop.example/a?x=1&y=2' },
    });
    expect(await standing(id)).toEqual([
      'read',
      'opened 1/1, clicked 1/1',
      ...['clicked:sent*', 'opened:read', 'clicked:read'],
    ]);
    const events = (await listMessageEvents(app, caller, id)).slice(-2);
    expect(events.map(({ metadata }) => metadata)).toMatchObject([
      { implied: true },
      { url: 'https://shop.example/a?x=1&y=2', link: 1, automated: false },
    ]);
  });

  it('counts only tracked mail in a cohort, and reads a message by a click alone', async () => {
    const { app, caller, clock, ask } = world;
    const clicks = await send(app, caller, 'a@example.com', {
      email: { html: page, tracking: { clicks: true } },
    });
    await send(app, caller, 'b@example.com', { email: { html: page, tracking: { opens: true } } });
    const none = await send(app, caller, 'c@example.com', { email: { html: page } });
    const text = await send(app, caller, 'd@example.com', { email: { tracking: tracked } });
    expect([none.tracking, text.tracking]).toEqual(Array(2).fill({ opens: false, clicks: false }));
    const [a, b, c] = await world.copies(4);
    expect([a?.pixel, a?.links.length, b?.links.length, c?.html.trim()]).toEqual(['', 2, 0, page]);
    await clock.advance(5_000);
    await ask(a?.links[0] ?? '');
    await confirmed();
    expect(await cohorts(app, caller)).toBe('opened 0/1, clicked 1/1');
    expect(await engagement(app, caller, clicks.id)).toEqual(['clicked:read']);
  });

  it("follows the organization's setting where a send has none", async () => {
    const { app, caller, clock } = world;
    const changed = await updateOrganization(app, caller.organizationId, { trackOpens: true });
    expect(changed.tracking).toEqual({ opens: true, clicks: false });
    await clock.advance(1_000);
    const plain = await send(app, caller, 'a@example.com', { email: { html: page } });
    const said = await send(app, caller, 'b@example.com', {
      email: { html: page, tracking: { opens: false, clicks: true } },
    });
    expect([plain.tracking, said.tracking]).toEqual([
      { opens: true, clicks: false },
      { opens: false, clicks: true },
    ]);
  });

  it('reuses found links for a retry and for another message with the content', async () => {
    const { app, caller, clock, sink } = world;
    sink.on({ verb: 'RCPT', times: 1 }, '451 4.7.1 later');
    await send(app, caller, 'a@example.com', { email: html });
    await world.pipeline.idle();
    await send(app, caller, 'b@example.com', { email: html });
    await clock.advance(2 * minuteMs);
    const [first, second] = await world.copies(2);
    expect([first?.links.length, second?.links.length]).toEqual([2, 2]);
    const plain = (text = '') => text.replace(/\/t\/[oc]\/[^"]+/g, '');
    expect(plain(first?.html)).toBe(plain(second?.html));
  });

  it('shows the original links in the downloaded HTML', async () => {
    const { app, caller } = world;
    const { id } = await send(app, caller, 'a@example.com', { email: html });
    const urls = storageUrls(app, id, {}, { html: '', text: null });
    const { body } = await readStoredPart(app, (urls.html ?? '').split('/').at(-1) ?? '');
    expect(body.toString()).toContain('shop.example/b');
    expect(body.toString()).not.toContain(publicUrl);
  });

  it('ends links and pixel with the deletion of the message', async () => {
    const { app, caller, ask } = world;
    const { id } = await send(app, caller, 'a@example.com', { email: html });
    const [copy] = await world.copies(1);
    await ask(copy?.pixel ?? '');
    await deleteMessage(app, caller, id);
    expect((await ask(copy?.links[0] ?? ''))?.status).toBe(404);
    expect((await ask(copy?.pixel ?? ''))?.status).toBe(404);
    expect(await cohorts(app, caller)).toBe('opened 1/1, clicked 0/1');
  });

  it('counts opens by the simulator', async () => {
    const { app, caller } = world;
    const { id } = await send(app, caller, 'opened@simulator.test', { email: html });
    await send(app, caller, 'opened@simulator.test');
    await world.pipeline.idle();
    expect(await cohorts(app, caller)).toBe('opened 1/1, clicked 0/1');
    expect((await timeline(app, caller, id)).at(-1)).toBe('opened:read');
  });

  it('reads concurrent requests together', async () => {
    const { app, caller } = world;
    const to = Array.from({ length: 20 }, (_, index) => `r${index}@example.com`);
    await send(app, caller, to, { email: html });
    const asked = (await world.copies(20)).flatMap(({ pixel, links }) => [pixel, ...links]);
    expect(asked).toHaveLength(60);
    const watched = watchQueries();
    const answers = await Promise.all(asked.map((path) => world.ask(path)));
    const ofIds = /^select "id".* from "deliveries" where "id" (in|= any)/;
    const reads = watched.take().filter(({ text }) => ofIds.test(text));
    watched.stop();
    expect(answers.map((answer) => answer?.status).sort()).toEqual([
      ...asked.slice(0, 20).map(() => 200),
      ...asked.slice(20).map(() => 302),
    ]);
    // One read finds the targets, a few in the transactions count them.
    expect(reads.reduce((sum, { times }) => sum + times, 0)).toBeLessThan(20);
  });

  it('counts an open once when two daemons receive it', async () => {
    const { app, caller, another } = world;
    await send(app, caller, 'a@example.com', { email: html });
    const [copy] = await world.copies(1);
    const other = await another();
    const path = copy?.pixel ?? '';
    await Promise.all(Array.from({ length: 10 }, (_, index) => ask(index % 2 ? app : other, path)));
    expect(await cohorts(app, caller)).toBe('opened 1/1, clicked 0/1');
  });
});
