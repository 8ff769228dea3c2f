// A certificate from Pebble, which is stricter about RFC 8555 than authorities are: it refuses some
// good nonces, and every URL, key and signature that deviates.
import { get } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, it } from 'vitest';
import { refreshActiveHosts } from '../../../../src/outbound/tracking/custom/active-hosts.ts';
import { enableTracking } from '../../../../src/outbound/tracking/custom/hosts.ts';
import { freePort, pebbleProgram, startPebble } from '../../../support/pebble.ts';
import { testCert } from '../../../support/test-cert.ts';
import { hostname, trackingWorld } from './world.ts';

if (pebbleProgram === null) {
  process.stdout.write('pebble is not installed (Debian: apt install pebble): skipped\n');
}

/** Requests over TLS with the certificate verified against `root`; returns the status. */
function statusOver(port: number, path: string, root: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const where = { host: '127.0.0.1', port, path, servername: hostname, ca: root, agent: false };
    get({ ...where, headers: { host: hostname } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });
}

it.skipIf(pebbleProgram === null)('a certificate issued by Pebble is served', async () => {
  const port = await freePort();
  const directoryUrl = `https://localhost:${port}/dir`;
  // OpenSSL uses the clock of the machine.
  const world = await trackingWorld({ start: Date.now(), directoryUrl });
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, testCert]);
  const { listeners } = await world.run();
  const pebble = await startPebble(pebbleProgram ?? '', {
    ...{ port, dns: world.dns.address, challengePort: listeners.httpPort ?? 0 },
  });
  try {
    const { app, operator } = world.test;
    await enableTracking(app, operator, world.domain.id, { label: 'links' });
    world.publish(await world.state());
    const ended = await world.until(({ status }) => status === 'active' || status === 'failed');
    expect(ended).toMatchObject({
      status: 'active',
      sslStatus: 'active',
      certificate: { reason: null },
      verificationErrors: [],
    });
    await refreshActiveHosts(app);
    expect(await statusOver(listeners.httpsPort ?? 0, '/t/o/token', pebble.root)).toBe(200);
  } finally {
    setDefaultCACertificates(trusted);
    await world.close();
    await pebble.stop();
  }
});
