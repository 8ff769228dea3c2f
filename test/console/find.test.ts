// "Find anything": one search over people, mail, campaigns and templates, beside pages and actions,
// of which a session finds only those that it may open. Answers are compressed.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, consoleWorld, type World } from './world.ts';

let world: World;
let operator: Browser;
let messageId = '';

beforeAll(async () => {
  world = await consoleWorld();
  operator = await world.operator();
  await world.api('POST', '/v1/contacts', { email: 'ada@example.com', name: 'Ada Lovelace' });
  await world.api('POST', '/v1/email/blocks', { address: 'ada@example.com' });
  ({ id: messageId } = await world.api('POST', '/v1/messages', {
    channel: 'email',
    to: [{ email: 'delivered@simulator.test' }],
    email: { subject: 'Your order HB-1', text: 'x' },
  }));
});
afterAll(() => world.close());

const find = async (q: string, browser = operator) =>
  (await browser.get(`/console/find?${new URLSearchParams({ q })}`)).body;
const linksIn = (body: string) => {
  const [hits = ''] = /<div class="hits">.*?<\/section>/s.exec(body) ?? [];
  return [...hits.matchAll(/href="\/console([^"]*)"/g)].map(([, path]) => path);
};

describe('find anything', () => {
  it('finds people, mail by its id, pages and actions', async () => {
    expect(linksIn(await find('Ada'))).toContainEqual(
      expect.stringMatching(/^\/contacts\/contact_/),
    );
    expect(linksIn(await find(messageId))).toEqual([`/messages/${messageId}`]);
    expect(linksIn(await find('webhooks'))).toEqual(['/webhooks']);
    expect(linksIn(await find('write a camp'))).toContain('/campaigns');
  });

  it('answers in place why an address gets no mail', async () => {
    expect(await find('ada@example.com')).toContain('ada@example.com gets no mail:');
  });

  it('says where it looked when nothing fits', async () => {
    expect(await find('zzzz')).toContain('Nothing fits “zzzz”.');
  });

  it('shows a key only pages that it may open', async () => {
    const { key } = await world.keyWith('domains:read');
    const browser = await world.signIn(key);
    const links = linksIn(await find('', browser));
    expect(links).toContain('/domains');
    expect(links).not.toContain('/contacts');
    expect(linksIn(await find('ada', browser))).toEqual([]);
  });

  it('answers the script with the results alone', async () => {
    const { body } = await operator.get('/console/find/hits?q=webhooks');
    expect(body).toMatch(/^<!doctype html>\n<div class="hits">/);
  });
});

it.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const)('a page is compressed by %s', async (coding, open) => {
  const { cookie } = operator;
  const answer = await world.http.inject({
    method: 'GET',
    url: '/console/messages',
    headers: { cookie, 'accept-encoding': coding },
  });
  expect(answer.headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' });
  expect(open(answer.rawPayload).toString('utf8')).toContain('<title>');
  expect(answer.rawPayload.length).toBeLessThan(8_000);
});
