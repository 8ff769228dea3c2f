// Finds relays that could not be reached for hours, by the mail that waits for them. The store has
// that mail, so every process finds the relays, and a restart loses nothing.
import type { App } from '../../../core/app.ts';
import { createRouter, type RouteConfig } from '../../../mail/smtp/route.ts';
import { type Db, fromJson } from '../../../platform/store/db.ts';
import { lastSentAt } from '../../deliveries/queries.ts';
import { findUnreached, type UnreachedRow } from '../../deliveries/unreached-queries.ts';
import { findFromAddresses } from '../../messages/queries.ts';
import type { Attempt } from '../../messages/schema.ts';

/** Time without a connection after which a relay is reported. */
const reportedAfterMs = 3 * 3_600_000;
/** Most unreached deliveries that are examined, in the order of ids. */
const mostLooked = 200;

export interface UnreachedRelay {
  /** Host and port. */
  relay: string;
  /** Time since which no attempt has connected to the relay, in ms since 1970. */
  since: number;
}

function relaysIn({ mode, routes }: RouteConfig): number {
  return (mode === 'relay' ? 1 : 0) + routes.filter(({ via }) => via === 'relay').length;
}

/** Returns the relays that have not been reached for three hours. */
export async function unreachedRelays(app: App): Promise<UnreachedRelay[]> {
  const { delivery, mailboxes } = app.config;
  const relays = relaysIn(delivery);
  if (relays === 0) return [];
  const { db } = app.store;
  const before = app.clock.now();
  const rows = await findUnreached(db, { after: '', before, limit: mostLooked });
  if (rows.length === 0) return [];
  const chooseRoute = createRouter(delivery, { host: '', port: 0 }, mailboxes.hostedDomain);
  const from = await findFromAddresses(
    db,
    rows.map((row) => row.message_id),
  );
  const found = new Map<string, number>();
  for (const row of rows) {
    const email = from.get(row.message_id) ?? `@${row.sender_domain}`;
    const route = chooseRoute(row.email, false, { organizationId: row.organization_id, email });
    if (route.kind !== 'relay') continue;
    const relay = `${route.host}:${route.port}`;
    found.set(relay, Math.min(found.get(relay) ?? Infinity, unreachedSince(row) ?? Infinity));
  }
  const reached = relays === 1 ? await reachedAt(db) : 0;
  return [...found]
    .filter(([, since]) => since <= before - reportedAfterMs && since >= reached)
    .map(([relay, since]) => ({ relay, since }));
}

/**
 * Returns the time since which each attempt has failed to connect. Returns undefined without
 * attempts, and if the last attempt has connected.
 */
function unreachedSince({ attempts }: UnreachedRow): number | undefined {
  const all = fromJson<Attempt[]>(attempts) ?? [];
  const reached = all.findLastIndex(({ verb }) => verb !== 'connect' && verb !== 'dns');
  const first = all[reached + 1];
  return first && Date.parse(first.at);
}

/**
 * Returns the latest `sent_at` of deliveries with the status `sent`: a relay accepted the mail, and
 * no report of the delivery has come yet. Returns 0 without such a delivery.
 */
async function reachedAt(db: Db): Promise<number> {
  return (await lastSentAt(db)) ?? 0;
}
