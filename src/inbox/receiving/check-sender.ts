// Decides whether to check the sender of a mail, and refuses mail by the DMARC policy of the
// author's domain. authenticate.ts does the check.
//
//   policy     | DMARC     | answer, with `smtp.inbound.enforceDmarc`
//   reject     | fail      | 550 5.7.1
//   reject     | permerror | 550 5.7.1: a second author must not hide an author that fails
//   reject     | temperror | 451 4.7.1, twice an hour for a client and a domain; then accepted
//   other      | any       | accepted
//   not read   | temperror | accepted: no known policy asks for a refusal
//
// A fail or temperror is accepted if a trusted sealer saw DMARC pass (trusted-sealer.ts).
import type { App } from '../../core/app.ts';
import type { InboundEnvelope } from '../../outbound/messages/contents/projection.ts';
import { isOwnTransaction } from '../../outbound/queue/attempting/own-transactions.ts';
import { isInRanges, networkOf, parseRange } from '../../platform/net/network-address.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';
import { type Authentication, authenticate } from './authenticate.ts';
import type { AuthResolver } from './check-lookups.ts';
import { type InboundRefusal, refused } from './refusal.ts';

/** Envelope and client of a mail. */
export interface SenderEnvelope {
  /** Empty for the null return path. */
  mailFrom: string;
  addressees: readonly { address: string }[];
  remoteAddress: string;
  helo: string;
}

export type Verdicts = Pick<
  InboundEnvelope,
  | 'dkimVerdict'
  | 'spfVerdict'
  | 'dmarcVerdict'
  | 'arcVerdict'
  | 'authenticationResults'
  | 'dmarcPolicy'
  | 'trustedSealer'
>;

const unchecked: Verdicts = { dkimVerdict: null, spfVerdict: null, dmarcVerdict: null };

const mostDeferrals = 2;
const deferralWindowMs = 3_600_000;
/** Most pairs of client network and domain with a count. An evicted pair begins a new count. */
const mostCounted = 10_000;

/** Deferrals within the hour since `since`, by the monotonic clock. */
interface Deferrals {
  count: number;
  since: number;
}

const checksOf = perApp(({ config }: App) => ({
  trusted: config.smtp.inbound.trustedNetworks.flatMap((text) => parseRange(text) ?? []),
  trustedSealers: new Set(config.smtp.inbound.trustedSealers.map((name) => name.toLowerCase())),
  /** Deferrals by client network and domain. */
  deferrals: recentlyUsed<Deferrals>(mostCounted),
}));

/**
 * Counts a deferral of this client and domain. Returns false if the deferrals of the hour are used
 * up.
 */
function takeDeferral(app: App, remoteAddress: string, domain: string): boolean {
  const { deferrals } = checksOf(app);
  const key = `${networkOf(remoteAddress)} ${domain}`;
  const now = app.clock.elapsed();
  const known = deferrals.get(key);
  const current = known && now - known.since < deferralWindowMs ? known : { count: 0, since: now };
  if (current.count >= mostDeferrals) return false;
  deferrals.set(key, { ...current, count: current.count + 1 });
  return true;
}

function refusalFor(
  app: App,
  remoteAddress: string,
  { dmarcVerdict, dmarcPolicy, dmarcDomain, trustedSealer }: Authentication,
): InboundRefusal | null {
  if (trustedSealer !== null) return null;
  if (!app.config.smtp.inbound.enforceDmarc || dmarcPolicy !== 'reject') return null;
  const domain = dmarcDomain ?? '';
  if (dmarcVerdict === 'fail' || dmarcVerdict === 'permerror') {
    const text = 'The policy of the domain in From refuses this message (DMARC)';
    return { ...refused(550, '5.7.1', text), domain };
  }
  if (dmarcVerdict !== 'temperror' || !takeDeferral(app, remoteAddress, domain)) return null;
  const text = 'The domain in From cannot be checked now (DMARC), try again later';
  return { ...refused(451, '4.7.1', text), domain };
}

/**
 * Returns the verdicts, or the refusal that DMARC requires. Does not check mail from the trusted
 * networks of the configuration, or mail that this daemon delivers to itself: then the verdicts are
 * null.
 */
export async function checkSender(
  app: App,
  { mailFrom, addressees, remoteAddress, helo }: SenderEnvelope,
  raw: Buffer,
): Promise<Verdicts | InboundRefusal> {
  if (isInRanges(remoteAddress, checksOf(app).trusted)) return unchecked;
  const recipients = addressees.map(({ address }) => address);
  if (isOwnTransaction(app, mailFrom, recipients)) return unchecked;
  const found = await authenticate(raw, {
    ip: remoteAddress,
    helo,
    mailFrom,
    mta: app.config.delivery.hostname,
    resolver: ((name, type) => app.dns.resolveSoon(name, type)) as AuthResolver,
    clock: app.clock,
    trustedSealers: checksOf(app).trustedSealers,
  });
  const refusal = refusalFor(app, remoteAddress, found);
  if (refusal) return refusal;
  const { dmarcPolicy, dmarcDomain: _, trustedSealer, ...verdicts } = found;
  return {
    ...verdicts,
    ...(dmarcPolicy && { dmarcPolicy }),
    ...(trustedSealer && { trustedSealer }),
  };
}
