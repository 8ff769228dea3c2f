// Check of the smarthosts: whether mail has waited for hours for a smarthost that was not reached.
import { unreachedRelays } from '../outbound/queue/desk/unreached-relays.ts';
import { type Check, type Found, ok, type Surroundings, warn } from './finding.ts';

const hourMs = 3_600_000;

async function checkSmarthost({ app }: Surroundings): Promise<Found> {
  const { mode, routes } = app.config.delivery;
  const hasRelay = mode === 'relay' || routes.some(({ via }) => via === 'relay');
  if (!hasRelay) return ok('no mail goes to a smarthost');
  const found = await unreachedRelays(app);
  if (found.length === 0) return ok('no mail has waited three hours for a smarthost');
  const now = app.clock.now();
  const sentences = found.map(({ relay, since }) => {
    return `the smarthost ${relay} has not been reached for ${Math.floor((now - since) / hourMs)} h`;
  });
  const remedy = 'Check delivery.relay: its host, its port, and the firewall between.';
  return warn(sentences.join('; '), remedy, 'svc doctor --mail --only outgoing-port');
}

export const smarthostChecks: readonly Check[] = [{ name: 'smarthost', look: checkSmarthost }];
