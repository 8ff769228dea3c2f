// URLs that are never posted to: hostile URLs at registration, and hostile answers of the DNS when
// a connection is made. Resolver and connector are the test's; nothing is dialled.
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSmtpListener } from '../../daemon/smtp/listener.ts';
import type { App } from '../../src/core/app.ts';
import { urlProblem } from '../../src/webhooks/endpoints/url-rules.ts';
import { createPoster } from '../../src/webhooks/posting/post.ts';
import { eachApp } from '../support/each-app.ts';
import { testApp } from '../support/test-app.ts';

/** URLs that are refused by their text, or by the address in it. */
const hostileUrls = [
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com:70/_',
  'javascript:alert(1)',
  'data:text/plain,x',
  'ws://example.com/',
  '/hook',
  '//example.com/hook',
  'example.com/hook',
  'http:example.com',
  'https:///example.com/',
  'http://',
  '',
  'http://user@example.com/',
  'http://user:secret@example.com/',
  'http://@example.com/',
  'http://:@example.com/',
  'http://example.com\\@127.0.0.1/',
  'http://exa mple.com/',
  'http://example.com/a\nb',
  'http://exam\tple.com/',
  `https://example.com/${'a'.repeat(2048)}`,
  'http://example.com:0/',
  'http://example.com:25/',
  'http://example.com:465/',
  'http://example.com:587/',
  'http://example.com:3306/',
  'http://example.com:5432/',
  'http://example.com:6379/',
  'http://example.com:65536/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://a.localhost/',
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://127.0.0.1./',
  'http://①②⑦.⓪.⓪.①/',
  'http://%31%32%37.0.0.1/',
  'http://0/',
  'http://0.0.0.0/',
  'http://10.1.2.3/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://192.0.2.1/',
  'http://198.18.0.1/',
  'http://224.0.0.1/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[2002:7f00:1::]/',
  'http://[2001:0:7f00:1::]/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fc00::1]/',
  'http://[ff02::1]/',
  'http://[2001:db8::1]/',
];

const hostileAnswers: readonly (readonly string[])[] = [
  ['127.0.0.1'],
  ['10.0.0.1'],
  ['192.168.0.1'],
  ['172.31.255.255'],
  ['169.254.169.254'],
  ['100.100.100.200'],
  ['0.0.0.0'],
  ['224.0.0.1'],
  ['::1'],
  ['fd00::1'],
  ['fe80::1'],
  ['::ffff:10.0.0.1'],
  ['64:ff9b::a00:1'],
  ['2002:a00:1::'],
  ['93.184.216.34', '10.0.0.1'],
  ['127.0.0.1', '93.184.216.34'],
  ['93.184.216.34', '::1'],
];

/** Answers in turn, then with the last one for ever. */
function resolving(app: App, answers: readonly (readonly string[])[]): App {
  let asked = 0;
  const addresses = async () => {
    const found = answers[Math.min(asked++, answers.length - 1)] ?? [];
    return {
      ipv4: found.filter((one) => !one.includes(':')),
      ipv6: found.filter((one) => one.includes(':')),
      authenticated: false,
    };
  };
  return { ...app, dns: { ...app.dns, addresses } };
}

