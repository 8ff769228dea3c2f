// The address of a visitor behind proxies: the last foreign address of X-Forwarded-For, and only
// from a peer of http.trustedProxies. Every reader of addresses in HTTP uses it.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { visitorOf } from '../../daemon/http/visitor.ts';
import type { App } from '../../src/core/app.ts';
import { goodEcho, httpService } from './http-service.ts';

const proxies = ['127.0.0.1', '10.1.0.0/16', '2001:db8:1::/48'];

const cases: [string, string | undefined, string | undefined, string, string[]?][] = [
  ['no proxy is trusted', '127.0.0.1', '203.0.113.9', '127.0.0.1', []],
  ['a stranger writes the header', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
  ['a proxy writes it', '127.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['a proxy in a mapped form', '::ffff:127.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['the visitor wrote an address first', '127.0.0.1', '1.2.3.4, 203.0.113.9', '203.0.113.9'],
  ['two proxies', '127.0.0.1', '1.2.3.4,203.0.113.9, 10.1.2.3', '203.0.113.9'],
  ['a visitor of IPv6', '2001:db8:1::5', '2001:db8:2::7', '2001:db8:2::7'],
  ['only proxies', '127.0.0.1', '10.1.0.4, 10.1.0.5', '10.1.0.4'],
  ['no header', '127.0.0.1', undefined, '127.0.0.1'],
  ['no address in the header', '127.0.0.1', '203.0.113.9, unknown', '127.0.0.1'],
  ['an empty entry', '127.0.0.1', '203.0.113.9, ', '127.0.0.1'],
  ['a zone of any length', '127.0.0.1', `fe80::1%${'x'.repeat(99)}`, '127.0.0.1'],
  ['no address behind a proxy', '127.0.0.1', 'unknown, 10.1.0.4', '10.1.0.4'],
  ['no peer', undefined, '203.0.113.9', ''],
];

it.each(cases)('%s', (_what, remoteAddress, forwarded, expected, trusted = proxies) => {
  const app = { config: { http: { trustedProxies: trusted } } } as unknown as App;
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  expect(visitorOf(app, { headers, socket: { remoteAddress } })).toBe(expected);
});

it('the log has the visitor', async () => {
  const service = await httpService({ config: { trustedProxies: ['127.0.0.1'] } });
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-api-key': 'nobody' };
  await service.http.inject({ ...goodEcho, headers });
  expect(service.logged()).toMatchObject([{ remoteAddress: '203.0.113.9' }]);
  await service.close();
});

/** Files that read the peer of a connection, with the reason. */
const readers = [
  'http/answer-memory.ts', // the memory of a connection, held by the peer
  'http/visitor.ts',
];

it('no further file of HTTP reads the peer of a connection', () => {
  const root = join(import.meta.dirname, '../../daemon');
  const files = globSync('{http,console,mcp,tracking}/**/*.{ts,tsx}', { cwd: root });
  const found = files.filter((file) =>
    /[.{]\s*remoteAddress\b|\.ips?\b|forwarded-for/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(found.toSorted()).toEqual(readers);
});
