// Shared by the warming tests: a verified domain, mail from it, and the outcomes of that mail.
import { sql } from 'kysely';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { countHealth } from '../../../src/identity/reputation/health.ts';
import type { HealthTally } from '../../../src/identity/reputation/health-queries.ts';
import type { StartWarming, Warming } from '../../../src/identity/warming/schema.ts';
import { acceptAll } from '../../../src/outbound/sending/accept.ts';
import { readSendContent } from '../../../src/outbound/sending/content.ts';
import { recentContents } from '../../../src/outbound/sending/recent-contents.ts';
import { payloadFor } from '../../support/delivery.ts';

export const warm = 'warm.example';
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** A plan of four windows: 100, 200, 400, 500. */
export const ramp: StartWarming = {
  identity: 'new',
  initialDailyRecipients: 100,
  dailyGrowthPercent: 100,
  targetDailyRecipients: 500,
};

/** Adds a verified domain. */
export async function provenDomain(app: App, caller: Caller, domain = warm): Promise<string> {
  const { id } = await addDomain(app, caller, { domain, dkim: 'ed25519' });
  await verifyDomain(app, caller, id, { force: true });
  return id;
}

const mostRecipients = 50;

/** Accepts this many recipients in one transaction, as a group of sends does. */
export async function sendTo(app: App, caller: Caller, recipients: number, domain = warm) {
  const all = Array.from({ length: recipients }, (_, index) => `u${index}@example.com`);
  const from = { email: `news@${domain}` };
  const requests = Array.from({ length: Math.ceil(recipients / mostRecipients) }, (_, index) => {
    const to = all.slice(index * mostRecipients, (index + 1) * mostRecipients);
    const payload = payloadFor(to, { from });
    const content = readSendContent(caller.organizationId, payload);
    return { caller, payload, content, idempotency: null };
  });
  const recent = recentContents();
  const results = await app.store.write((trx) => acceptAll(app, trx, recent(trx), requests));
  for (const result of results) if ('error' in result) throw result.error;
}

/** Counts this much mail of a domain as just ended. */
export function outcomes(
  app: App,
  { organizationId }: Caller,
  counts: Partial<HealthTally>,
  fromDomain = warm,
): Promise<unknown> {
  const observation = { organizationId, sender: null, fromDomain, counts };
  return app.store.write((trx) => countHealth(app, trx, [observation]));
}

/**
 * Lists windows in short: `1 closed 100 7` is the first, with its allowance and its accepted count.
 */
export function inShort({ batches }: Warming): string[] {
  return batches.map(
    ({ sequence, state, allowanceRecipients, acceptedRecipients }) =>
      `${sequence} ${state} ${allowanceRecipients} ${acceptedRecipients}`,
  );
}

/** Lists decisions in short, with their actors. */
export function decided({ decisions }: Warming): string[] {
  return decisions.map(({ kind, actor }) => `${kind} ${actor}`);
}

export interface ToldRow {
  type: string;
  subject: string;
  data: Record<string, unknown>;
  facts: Record<string, unknown> | null;
}

/** Reads the events of warming, in order. */
export async function warmingEvents({ store }: App): Promise<ToldRow[]> {
  const query = sql<{ event_type: string; subject: string; data: string; facts: string | null }>`
    select event_type, subject, data, facts from resource_events
    where event_type like 'warming.%' order by id`;
  return (await query.execute(store.db)).rows.map(({ event_type, subject, data, facts }) => ({
    type: event_type,
    subject,
    data: JSON.parse(data),
    facts: facts === null ? null : JSON.parse(facts),
  }));
}
