// `svc domains verify` on the command line: records with a diagnosis, valid ones included.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Domain } from '../../../src/identity/domains/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';

let dns: DnsServer;
let cli: CliWorkspace;
beforeAll(async () => {
  dns = await startDnsServer({ 'mail.acme.example': { A: ['203.0.113.25'] } });
  cli = await initializedWorkspace({
    SVC_DNS_SERVERS: JSON.stringify([dns.address]),
    SVC_DELIVERY_HOSTNAME: 'mail.acme.example',
  });
  const { dnsRecords } = await cli.json<Domain>([
    ...['domains', 'add', 'acme.example', '--dkim', 'rsa'],
  ]);
  for (const { type, name, value } of dnsRecords) {
    const [preference, exchange = ''] = value.split(' ');
    if (type === 'TXT') dns.set(name, 'TXT', [value]);
    else dns.set(name, 'MX', [{ preference: Number(preference), exchange }]);
  }
  const dkim = dnsRecords.find(({ purpose }) => purpose === 'dkim');
  dns.set(dkim?.name ?? '', 'TXT', [`${dkim?.value}; t=y`]);
  dns.set('acme.example', 'TXT', ['v=spf1 a:mail.acme.example +all']);
});
afterAll(async () => {
  cli.close();
  await dns.close();
});

it('names the diagnoses of valid records', async () => {
  const { code, stdout } = await cli.run(['domains', 'verify', 'acme.example']);
  expect(code).toBe(0);
  const text = stdout.replaceAll(/\s+/g, ' ');
  expect(text).toContain('These records are valid, but have a problem:');
  expect(text).toContain('the key is marked as a test (t=y)');
  expect(text).toContain('Remove t=y from the record.');
  expect(text).toContain('the record ends in +all');
  expect(text).toContain('Replace +all by ~all.');
  expect(text).not.toContain('missing or wrong');
});
