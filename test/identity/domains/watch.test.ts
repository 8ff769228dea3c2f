// `svc domains verify --watch`: the command checks again until the records are published, or until
// its time is over.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Domain } from '../../../src/identity/domains/schema.ts';
import { type CliWorkspace, finished, initializedWorkspace } from '../../support/cli.ts';
import { until } from '../../support/daemon-process.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';

let dns: DnsServer;
let cli: CliWorkspace;
beforeAll(async () => {
  dns = await startDnsServer();
  cli = await initializedWorkspace({ SVC_DNS_SERVERS: JSON.stringify([dns.address]) });
});
afterAll(async () => {
  cli.close();
  await dns.close();
});

const add = (domain: string) => cli.json<Domain>(['domains', 'add', domain, '--dkim', 'ed25519']);

it('waits until the records are published, and says which were found', async () => {
  const { dnsRecords } = await add('example.com');
  const child = cli.start(['domains', 'verify', 'example.com', '--watch', '--json']);
  const ended = finished(child);
  await until(() => dns.queries.length > 0, 'a check begins');
  for (const { type, name, value } of dnsRecords) {
    const [preference, exchange = ''] = value.split(' ');
    if (type === 'TXT') dns.set(name, 'TXT', [value]);
    else dns.set(name, 'MX', [{ preference: Number(preference), exchange }]);
  }
  const { code, stdout, stderr } = await ended;
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { status: 'verified' }]);
  for (const { type, name } of dnsRecords.filter(({ required }) => required)) {
    expect(stderr).toContain(`valid    ${type} ${name}`);
  }
});

it('ends with 8 once its time is over', async () => {
  await add('example.org');
  const words = ['domains', 'verify', 'example.org', '--watch', '--timeout', '1s'];
  const { code, stderr } = await cli.run(words);
  expect([code, stderr]).toEqual([8, expect.stringContaining('example.org is pending')]);
  expect(stderr.match(/^missing +TXT svc\w+\._domainkey\.example\.org$/gm)).toHaveLength(1);
});

it.each([[['--watch', '--timeout', 'soon']], [['--watch', '--force']], [['--timeout', '1m']]])(
  'refuses %j',
  async (flags) => {
    expect((await cli.run(['domains', 'verify', 'example.org', ...flags])).code).toBe(2);
  },
);
