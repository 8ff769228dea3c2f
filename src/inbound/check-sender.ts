// Who may be whom: whether the sender of a mail is checked, what its verdicts are, and the
// refusal that the policy of the author's domain asks for. How a mail is checked is authenticate.ts.
//
//   policy     | DMARC     | answer, with `smtp.inbound.enforceDmarc`
//   reject     | fail      | 550 5.7.1
//   reject     | permerror | 550 5.7.1: of one of several authors, whom the others do not hide
//   reject     | temperror | 451 4.7.1, twice an hour for a client and a domain; then taken
//   other      | any       | taken
//   not read   | temperror | taken: nobody asked for a refusal
import type { App } from '../app.ts';
import type { InboundEnvelope } from '../messages/projection.ts';
import { isInRanges, networkOf, parseRange } from '../net/network-address.ts';
import { isOwnTransaction } from '../queue/own-transactions.ts';
import { perApp } from '../runtime/per-app.ts';
import { recentlyUsed } from '../runtime/recently-used.ts';
import { type Authentication, authenticate } from './authenticate.ts';
import type { AuthResolver } from './check-lookups.ts';
import { type InboundRefusal, refused } from './refusal.ts';

/** What is known of a mail before its body. */
export interface SenderEnvelope {
  /** Empty for the null return path. */
  mailFrom: string;
  addressees: readonly { address: string }[];
  remoteAddress: string;
  helo: string;
}

export type Verdicts = Pick<
  InboundEnvelope,
  'dkimVerdict' | 'spfVerdict' | 'dmarcVerdict' | 'dmarcPolicy'
>;

const unchecked: Verdicts = { dkimVerdict: null, spfVerdict: null, dmarcVerdict: null };

const mostDeferrals = 2;
const deferralWindowMs = 3_600_000;
/** Clients and domains counted: those counted last. Who is forgotten is asked to wait once more. */
const mostCounted = 10_000;

/** By the clock that nobody sets: how often within the hour since `since`. */
interface Deferrals {
  count: number;
  since: number;
}

const checksOf = perApp(({ config }: App) => ({
  trusted: config.smtp.inbound.trustedNetworks.flatMap((text) => parseRange(text) ?? []),
  /** By client network and domain. */
  deferrals: recentlyUsed<Deferrals>(mostCounted),
}));

/** Counts one more of this client and domain, unless it had its share within the hour. */
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
  { dmarcVerdict, dmarcPolicy, dmarcDomain }: Authentication,
): InboundRefusal | null {
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
 * The verdicts, or the refusal that DMARC asks for. Every client is checked, but gateways that the
 * configuration trusts, and this daemon as it delivers mail of ours to itself: then all are null.
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
  });
  const refusal = refusalFor(app, remoteAddress, found);
  if (refusal) return refusal;
  const { dkimVerdict, spfVerdict, dmarcVerdict, dmarcPolicy } = found;
  return { dkimVerdict, spfVerdict, dmarcVerdict, ...(dmarcPolicy && { dmarcPolicy }) };
}
