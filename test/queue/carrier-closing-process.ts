// A separate process for carrier-thread.test.ts: at its end only the closing of the carrier keeps it alive.
// Prints the outcome of its message, and `closed` at the end.

import { loadConfig } from '../../src/config/config.ts';
import { createCarrierThread } from '../../src/queue/carrier/carrier-thread.ts';
import { Lanes } from '../../src/queue/lanes/lanes.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLogger } from '../../src/runtime/log.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { loadProviders } from '../../src/smtp/load-providers.ts';
import { plainInput } from '../mime/compose-corpus.ts';
import { relay } from '../smtp/test-routes.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';

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
