// svc doctor on a good machine, and on machines with one fault each: every check, and every finding
// of it. The daily examination by the daemon is daily.test.ts.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storeJump } from '../../../src/core/clock/queries.ts';
import type { ConfigInput } from '../../../src/core/config/config.ts';
import { checks, examine } from '../../../src/doctor/examine.ts';
import type { Finding, FindingStatus, Machine } from '../../../src/doctor/finding.ts';
import { thisMachine } from '../../../src/doctor/machine.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { recordBackup } from '../../../src/platform/upkeep/last-backup.ts';
import { type Registry, startRegistry, trustRegistry } from '../../identity/domains/registry.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { testCert } from '../../support/test-cert.ts';
import { passingTime } from '../../support/virtual-clock.ts';
import { type Hosts, startHosts } from './hosts.ts';

const ours = '9.9.9.9';
const foreign = 'mx.foreign.example';
const hostname = 'mail.acme.example';
const reversed = '9.9.9.9';
const gigabyte = 1024 ** 3;
const day = 24 * 3600_000;

const certificates = mkdtempSync(join(tmpdir(), 'svc-doctor-'));
const certFile = join(certificates, 'cert.pem');
writeFileSync(certFile, testCert);
writeFileSync(join(certificates, 'broken.pem'), 'no certificate');
afterAll(() => rmSync(certificates, { recursive: true }));

let dns: DnsServer;
let registry: Registry;
let hosts: Hosts;
let test: TestApp;
beforeAll(trustRegistry);
beforeEach(async () => {
  dns = await startDnsServer({
    com: { NS: ['a.gtld-servers.net'] },
    'data.iana.org': { A: ['9.9.9.10'] },
    '2.0.0.127.zen.spamhaus.org': { A: ['127.0.0.2'] },
    [hostname]: { A: [ours] },
    [foreign]: { A: ['9.9.9.11'] },
    'api.acme.example': { A: [ours] },
    [`${reversed}.in-addr.arpa`]: { PTR: [hostname] },
    'acme.example': { MX: [{ exchange: hostname, preference: 10 }] },
  });
  dns.fault('dnssec-failed.org', 'servfail');
  registry = await startRegistry();
  hosts = await startHosts(registry.connector);
  hosts.greetings.set('127.0.0.1:4025', null);
  hosts.greetings.set('127.0.0.1:2525', '220 mail.acme.example ESMTP\r\n');
  hosts.greetings.set('9.9.9.11:25', `220 ${foreign} ESMTP\r\n`);
});
afterEach(async () => {
  await test.close();
  await hosts.close();
  await registry.close();
  await dns.close();
});

const goodMachine: Machine = {
  ...thisMachine,
  nodeVersion: '24.1.0',
  mostOpenFiles: () => 65_536,
  disk: () => ({ freeBytes: 20 * gigabyte, totalBytes: 40 * gigabyte }),
  networkFileSystem: () => null,
  passingFileSystem: () => null,
};

async function start(config: ConfigInput = {}) {
  test = await testApp({
    start: Date.now(),
    connect: hosts.connector,
    keepsSandbox: true,
    config: {
      ...config,
      dns: { servers: [dns.address] },
      doctor: { outgoingHost: foreign, ...config.doctor },
      http: { port: 4025, publicUrl: 'https://api.acme.example', ...config.http },
      smtp: {
        inbound: { port: 2525, tls: { certFile, keyFile: certFile } },
        ...config.smtp,
      },
      delivery: { mode: 'direct', hostname, ...config.delivery },
    },
  });
  chmodSync(test.app.config.dataDir, 0o700);
  recordBackup(test.app.config.dataDir, { at: test.clock.now() - day, file: '/backup/svc.db' });
}

async function addVerified(domain = 'acme.example') {
  const { id } = await addDomain(test.app, test.caller, { domain });
  await verifyDomain(test.app, test.operator, id, { force: true });
}

const look = (machine: Partial<Machine> = {}) =>
  examine(test.app, { mail: true, machine: { ...goodMachine, ...machine } });

const statuses = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ check, status }) => [check, status]));

/** Checks that are skipped while the service has no members. */
const ofPeople = ['passkeys', 'people', 'single-sign-on'];

describe('a good machine', () => {
  it('passes every check', async () => {
    await start();
    await addVerified();
    const findings = await look();
    expect(statuses(findings)).toEqual(
      Object.fromEntries(
        checks.map(({ name }) => [name, ofPeople.includes(name) ? 'skipped' : 'ok']),
      ),
    );
    for (const { remedy, command } of findings) expect([remedy, command]).toEqual([null, null]);
  });

  it('is looked at without mail unless that is asked for', async () => {
    await start();
    const names = (await examine(test.app, { machine: goodMachine })).map(({ check }) => check);
    expect(names).not.toContain('blocklists');
    expect(await examine(test.app, { only: ['disk'], machine: goodMachine })).toEqual([
      {
        check: 'disk',
        status: 'ok',
        found: expect.stringContaining('20.0 GB of 40.0 GB'),
        remedy: null,
        command: null,
      },
    ]);
  });
});

