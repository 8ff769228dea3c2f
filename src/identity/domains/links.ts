// A link to send to a colleague who keeps the DNS: a page without a key that shows a domain and its
// records, and nothing else (daemon/console/doors/domain-link.ts).
//
//   state  | event                          | then
//   -------+--------------------------------+-------------------------------
//   (none) | made on the page of the domain | works
//   works  | made again                     | the earlier link is unknown
//   works  | ended, or the domain deleted   | unknown
//   works  | 7 days                         | unknown
//   works  | the store is restored          | unknown
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { record } from '../../history/events/record.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { hashOfToken, newToken } from '../../platform/runtime/tokens.ts';
import { domainChange, getDomainRows, toDomain } from './domains.ts';
import * as queries from './queries.ts';
import type { DnsRecord } from './schema.ts';

const linkLivesMs = 7 * 86_400_000;

export interface DomainLink {
  createdAt: string;
  expiresAt: string;
}

/**
 * Makes the link of a domain, in place of an earlier link. Only this answer contains the token.
 * @throws ResourceNotFoundError.
 */
export async function makeDomainLink(
  app: App,
  caller: Caller,
  id: string,
): Promise<DomainLink & { token: string }> {
  const token = newToken(app.random);
  const now = app.clock.now();
  const row = {
    domain_id: id,
    hash: hashOfToken(token),
    created_at: now,
    expires_at: now + linkLivesMs,
  };
  await app.store.write(async (trx) => {
    const domain = await queries.domains.get(trx, caller.organizationId, id);
    await queries.putDomainLink(trx, row);
    await record(app, trx, caller, domainChange('domain.link-made', domain));
  });
  return { token, createdAt: isoTime(row.created_at), expiresAt: isoTime(row.expires_at) };
}

/** Ends the link of a domain. Without a link nothing changes. @throws ResourceNotFoundError. */
export async function endDomainLink(app: App, caller: Caller, id: string): Promise<void> {
  await app.store.write(async (trx) => {
    const domain = await queries.domains.get(trx, caller.organizationId, id);
    const ended = await queries.deleteDomainLink(trx, id);
    if (ended.length === 0) return;
    await record(app, trx, caller, domainChange('domain.link-ended', domain));
  });
}

/** Returns the link of a domain; null without a working link. @throws ResourceNotFoundError. */
export async function findDomainLink(
  { store, clock }: App,
  { organizationId }: Caller,
  id: string,
): Promise<DomainLink | null> {
  await queries.domains.get(store.db, organizationId, id);
  const row = await queries.findDomainLink(store.db, id);
  if (!row || row.expires_at <= clock.now()) return null;
  return { createdAt: isoTime(row.created_at), expiresAt: isoTime(row.expires_at) };
}

/** A domain with the records to publish, as last checked. */
export interface SharedDomain {
  domain: string;
  records: DnsRecord[];
  expiresAt: string;
}

/** Returns the domain of a token; null for an unknown or ended link. Looks nothing up in DNS. */
export async function readSharedDomain(app: App, token: string): Promise<SharedDomain | null> {
  const { db } = app.store;
  const link = await queries.findDomainLinkBy(db, hashOfToken(token));
  if (!link || link.expires_at <= app.clock.now()) return null;
  const organizationId = await queries.findDomainOwner(db, link.domain_id);
  if (organizationId === undefined) return null;
  const stored = await getDomainRows(app, db, organizationId, link.domain_id);
  const { domain, dnsRecords: records } = toDomain(app, stored);
  return { domain, records, expiresAt: isoTime(link.expires_at) };
}