describe('the URL of an endpoint', () => {
  const test = eachApp();

  function dialling(app: App) {
    const dialled: string[] = [];
    const connect = ({ host, port }: { host: string; port: number }): Socket => {
      dialled.push(`${host}:${port}`);
      throw new Error('dialled');
    };
    return { app: { ...app, connect }, dialled };
  }

  it('is refused in every spelling of a private address', async () => {
    const accepted: string[] = [];
    for (const url of hostileUrls) {
      if ((await urlProblem(test.app, url)) === null) accepted.push(url);
    }
    expect(accepted).toEqual([]);
    expect(hostileUrls.length).toBeGreaterThanOrEqual(60);
  });

  it.each([
    'https://example.com/hook?a=b#c',
    'http://example.com:8080/',
    'https://EXAMPLE.com',
    'http://93.184.216.34/',
    'http://[2606:2800:220:1::1]/',
    'https://bücher.example/',
  ])('is accepted with a name to be resolved later: %s', async (url) => {
    expect(await urlProblem(test.app, url)).toBe(null);
  });

  it.each(hostileAnswers)('is refused at registration when its name leads to %s', async (...to) => {
    const app = resolving(test.app, [to]);
    expect(await urlProblem(app, 'https://hooks.example/')).toMatch(/not public/);
  });

  it.each(hostileAnswers)(
    'is refused at each connect, undialled, when it leads to %s',
    async (...to) => {
      const { app, dialled } = dialling(resolving(test.app, [to]));
      const poster = createPoster(app);
      const outcome = await poster.post({ url: 'http://hooks.example/', headers: {}, body: '{}' });
      expect(outcome).toMatchObject({ isSuccess: false, errorClass: 'refused-address' });
      expect(dialled).toEqual([]);
      await poster.close();
    },
  );

  it('is refused undialled when it was stored without a check', async () => {
    const { app, dialled } = dialling(test.app);
    const poster = createPoster(app);
    const urls = [
      'http://127.0.0.1/',
      'http://0x7f.1/',
      'http://[::ffff:7f00:1]/',
      'http://localhost/',
    ];
    for (const url of urls) {
      const outcome = await poster.post({ url, headers: {}, body: '{}' });
      expect(outcome).toMatchObject({ isSuccess: false, errorClass: 'refused-address' });
    }
    expect(dialled).toEqual([]);
    await poster.close();
  });

  it('is dialled at the checked address after any later answer of the DNS', async () => {
    const { app, dialled } = dialling(resolving(test.app, [['93.184.216.34'], ['127.0.0.1']]));
    const poster = createPoster(app);
    const request = { url: 'http://hooks.example/', headers: {}, body: '{}' };
    expect(await poster.post(request)).toMatchObject({ errorClass: 'connect' });
    expect(await poster.post(request)).toMatchObject({ errorClass: 'refused-address' });
    expect(dialled).toEqual(['93.184.216.34:80']);
    await poster.close();
  });

  it('is refused when it was public at registration and is not at the connect', async () => {
    const { app, dialled } = dialling(resolving(test.app, [['93.184.216.34'], ['10.0.0.1']]));
    expect(await urlProblem(app, 'http://hooks.example/')).toBe(null);
    const poster = createPoster(app);
    const request = { url: 'http://hooks.example/', headers: {}, body: '{}' };
    expect(await poster.post(request)).toMatchObject({ errorClass: 'refused-address' });
    expect(dialled).toEqual([]);
    await poster.close();
  });

  it('is refused for this service itself', async () => {
    const ours = await testApp({ config: { http: { publicUrl: 'https://mail.example' } } });
    expect(await urlProblem(ours.app, 'https://mail.example/v1/messages')).toBe(
      'is the address of this service',
    );
    expect(await urlProblem(ours.app, 'https://MAIL.example.:443/')).toBe(
      'is the address of this service',
    );
    await ours.close();
  });

  it('may name this machine where private addresses are allowed', async () => {
    const config = { webhooks: { allowPrivateAddresses: true } };
    const local = await testApp({ config });
    expect(await urlProblem(local.app, 'http://localhost:3000/')).toBe(null);
    expect(await urlProblem(local.app, 'http://127.0.0.1:25/')).toMatch(/port 25/);
    await local.close();
  });

  describe('at a listener of ours, with private addresses allowed,', () => {
    const config = {
      webhooks: { allowPrivateAddresses: true },
      http: { port: 4025 },
      smtp: { inbound: { port: 2525 }, submission: { enabled: true, port: 2587 } },
      tracking: {
        http: { port: 8081 },
        https: { port: 8443 },
        acme: { dns: { port: 5353 } },
      },
    };
    const local = eachApp({ config });
    const bound = 40_123;
    const ports = [4025, 2525, 2587, 8081, 8443, 5353, bound];
    const hosts = ['127.0.0.1', '127.9.9.9', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]'];

    beforeEach(() => local.app.boundPorts.add(bound));

    it.each(ports)('is refused at registration with port %d', async (port) => {
      for (const host of [...hosts, 'localhost', 'a.localhost']) {
        expect(await urlProblem(local.app, `http://${host}:${port}/`)).toMatch(/of this service/);
      }
    });

    it.each(ports)('is refused undialled at the connect with port %d', async (port) => {
      const { app, dialled } = dialling(resolving(local.app, [['127.0.0.1'], ['::1']]));
      const poster = createPoster(app);
      for (const host of [...hosts, 'hooks.example', 'other.example']) {
        const url = `http://${host}:${port}/`;
        const outcome = await poster.post({ url, headers: {}, body: '{}' });
        expect(outcome).toMatchObject({ errorClass: 'refused-address' });
      }
      expect(dialled).toEqual([]);
      await poster.close();
    });

    it('is refused at each address of our interfaces', async () => {
      const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
      for (const { address, family } of addresses) {
        const host = family === 'IPv6' ? `[${address}]` : address;
        const problem = await urlProblem(local.app, `http://${host}:2525/`);
        expect(problem).toBe('leads to a listener of this service');
      }
    });

    it('is refused at a port that the system assigned to a listener', async () => {
      const on = { config: { webhooks: { allowPrivateAddresses: true } } };
      const free = await testApp(on);
      const smtp = createSmtpListener(free.app);
      const { port } = await smtp.listen();
      const problem = await urlProblem(free.app, `http://127.0.0.1:${port}/`);
      expect(problem).toBe('leads to a listener of this service');
      await smtp.close(0);
      await free.close();
    });

    it('is dialled at other ports of this machine', async () => {
      const { app, dialled } = dialling(local.app);
      const poster = createPoster(app);
      await poster.post({ url: 'http://127.0.0.1:3000/', headers: {}, body: '{}' });
      expect(dialled).toEqual(['127.0.0.1:3000']);
      await poster.close();
    });
  });
});