/** Adds a domain, publishes the records and lets a check find them. */
async function addPublished(domain: string) {
  const { id, dnsRecords } = await addDomain(test.app, test.caller, { domain });
  for (const { type, name, value } of dnsRecords) {
    const [preference, exchange = ''] = value.split(' ');
    if (type === 'TXT') dns.set(name, 'TXT', [value]);
    else dns.set(name, 'MX', [{ preference: Number(preference), exchange }]);
  }
  expect(await verifyDomain(test.app, test.caller, id)).toMatchObject({ status: 'verified' });
}

describe('the records of a verified domain', () => {
  const domains = () => examine(test.app, { only: ['domains'], machine: goodMachine });

  it('are looked up now', async () => {
    await start();
    await addPublished('gone.example');
    expect(await domains()).toMatchObject([
      {
        status: 'ok',
        found: 'all 1 sending domains are verified; the records of 1 were looked up now',
      },
    ]);
  });

  it('are a warning if they are gone since the last check', async () => {
    await start();
    await addPublished('gone.example');
    await addPublished('kept.example');
    dns.set('bounce.gone.example', 'MX', []);
    expect(await domains()).toMatchObject([
      {
        status: 'warn',
        found:
          'the records of 1 verified domains are gone: gone.example lacks MX bounce.gone.example; ' +
          'the records of 2 were looked up now',
        command: `svc domains dns gone.example --org ${test.caller.organizationId}`,
      },
    ]);
  });

  it('are no success if DNS fails for all', async () => {
    await start();
    await addPublished('gone.example');
    dns.fault('bounce.gone.example', 'servfail');
    expect(await domains()).toMatchObject([
      {
        status: 'skipped',
        found:
          'all 1 sending domains were verified at their last check; DNS did not answer for their records now',
      },
    ]);
  });

  it('are counted only where DNS answers', async () => {
    await start();
    await addPublished('silent.example');
    await addPublished('kept.example');
    dns.fault('bounce.silent.example', 'servfail');
    expect(await domains()).toMatchObject([
      {
        status: 'ok',
        found: 'all 2 sending domains are verified; the records of 1 of 2 were looked up now',
      },
    ]);
  });

  it('keep their stored state while DNS is silent, for ten seconds', async () => {
    await start();
    await addPublished('gone.example');
    dns.fault('bounce.gone.example', 'timeout');
    const startedAt = test.clock.elapsed();
    const [finding] = await passingTime(test.clock, domains(), 500);
    expect(finding).toMatchObject({
      status: 'skipped',
      found: expect.stringContaining('verified at their last check'),
    });
    expect(test.clock.elapsed() - startedAt).toBeLessThanOrEqual(10_500);
  });
});

type Case = readonly [
  check: string,
  status: FindingStatus,
  found: string,
  machine?: Partial<Machine>,
  arrange?: (() => unknown) | undefined,
  config?: ConfigInput,
];

const ownerOfKey = (uid: number) => (path: string) => (path.endsWith('secret.key') ? uid : 1_000);
const disk = (freeBytes: number) => ({ disk: () => ({ freeBytes, totalBytes: 40 * gigabyte }) });
const backedUp = (at: number) => () =>
  recordBackup(test.app.config.dataDir, { at: test.clock.now() - at, file: '/backup/svc.db' });
const lists = (list: string) => dns.set(`${reversed}.${list}`, 'A', ['127.0.0.4']);
function validateNothing() {
  dns.fault('dnssec-failed.org', undefined);
  dns.set('dnssec-failed.org', 'A', ['9.9.9.9']);
}
const ofFiles: ConfigInput = { storage: { driver: 'filesystem' } };
const spoilFolder = () => writeFileSync(join(test.app.config.dataDir, 'blobs'), 'a file');
const addDaemons = () =>
  test.app.store.write(async (trx) => {
    for (const id of ['one', 'two']) {
      await sql`insert into daemons (id, beats) values (${id}, 1)`.execute(trx);
    }
  });
const unencrypted = { http: { publicUrl: 'http://api.acme.example' } };
const tls = (file: string) => ({
  smtp: { inbound: { port: 2525, tls: { certFile: file, keyFile: file } } },
});

