// A separate process for carrier-thread.test.ts: at its end only the closing of the carrier keeps
// it alive. Prints the outcome of its message, and `closed` at the end.

import { loadConfig } from '../../../src/core/config/config.ts';
import { loadProviders } from '../../../src/mail/smtp/load-providers.ts';
import { createCarrierThread } from '../../../src/outbound/queue/carrier/carrier-thread.ts';
import { Lanes } from '../../../src/outbound/queue/lanes/lanes.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';
import { createLogger } from '../../../src/platform/runtime/log.ts';
import { systemRandom } from '../../../src/platform/runtime/random.ts';
import { plainInput } from '../../mail/mime/compose-corpus.ts';
import { relay } from '../../mail/smtp/test-routes.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';

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
