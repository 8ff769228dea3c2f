// The registrar of a domain over RDAP, and its DNS host by name servers.
import type { ServerResponse } from 'node:http';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { getRegistrar } from '../../../src/identity/domains/registrar/registrar.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { type Registry, registryAddress, startRegistry, trustRegistry } from './registry.ts';

const bootstrap = 'data.iana.org/rdap/dns.json';
const ours = 'rdap.registry.test/v1/domain/acme.example';
const hosts = ['data.iana.org', 'rdap.registry.test', 'other.registry.test'];
const services = [[['example'], ['http://plain.test/', 'https://rdap.registry.test/v1/']]];
const gandi = {
  objectClassName: 'domain',
  entities: [
    { roles: ['registrant'], vcardArray: ['vcard', [['fn', {}, 'text', 'Not To Be Shown']]] },
    {
      roles: ['registrar'],
      publicIds: [{ type: 'IANA Registrar ID', identifier: '81' }],
      links: [{ rel: 'about', href: 'https://www.gandi.net' }],
      vcardArray: [
        'vcard',
        [
          ['version', {}, 'text', '4.0'],
          ['fn', {}, 'text', 'Gandi\u202e SAS'],
        ],
      ],
    },
  ],
};

let dns: DnsServer;
let registry: Registry;
let test: TestApp;
let id: string;
beforeAll(trustRegistry);
beforeEach(async () => {
  dns = await startDnsServer();
  registry = await startRegistry();
  for (const host of hosts) dns.set(host, 'A', [registryAddress]);
  dns.set('acme.example', 'NS', ['ns-1.p04.nsone.net', 'NS-b.gandi.net']);
  registry.answer(bootstrap, { services });
  registry.answer(ours, gandi);
  const config = { dns: { servers: [dns.address] } };
  test = await testApp({ config, connect: registry.connector });
  ({ id } = await addDomain(test.app, test.caller, { domain: 'mail.acme.example' }));
});
afterEach(async () => {
  await test.close();
  await registry.close();
  await dns.close();
});

const ask = () => getRegistrar(test.app, test.caller, id);

describe('the registrar', () => {
  it('is named by RDAP, and the page of records by the name servers of the closest zone', async () => {
    expect(await ask()).toEqual({
      domain: 'mail.acme.example',
      registrar: { name: 'Gandi SAS', ianaId: '81', url: 'https://www.gandi.net/' },
      dnsHost: {
        name: 'Gandi',
        nameServers: ['ns-1.p04.nsone.net', 'ns-b.gandi.net'],
        recordsUrl: 'https://admin.gandi.net/domain/acme.example',
      },
      source: 'rdap',
      checkedAt: '2026-01-05T12:00:00.000Z',
    });
    expect(registry.dialled).toEqual([`${registryAddress}:443`, `${registryAddress}:443`]);
  });

  it('is asked once an hour, and the list of servers once a day', async () => {
    await Promise.all([ask(), ask(), ask()]);
    expect(registry.asked).toEqual([bootstrap, ours]);
    await test.clock.advance(3600_000);
    await ask();
    expect(registry.asked).toEqual([bootstrap, ours, ours]);
    await test.clock.advance(23 * 3600_000);
    await ask();
    expect(registry.asked.slice(3)).toEqual([bootstrap, ours]);
  });

  it('comes from the shipped servers while IANA does not answer', async () => {
    registry.answer(bootstrap, (response: ServerResponse) => void response.writeHead(503).end());
    dns.set('rdap.nic.fr', 'A', [registryAddress]);
    const { id: french } = await addDomain(test.app, test.caller, { domain: 'acme.fr' });
    const found = await getRegistrar(test.app, test.caller, french);
    // The certificate of the test is not that of rdap.nic.fr.
    expect([found.registrar, found.source]).toEqual([null, 'none']);
    expect(registry.dialled).toHaveLength(2);
  });

  it('follows a redirect to another public server', async () => {
    registry.answer(ours, (response: ServerResponse) => {
      response
        .writeHead(302, { location: 'https://other.registry.test/domain/acme.example' })
        .end();
    });
    registry.answer('other.registry.test/domain/acme.example', gandi);
    expect((await ask()).registrar?.name).toBe('Gandi SAS');
  });

  it.each([
    ['a private address', 'https://inner.test/domain/acme.example'],
    ['an address in the URL', 'https://127.0.0.1/domain/acme.example'],
    ['plain HTTP', 'http://other.registry.test/domain/acme.example'],
    ['another port', 'https://other.registry.test:8443/domain/acme.example'],
    ['itself, for ever', 'https://rdap.registry.test/v1/domain/acme.example'],
  ])('is not sought at %s', async (_name, location) => {
    dns.set('inner.test', 'A', ['10.0.0.1']);
    registry.answer(
      ours,
      (response: ServerResponse) => void response.writeHead(302, { location }).end(),
    );
    expect(await ask()).toMatchObject({ registrar: null, source: 'name-servers' });
    expect(new Set(registry.dialled)).toEqual(new Set([`${registryAddress}:443`]));
    expect(registry.asked.length).toBeLessThanOrEqual(5);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['is too large', (response) => void response.end(Buffer.alloc(70_000, ' '))],
    ['is no JSON', (response) => void response.end('<html>')],
    ['is null', (response) => void response.end('null')],
    ['has no entity', (response) => void response.end('{"entities":{"roles":7}}')],
    ['breaks off', (response) => void response.write('{', () => response.destroy())],
    ['is a fault', (response) => void response.writeHead(500).end()],
  ])('is null if the answer %s', async (_name, answer) => {
    registry.answer(ours, answer);
    expect(await ask()).toMatchObject({ registrar: null, source: 'name-servers' });
  });

  it('is null after 5 s of silence', async () => {
    let isAsked = false;
    registry.answer(ours, () => {
      isAsked = true;
    });
    const asked = ask();
    await expect.poll(() => isAsked).toBe(true);
    await test.clock.advance(5_000);
    expect(await asked).toMatchObject({ registrar: null, source: 'name-servers' });
  });

  it('is null, as is the DNS host, where nothing answers', async () => {
    registry.answer(ours, (response: ServerResponse) => void response.writeHead(404).end());
    dns.fault('acme.example', 'nxdomain');
    expect(await ask()).toMatchObject({ registrar: null, dnsHost: null, source: 'none' });
  });

  it('says nothing of the domain of another organization', async () => {
    const { id: other } = await createOrganization(test.app, { name: 'Other', plan: 'free' });
    await expect(getRegistrar(test.app, operatorOf(other), id)).rejects.toThrow(
      ResourceNotFoundError,
    );
  });
});