const noteJump = () =>
  test.app.store.write((trx) =>
    storeJump(trx, { now: test.clock.now(), jumpMs: -90_000, behindFrom: null }),
  );

const cases: readonly Case[] = [
  ['runtime', 'fail', 'Node 22.3.0, SQLite 3', { nodeVersion: '22.3.0' }],
  ['files', 'fail', 'others can read', {}, () => chmodSync(test.app.config.dataDir, 0o755)],
  ['disk', 'warn', '1.0 GB of 40.0 GB', disk(gigabyte)],
  ['disk', 'fail', '0.1 GB of 40.0 GB', disk(gigabyte / 10)],
  ['store-place', 'warn', 'svc.db is on tmpfs', { passingFileSystem: () => 'tmpfs' }],
  ['files', 'fail', 'secret.key belongs to another account', { ownerOf: ownerOfKey(4_321) }],
  ['store-place', 'fail', 'svc.db is on NFS', { networkFileSystem: () => 'NFS' }],
  ['storage', 'fail', 'does not keep files', {}, spoilFolder, ofFiles],
  ['storage', 'warn', 'several daemons', {}, addDaemons, ofFiles],
  ['open-files', 'warn', '1024 files', { mostOpenFiles: () => 1_024 }],
  ['open-files', 'fail', '256 files', { mostOpenFiles: () => 256 }],
  ['open-files', 'skipped', 'does not name a limit', { mostOpenFiles: () => null }],
  ['clock', 'warn', 's off that of', {}, () => test.clock.set(Date.now() + 10_000)],
  ['clock', 'fail', 's off that of', {}, () => test.clock.set(Date.now() + 600_000)],
  ['clock-jumps', 'warn', 'the clock was set back by 90 s at', {}, noteJump],
  ['clock', 'skipped', 'cannot be asked', {}, () => dns.fault('data.iana.org', 'nxdomain')],
  [
    'backup',
    'warn',
    'no backup yet',
    {},
    () => rmSync(join(test.app.config.dataDir, 'last-backup.json')),
  ],
  ['backup', 'warn', '/backup/svc.db', {}, backedUp(8 * day)],
  ['resolver', 'fail', 'do not answer', {}, () => dns.fault('com', 'refused')],
  [
    'resolver',
    'skipped',
    'mail is captured',
    {},
    () => dns.fault('com', 'refused'),
    { delivery: { mode: 'capture' } },
  ],
  ['resolver-dnssec', 'warn', 'signatures are wrong', {}, validateNothing],
  [
    'resolver-dnssec',
    'skipped',
    'cannot be asked for',
    {},
    () => dns.fault('dnssec-failed.org', 'nxdomain'),
  ],
  [
    'resolver-blocklists',
    'warn',
    'refuse the DNS servers',
    {},
    () => dns.set('2.0.0.127.zen.spamhaus.org', 'A', ['127.255.255.254']),
  ],
  [
    'resolver-blocklists',
    'warn',
    'do not answer',
    {},
    () => dns.fault('2.0.0.127.zen.spamhaus.org', 'nxdomain'),
  ],
  [
    'listeners',
    'fail',
    '127.0.0.1:4025 (http.port)',
    {},
    () => hosts.greetings.delete('127.0.0.1:4025'),
  ],
  [
    'listeners',
    'fail',
    'greets with "421 busy"',
    {},
    () => hosts.greetings.set('127.0.0.1:2525', '421 busy\r\n'),
  ],
  ['public-url', 'warn', 'not set', {}, undefined, { http: { publicUrl: null } }],
  [
    'public-url',
    'warn',
    'this machine only',
    {},
    undefined,
    { http: { publicUrl: 'http://localhost:4025' } },
  ],
  [
    'public-url',
    'warn',
    'https://api.acme.example takes no connection from here',
    {},
    () => dns.fault('api.acme.example', 'nxdomain'),
  ],
  [
    'public-url',
    'warn',
    'https://api.acme.example:8443 takes no connection from here',
    {},
    undefined,
    { http: { publicUrl: 'https://api.acme.example:8443' } },
  ],
  ['public-url', 'fail', 'unencrypted', {}, undefined, unencrypted],
  [
    'public-url',
    'skipped',
    'captured',
    {},
    undefined,
    { http: { publicUrl: null }, delivery: { mode: 'capture' } },
  ],
  [
    'domains',
    'warn',
    '1 of 2 sending domains are not verified: new.example (pending)',
    {},
    () => addDomain(test.app, test.caller, { domain: 'new.example' }),
  ],
  ['certificates', 'fail', 'cannot be read', {}, undefined, tls(join(certificates, 'broken.pem'))],
  ['certificates', 'fail', 'ends 2120-01-01', {}, () => test.clock.set(Date.UTC(2120, 0, 2))],
  ['certificates', 'warn', 'ends 2120-01-01', {}, () => test.clock.set(Date.UTC(2119, 11, 25))],
  [
    'certificates',
    'skipped',
    'no certificate',
    {},
    undefined,
    { smtp: { inbound: { port: 2525 } } },
  ],
  [
    'smarthost-spf',
    'warn',
    'relay.example, and delivery.relay.spf does not name the SPF mechanism',
    {},
    undefined,
    { delivery: { mode: 'relay', relay: { host: 'relay.example' } } },
  ],
  [
    'smarthost-spf',
    'ok',
    'each smarthost is known',
    {},
    undefined,
    { delivery: { mode: 'relay', relay: { host: 'relay.example', spf: 'include:a.example' } } },
  ],
  [
    'outgoing-port',
    'fail',
    'no connection to port 25 of mx.foreign.example',
    {},
    () => hosts.greetings.delete('9.9.9.11:25'),
  ],
  [
    'outgoing-port',
    'warn',
    '554 go away',
    {},
    () => hosts.greetings.set('9.9.9.11:25', '554 go away\r\n'),
  ],
  ['outgoing-port', 'skipped', 'is null', {}, undefined, { doctor: { outgoingHost: null } }],
  [
    'outgoing-port',
    'fail',
    'port 587 of relay.example',
    {},
    undefined,
    { delivery: { mode: 'relay', relay: { host: 'relay.example' } } },
  ],
  ['outgoing-port', 'skipped', 'does not leave', {}, undefined, { delivery: { mode: 'capture' } }],
  [
    'reverse-name',
    'fail',
    '9.9.9.9 has no name',
    {},
    () => dns.fault(`${reversed}.in-addr.arpa`, 'nxdomain'),
  ],
  [
    'reverse-name',
    'fail',
    'is named host.provider.test',
    {},
    () => dns.set(`${reversed}.in-addr.arpa`, 'PTR', ['host.provider.test']),
  ],
  ['helo-name', 'fail', 'has no address', {}, () => dns.fault(hostname, 'nxdomain')],
  ['helo-name', 'fail', 'which is not public', {}, () => dns.set(hostname, 'A', ['10.0.0.1'])],
  ['blocklists', 'fail', '9.9.9.9 is on zen.spamhaus.org', {}, () => lists('zen.spamhaus.org')],
  [
    'blocklists',
    'fail',
    '9.9.9.9 is on the PBL of Spamhaus',
    {},
    () => dns.set(`${reversed}.zen.spamhaus.org`, 'A', ['127.0.0.10']),
  ],
  ['blocklists', 'warn', '9.9.9.9 is on psbl.surriel.com', {}, () => lists('psbl.surriel.com')],
];

