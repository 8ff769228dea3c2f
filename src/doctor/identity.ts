// Checks of the names under which mail is sent: domains, and certificates.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { App } from '../core/app.ts';
import { standingOf } from '../identity/domains/owners.ts';
import {
  countDomains,
  selectRegistrations,
  selectScheduled,
  selectUnverified,
} from '../identity/domains/queries.ts';
import { findGoneRecords } from '../identity/domains/verification.ts';
import { selectExpiringHosts } from '../outbound/tracking/custom/queries.ts';
import { messageOf, ResourceNotFoundError } from '../platform/errors.ts';
import { within } from '../platform/runtime/clock.ts';
import type { Db } from '../platform/store/db.ts';
import { type Check, type Found, fail, ok, skipped, warn } from './finding.ts';

const mostNamed = 5;
const dayMs = 24 * 3600_000;
const soonMs = 14 * dayMs;

/**
 * Returns the status of a domain as text, and whether this service still receives the mail of the
 * domain.
 */
async function standingIn(
  db: Db,
  { id, domain, status, receives_mail }: Awaited<ReturnType<typeof selectUnverified>>[number],
): Promise<string> {
  const standing = standingOf(await selectRegistrations(db, domain));
  const isHere = receives_mail === 1;
  if (isHere && standing.state === 'disputed') return `${status}, its mail is deferred`;
  const isLast = standing.state === 'owned' && standing.owner.id === id;
  return isHere && isLast ? `${status}, still receives mail` : status;
}

async function checkDomains(app: App): Promise<Found> {
  const { store } = app;
  const counts = await countDomains(store.db);
  const all = counts.reduce((sum, { count }) => sum + Number(count), 0);
  if (all === 0) return skipped('there is no sending domain yet');
  const verified = Number(counts.find(({ status }) => status === 'verified')?.count ?? 0);
  const looked = await lookUpDomains(app);
  const { gone } = looked;
  const lookedUp = lookUpText(looked);
  if (verified === all && gone.length === 0) {
    if (looked.asked === 0 || looked.count > 0) {
      return ok(`all ${all} sending domains are verified${lookedUp}`);
    }
    return skipped(
      `all ${all} sending domains were verified at their last check; DNS did not answer for their records now`,
    );
  }
  const missed = gone
    .slice(0, mostNamed)
    .map(({ domain, records }) => `${domain} lacks ${records.join(', ')}`);
  const lost =
    gone.length === 0
      ? []
      : [`the records of ${gone.length} verified domains are gone: ${missed.join('; ')}`];
  const named = await selectUnverified(store.db, mostNamed);
  const names: string[] = [];
  for (const one of named) names.push(`${one.domain} (${await standingIn(store.db, one)})`);
  const pending =
    verified === all
      ? []
      : [`${all - verified} of ${all} sending domains are not verified: ${names.join(', ')}`];
  const found = [...pending, ...lost].join('; ') + lookedUp;
  const [first] = [
    ...named.map(({ domain, organization_id }) => ({ domain, organizationId: organization_id })),
    ...gone,
  ];
  const command = first && `svc domains dns ${first.domain} --org ${first.organizationId}`;
  const remedy = 'Publish the records, and check them again: svc domains verify.';
  const isFailed = named.some(({ status }) => status === 'failed');
  return (isFailed ? fail : warn)(found, remedy, command ?? null);
}

interface Expiry {
  what: string;
  at: number;
}

function expiryOfFile(path: string, file: string): Expiry | { problem: string } {
  try {
    const { validTo } = new X509Certificate(readFileSync(file));
    return { what: `${file} (${path})`, at: Date.parse(validTo) };
  } catch (error) {
    return { problem: `${file} (${path}) cannot be read: ${messageOf(error)}` };
  }
}

async function checkCertificates({ config, store, clock }: App): Promise<Found> {
  const { inbound, submission } = config.smtp;
  const files = [
    ['smtp.inbound.tls.certFile', inbound.tls.certFile],
    ['smtp.submission.tls.certFile', submission.tls.certFile],
  ] as const;
  const read = files.flatMap(([path, file]) => (file === null ? [] : [expiryOfFile(path, file)]));
  const hosts = await selectExpiringHosts(store.db, clock.now() + soonMs, mostNamed);
  const ofHosts = hosts.map(({ hostname, certificate_expires_at: at }) => {
    return { what: hostname, at: at ?? 0 };
  });
  const all = [...read, ...ofHosts];
  if (all.length === 0) return skipped('no certificate is configured');
  const problems = all.flatMap((one) => ('problem' in one ? [one.problem] : []));
  const ends = all.flatMap((one) => ('problem' in one ? [] : [one]));
  const due = ends.filter(({ at }) => at < clock.now() + soonMs).sort((a, b) => a.at - b.at);
  const lines = due.map(({ what, at }) => `${what} ends ${new Date(at).toISOString()}`);
  const found = [...problems, ...lines].join('; ');
  if (found === '') return ok(`${ends.length} certificates are valid for 14 days and more`);
  const isOver = problems.length > 0 || due.some(({ at }) => at <= clock.now());
  const [host] = ofHosts;
  const remedy = host
    ? 'Let it be renewed: svc tracking recheck. Files are renewed by the program that made them.'
    : 'Renew the files; the daemon reads them again at SIGHUP.';
  return (isOver ? fail : warn)(found, remedy, 'svc config check');
}

export const identityChecks: readonly Check[] = [
  { name: 'domains', look: ({ app }) => checkDomains(app) },
  { name: 'certificates', look: ({ app }) => checkCertificates(app) },
];

// Looks up the records of domains again for `svc doctor`: the stored states may be hours old.

/** Time for all look-ups together. */
const lookUpMs = 10_000;
const mostAtOnce = 8;
/** Most domains read: more than can be looked up in ten seconds. */
const mostDomains = 2_000;

interface LookedUp {
  /** Number of domains with records to look up. */
  asked: number;
  /** Number of domains for which DNS answered in time. */
  count: number;
  /** Verified domains with records that are gone. */
  gone: { domain: string; organizationId: string; records: string[] }[];
}

function lookUpText({ asked, count }: LookedUp): string {
  if (count === 0) return '';
  const part = count === asked ? '' : ` of ${asked}`;
  return `; the records of ${count}${part} were looked up now`;
}

/** Looks up the records of verified domains, as many as it can in ten seconds. */
async function lookUpDomains(app: App): Promise<LookedUp> {
  const waiting = await selectScheduled(app.store.db, mostDomains);
  const found: LookedUp = { asked: waiting.length, count: 0, gone: [] };
  let isOver = false;
  const lookUpSome = async () => {
    for (let row = waiting.shift(); row && !isOver; row = waiting.shift()) {
      const records = await findGoneRecords(app, row).catch(unlessDeleted);
      if (isOver) return;
      if (records === null) continue;
      found.count += 1;
      const { domain, organization_id: organizationId } = row;
      if (records.length > 0) found.gone.push({ domain, organizationId, records });
    }
  };
  const late = new Error('the time for look-ups is over');
  const all = Promise.all(Array.from({ length: mostAtOnce }, lookUpSome));
  try {
    await within(app.clock, lookUpMs, all, () => late);
  } catch (error) {
    if (error !== late) throw error;
    all.catch((failure: unknown) => app.log.debug({ err: failure }, 'a late look-up failed'));
  } finally {
    isOver = true;
  }
  return found;
}

function unlessDeleted(error: unknown): string[] {
  if (error instanceof ResourceNotFoundError) return [];
  throw error;
}
