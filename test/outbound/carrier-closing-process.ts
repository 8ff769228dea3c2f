// A process of its own for carrier-thread.test.ts: at its end nothing but the closing of the carrier keeps
// it. Says what became of its message, and `closed` if it got there.
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config.ts';
import { createLogger } from '../../src/log.ts';
import { createCarrierThread } from '../../src/outbound/carrier/carrier-thread.ts';
import { Lanes } from '../../src/outbound/lanes/lanes.ts';
import { loadProviders } from '../../src/outbound/lanes/load-providers.ts';
import { systemRandom } from '../../src/random.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { plainInput } from './compose-corpus.ts';
import { relay } from './test-routes.ts';

const sink = await startSmtpSink({ tls: false });
const { config } = loadConfig({ env: {}, cwd: import.meta.dirname });
const log = await createLogger({ level: 'silent', pretty: false });
const providers = loadProviders(null, 5);
const carrier = createCarrierThread(
  { config, clock: systemClock, log },
  {
    providers,
    lanes: new Lanes(systemClock, systemRandom(), providers),
    policies: { find: async () => null, keep: async () => {} },
  },
);
const carried = carrier.carry({
  request: { input: plainInput, keys: [], timestampSeconds: 1_763_692_020 },
  envelopes: [
    {
      organizationId: 'org_a',
      route: relay(sink.port),
      from: 'bounce@sender.test',
      recipients: ['b@example.test'],
    },
  ],
});
const [outcomes] = await Promise.all(carried);
console.log(outcomes?.[0]?.kind);
await sink.close();
await carrier.close();
console.log('closed');
