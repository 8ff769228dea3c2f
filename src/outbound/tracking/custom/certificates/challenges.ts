// Answers challenges in progress (RFC 8555 8.3, 8.4). Reads the store for each question, because a
// concurrent daemon may just have begun the order.
import type { App } from '../../../../core/app.ts';
import type { Zone } from '../../../../platform/net/dns-zone.ts';
import { idPrefixes } from '../../../../platform/runtime/ids.ts';
import { findChallenge, findChallengeById } from '../queries.ts';
import { challengeZone, trackingTarget } from '../target.ts';

const tokenPattern = /^[A-Za-z0-9_-]{16,256}$/;
const idTail = /^[0-9a-z]{16,24}$/;

/** Returns the content of a file below /.well-known/acme-challenge/, or null. */
export async function httpChallenge(
  { store, config }: App,
  hostname: string,
  token: string,
): Promise<string | null> {
  const { challenge } = config.tracking.acme;
  if (challenge !== 'http-01' || !tokenPattern.test(token)) return null;
  const found = await findChallenge(store.db, hostname);
  return found?.challenge_token === token ? found.challenge_value : null;
}

/** Returns the zone to which the challenges of all hosts are delegated. */
export function challengeZoneOf(app: App): Zone {
  const name = challengeZone(app.config);
  return {
    name,
    nameServer: trackingTarget(app.config),
    async texts(asked) {
      const label = asked.slice(0, -name.length - 1);
      if (!idTail.test(label)) return undefined;
      const id = `${idPrefixes.trackingHost}_${label}`;
      const found = await findChallengeById(app.store.db, id);
      if (!found) return undefined;
      return found.challenge_value === null ? [] : [found.challenge_value];
    },
  };
}