describe('a machine with one fault', () => {
  it('is in this list for every check', () => {
    const seen = new Set(cases.flatMap(([check, status]) => (status === 'skipped' ? [] : [check])));
    // The checks of PostgreSQL are in database.test.ts, `smarthost` in reached.test.ts, `passkeys`
    // in passkeys.test.ts, `people` in outbound/sending/people/warnings.test.ts.
    const elsewhere = ['smarthost', ...ofPeople];
    const names = checks
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('database-') && !elsewhere.includes(name));
    expect([...seen].sort()).toEqual(names.sort());
  });

  it.each(cases.map((one) => [one.slice(0, 3).join(' '), one] as const))(
    '%s',
    async (_name, [check, status, found, machine, arrange, config]) => {
      await start(config);
      await addVerified();
      await arrange?.();
      const finding = (await look(machine)).find((one) => one.check === check);
      expect(finding).toMatchObject({ status, found: expect.stringContaining(found) });
      const hasStep = status === 'warn' || status === 'fail';
      expect([finding?.remedy !== null, finding?.command !== null]).toEqual([hasStep, hasStep]);
    },
  );

  it('asks nothing of the Internet without it', async () => {
    await start();
    await addVerified();
    dns.fault('com', 'refused');
    const found = statuses(await look());
    for (const { name, needsInternet } of checks) {
      if (needsInternet) expect([name, found[name]]).toEqual([name, 'skipped']);
    }
    expect(registry.asked).toEqual([]);
  });

  it('is not waited for when a server is silent', async () => {
    await start();
    hosts.greetings.set('127.0.0.1:2525', null);
    const looked = examine(test.app, { only: ['disk', 'listeners'], machine: goodMachine });
    await expect.poll(() => test.clock.nextTimerAt()).toBeDefined();
    await test.clock.advance(30_000);
    expect(statuses(await looked)).toEqual({ disk: 'ok', listeners: 'fail' });
  });
});
