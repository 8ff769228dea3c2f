// The live stream of an open page: ticks without data, two a second at most, to sessions that may
// read the change.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Permission } from '../../src/core/api/permission.ts';
import { stores } from '../support/command.ts';
import { send } from '../support/delivery.ts';
import { consoleWorld, type World } from './world.ts';

interface Live {
  status: number;
  /** The text so far. */
  text(): string;
  ticks(): number;
  ended: Promise<void>;
}

describe.each(stores)('a live stream on %s', (store) => {
  let world: World;
  let url: string;
  beforeEach(async () => {
    world = await consoleWorld(store);
    ({ url } = await world.http.listen());
  });
  afterEach(async () => {
    await world.close();
  });

  async function open(cookie: string, query = ''): Promise<Live> {
    const answer = await fetch(`${url}/console/live${query}`, {
      headers: { cookie },
    });
    let text = '';
    const ended = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of answer.body ?? []) text += decoder.decode(chunk as Uint8Array);
    })();
    ended.catch(() => {});
    return {
      status: answer.status,
      text: () => text,
      ticks: () => text.split('event: change').length - 1,
      ended,
    };
  }

  const change = () => send(world.test.app, world.test.caller, 'delivered@simulator.test');
  const ticksOf = async (live: Live) => {
    await world.test.clock.advance(600);
    return live.ticks();
  };

  it('tells of a change without saying which', async () => {
    const { cookie } = await world.signIn(world.test.apiKey);
    const live = await open(cookie);
    await change();
    await expect.poll(() => ticksOf(live)).toBeGreaterThan(0);
    expect(live.text().replaceAll(/retry: 2000|event: change|data:|:|\s/g, '')).toBe('');
  });

  it('tells a page about one message of that one only', async () => {
    const { cookie } = await world.signIn(world.test.apiKey);
    const { id } = await change();
    await world.test.clock.advance(5_000);
    const [of, other] = [await open(cookie, `?about=${id}`), await open(cookie, '?about=msg_x')];
    await world.api('POST', `/v1/messages/${id}/cancel`);
    await expect.poll(() => ticksOf(of)).toBeGreaterThan(0);
    expect(other.ticks()).toBe(0);
  });

  it('tells at once of a change since the page was drawn, also to a stream that was lost', async () => {
    const { cookie } = await world.signIn(world.test.apiKey);
    const drawn = world.test.clock.now();
    await change();
    await world.test.clock.advance(60_000);
    const [early, late] = [
      await open(cookie, `?since=${drawn}`),
      await open(cookie, `?since=${drawn + 30_000}`),
    ];
    await expect.poll(() => early.ticks()).toBe(1);
    await world.test.clock.advance(1_000);
    expect(late.ticks()).toBe(0);
  });

  it('tells of many changes at most twice a second', async () => {
    const { cookie } = await world.signIn(world.test.apiKey);
    const live = await open(cookie);
    await change();
    await expect.poll(() => ticksOf(live)).toBeGreaterThan(0);
    const before = live.ticks();
    for (let sent = 0; sent < 30; sent++) await change();
    for (let passed = 0; passed < 20; passed++) await world.test.clock.advance(100);
    expect(live.ticks() - before).toBeLessThanOrEqual(5);
  });

  it('tells twenty pages together at most four times a second', async () => {
    const { cookie } = await world.signIn(world.test.apiKey);
    const pages: Live[] = [];
    for (let page = 0; page < 20; page++) pages.push(await open(cookie));
    const ticks = () => pages.reduce((sum, live) => sum + live.ticks(), 0);
    await change();
    await expect
      .poll(async () => {
        await world.test.clock.advance(600);
        return pages.every((live) => live.ticks() > 0);
      })
      .toBe(true);
    const before = ticks();
    for (let passed = 0; passed < 100; passed++) {
      if (passed % 5 === 0) await change();
      await world.test.clock.advance(100);
    }
    const seconds = 10;
    expect(ticks() - before).toBeGreaterThan(0);
    expect(ticks() - before).toBeLessThanOrEqual(4 * seconds + pages.length);
  });

  it('tells a session only of what its key may read', async () => {
    const keyFor = async (permission: Permission) => (await world.keyWith(permission)).key;
    const reads = await open((await world.signIn(await keyFor('messages:read'))).cookie);
    const other = await open((await world.signIn(await keyFor('domains:read'))).cookie);
    await change();
    await expect.poll(() => ticksOf(reads)).toBeGreaterThan(0);
    expect(other.ticks()).toBe(0);
  });

  it('ends when the session ends, and does not begin without one', async () => {
    expect((await open('')).status).toBe(401);
    const browser = await world.signIn(world.test.apiKey);
    const live = await open(browser.cookie);
    expect(live.status).toBe(200);
    await browser.post('/console/sign-out', {});
    await world.test.clock.advance(1_000);
    await live.ended;
  });

  it('ends with the server', async () => {
    const { cookie } = await world.signIn(world.test.apiKey);
    const live = await open(cookie);
    await world.http.close(0);
    await expect(live.ended).resolves.toBeUndefined();
  });
});
