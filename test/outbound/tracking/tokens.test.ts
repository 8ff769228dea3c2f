// A foreign token answers 404: forged, cut, used elsewhere, of another installation or
// organization. It neither counts nor redirects.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { readToken, tokensOf } from '../../../src/outbound/tracking/tokens.ts';
import { send } from '../../support/delivery.ts';
import { testApp } from '../../support/test-app.ts';
import { engagement, page, type TrackingWorld, tracked, trackingWorld } from './fixtures.ts';

let world: TrackingWorld;
let id = '';
let pixel = '';
let link = '';

beforeEach(async () => {
  world = await trackingWorld();
  const email = { html: page, tracking: tracked };
  ({ id } = await send(world.app, world.caller, 'ada@example.com', { email }));
  const [copy] = await world.copies(1);
  pixel = copy?.pixel ?? '';
  link = copy?.links[0] ?? '';
  await world.clock.advance(10_000);
});
afterEach(() => world.close());

const changed = (path: string, at: number) => {
  const other = path[at] === '0' ? '1' : '0';
  return path.slice(0, at) + other + path.slice(at + 1);
};
const expectUnknown = async (path: string, more = {}) => {
  const answer = await world.ask(path, more);
  expect([path, answer?.status, answer?.headers['location']]).toEqual([path, 404, undefined]);
};
const expectNothingCounted = async () =>
  expect(await engagement(world.app, world.caller, id)).toEqual([]);

it('a token is signed in every character', async () => {
  for (const path of [pixel, link]) {
    for (let at = '/t/o/'.length; at < path.length; at++) await expectUnknown(changed(path, at));
  }
  await expectNothingCounted();
});

it('a cut or extended token is unknown', async () => {
  for (let end = '/t/c/'.length; end < link.length; end++) await expectUnknown(link.slice(0, end));
  for (const more of ['0', '/', '/0', '%00', '-', `${'x'.repeat(8_000)}`])
    await expectUnknown(link + more);
  await expectNothingCounted();
});

it('a token of a pixel is invalid for a link, and the reverse', async () => {
  await expectUnknown(pixel.replace('/o/', '/c/'));
  await expectUnknown(link.replace('/c/', '/o/'));
  for (const path of ['/t/', '/t/o', '/t/o/', '/t/x/y', '/t/c/../o/x', `/t/c/${'é'}`])
    await expectUnknown(path);
  await expectNothingCounted();
});

it('a valid tag for a link outside the content is unknown', async () => {
  const [delivery] = (await send(world.app, world.caller, 'b@example.com')).deliveries;
  const { deliveryId } = readToken(world.app, link.slice('/t/c/'.length)) ?? { deliveryId: '' };
  await expectUnknown(`/t/c/${tokensOf(world.app, deliveryId)(3)}`);
  await expectUnknown(`/t/c/${tokensOf(world.app, delivery?.id ?? '')(1)}`);
  await expectUnknown(`/t/o/${tokensOf(world.app, 'dlv_000000000000000000000000')(0)}`);
  await expectNothingCounted();
});

it('a tag fits one link of its delivery only', async () => {
  const token = link.slice('/t/c/'.length);
  const own = readToken(world.app, token)?.link;
  expect(own).toBe(1);
  for (let other = 0; other < 20; other++) {
    const moved = token.replace('_1-', `_${other}-`);
    expect(readToken(world.app, moved)?.link ?? null, moved).toBe(other === own ? own : null);
  }
  await expectUnknown(link.replace('_1-', '_2-'));
  await expectNothingCounted();
});

it('methods other than GET and HEAD are refused', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) await expectUnknown(link, { method });
  await expectNothingCounted();
});

it('a token of another organization is unknown at a custom host', async () => {
  const other = await createOrganization(world.app, { name: 'other', plan: 'free' });
  await expectUnknown(link, { organizationId: other.id });
  await expectUnknown(pixel, { organizationId: other.id });
  await expectNothingCounted();
  const own = await world.ask(link, { organizationId: world.caller.organizationId });
  expect(own?.status).toBe(302);
});

it('a token of another installation is unknown', async () => {
  const elsewhere = await testApp({ seed: 7 });
  const { deliveryId } = readToken(world.app, link.slice('/t/c/'.length)) ?? { deliveryId: '' };
  await expectUnknown(`/t/c/${tokensOf(elsewhere.app, deliveryId)(1)}`);
  await elsewhere.close();
  await expectNothingCounted();
});

it('a repeated token still redirects and changes nothing', async () => {
  for (let i = 0; i < 5; i++) expect((await world.ask(link))?.status).toBe(302);
  expect(await engagement(world.app, world.caller, id)).toEqual(['opened:read', 'clicked:read']);
});

it('a token in upper case or with a query still works', async () => {
  const [, , kind, token = ''] = link.split('/');
  expect((await world.ask(`/t/${kind}/${token.toUpperCase()}?utm_source=x`))?.status).toBe(302);
});

describe('tags', () => {
  it('of one delivery differ by link, and of one link by delivery', () => {
    const first = tokensOf(world.app, 'dlv_000000000000000000000000');
    const second = tokensOf(world.app, 'dlv_000000000000000000000001');
    const tags = Array.from({ length: 1_001 }, (_, at) => [first(at), second(at)]).flat();
    expect(new Set(tags.map((token) => token.split('-')[1])).size).toBe(2_002);
    for (const at of [0, 1, 5, 6, 7, 1_000]) {
      expect(readToken(world.app, first(at))).toEqual({
        deliveryId: 'dlv_000000000000000000000000',
        link: at,
      });
    }
  });
});
