// Checks of the smarthosts: mail that has waited for hours for an unreached smarthost, and
// smarthosts without a known SPF mechanism.

import type { App } from '../core/app.ts';
import { unknownSentence, unknownSmarthosts } from '../identity/domains/expected-spf.ts';
import { unreachedRelays } from '../outbound/queue/desk/unreached-relays.ts';
import { type Check, type Found, ok, type Surroundings, warn } from './finding.ts';

const hourMs = 3_600_000;

function hasRelay({ config }: App): boolean {
  const { mode, routes } = config.delivery;
  return mode === 'relay' || routes.some(({ via }) => via === 'relay');
}

async function checkSmarthost({ app }: Surroundings): Promise<Found> {
  if (!hasRelay(app)) return ok('no mail goes to a smarthost');
  const found = await unreachedRelays(app);
  if (found.length === 0) return ok('no mail has waited three hours for a smarthost');
  const now = app.clock.now();
  const sentences = found.map(({ relay, since }) => {
    return `the smarthost ${relay} has not been reached for ${Math.floor((now - since) / hourMs)} h`;
  });
  const remedy = 'Check delivery.relay: its host, its port, and the firewall between.';
  return warn(sentences.join('; '), remedy, 'svc doctor --mail --only outgoing-port');
}

async function checkSpf({ app }: Surroundings): Promise<Found> {
  if (!hasRelay(app)) return ok('no mail goes to a smarthost');
  const [first, ...further] = unknownSmarthosts(app.config.delivery);
  if (!first) return ok('the SPF mechanism of each smarthost is known');
  const sentences = [first, ...further].map((smarthost) => unknownSentence(smarthost).error);
  const { remedy } = unknownSentence(first);
  return warn(sentences.join('; '), remedy, 'svc config show --origin');
}

export const smarthostChecks: readonly Check[] = [
  { name: 'smarthost', look: checkSmarthost },
  { name: 'smarthost-spf', look: checkSpf },
];
