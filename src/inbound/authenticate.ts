// The doorway to mailauth: SPF (RFC 7208), DKIM (RFC 6376), ARC (RFC 8617) and DMARC (RFC 9989) of
// one received mail, as verdicts for the message (specification 2.2). Whether a failing
// mail is refused is check-sender.ts. All names are asked through the resolver given.
//
//   check        | asks for                     | at the same time as | DNS for at most
//   SPF          | the record of MAIL FROM      | DKIM, policy        | 5 s
//   DKIM, ARC    | keys, once the body is read  | SPF, policy         | 5 s
//   DMARC policy | the records of the author    | SPF, DKIM           | 5 s
//   alignment    | records of what passed       | nothing             | 2 s more
//
// Which verdict that makes of DMARC is dmarc-check.ts.
import { Readable } from 'node:stream';
import type { ARCData, ARCResult, DKIMResult, DKIMVerifyResult, SPFResult } from 'mailauth';
import { cleanLine } from '../mime/parse/header-fields.ts';
import type { Clock } from '../runtime/clock.ts';
import { type BoundMail, boundMail, paced } from './bound-mail.ts';
import { type AuthResolver, boundLookups, lookupMs } from './check-lookups.ts';
import { dmarcCheck, type Identifiers, type Judged, judge } from './dmarc-check.ts';
import { checkSpf } from './spf.ts';

export type AuthVerdict =
  | 'pass'
  | 'fail'
  | 'softfail'
  | 'neutral'
  | 'none'
  | 'policy'
  | 'temperror'
  | 'permerror';

export interface AuthSession {
  /** The client's address. */
  ip: string;
  helo: string;
  /** MAIL FROM without brackets; empty for the null return path. */
  mailFrom: string;
  /** Our name in Authentication-Results (RFC 8601 2.5). */
  mta: string;
  resolver: AuthResolver;
  clock: Clock;
}

export interface Authentication {
  /** The best of all signatures: one that passes is enough (RFC 6376 6.1). */
  dkimVerdict: AuthVerdict;
  spfVerdict: AuthVerdict;
  /** `fail` only where no aligned check was left open by DNS trouble; else `temperror`. */
  dmarcVerdict: AuthVerdict;
  /**
   * What the author's domain asks for: `none`, `quarantine`, `reject`; null without a record, or
   * where it could not be read. Of several authors it is `reject` if one fails who asks for that.
   */
  dmarcPolicy: string | null;
  /** The domain whose record gave the policy, else the author's organizational domain. */
  dmarcDomain: string | null;
  /** The value of an Authentication-Results field, on one line. */
  authenticationResults: string;
}

const checkMs = 5_000;
/** What no bound of the DNS ends, such as hashing on a machine that stands still. */
const lastResortMs = 30_000;
/** An SPF record at its limits, 10 terms with 10 hosts each, stays below; a DNS flood does not. */
const mostSpfLookups = 130;
/** 10 signatures, and an ARC chain of 50. */
const mostKeyLookups = 64;
const maxResultCharacters = 8192;

const verdicts = new Set<string>([
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'policy',
  'temperror',
  'permerror',
] satisfies AuthVerdict[]);
/** Which of several DKIM results speaks for the mail. */
const dkimOrder: AuthVerdict[] = ['pass', 'temperror', 'policy', 'fail', 'neutral', 'permerror'];

function asVerdict(result: string | undefined): AuthVerdict {
  return result !== undefined && verdicts.has(result) ? (result as AuthVerdict) : 'none';
}

/** A changed body is `fail` (RFC 8601 2.7.1); mailauth calls it neutral unless it is strict. */
function dkimVerdictOf({ status, bodyHash, bodyHashExpecting }: DKIMResult): AuthVerdict {
  const verdict = asVerdict(status.result);
  const isChanged = Boolean(bodyHash && bodyHashExpecting) && bodyHash !== bodyHashExpecting;
  return verdict === 'neutral' && isChanged ? 'fail' : verdict;
}

function bestDkim(results: DKIMResult[]): AuthVerdict {
  const found = new Set(results.map(dkimVerdictOf));
  return dkimOrder.find((verdict) => found.has(verdict)) ?? 'none';
}

/** The parts of an Authentication-Results field, as far as they are known. */
function resultsOf(
  spf: Check<SPFResult>,
  found: Check<DkimFound>,
  judged: Check<Judged>,
): string[] {
  const dkim = typeof found === 'string' ? [] : found.dkim.results.map(({ info }) => info);
  const arc = typeof found === 'string' ? null : found.arc;
  const dmarc = typeof judged === 'string' ? null : judged.dmarc;
  return [
    ...(typeof found === 'string' ? [`dkim=${found}`] : dkim),
    typeof spf === 'string' ? `spf=${spf}` : spf.info,
    arc?.info,
    typeof judged === 'string'
      ? `dmarc=${judged}`
      : dmarc?.info?.replace(/^dmarc=[a-z]+/, `dmarc=${judged.verdict}`),
  ].filter((part) => part !== undefined);
}

function summarize(
  mta: string,
  spf: Check<SPFResult>,
  found: Check<DkimFound>,
  judged: Check<Judged>,
): Authentication {
  const dmarc = typeof judged === 'string' ? null : judged.dmarc;
  const value = [mta, ...resultsOf(spf, found, judged)].join('; ');
  return {
    dkimVerdict: typeof found === 'string' ? found : bestDkim(found.dkim.results),
    spfVerdict: typeof spf === 'string' ? spf : asVerdict(spf.status.result),
    dmarcVerdict: asVerdict(typeof judged === 'string' ? judged : judged.verdict),
    dmarcPolicy: dmarc?.rr ? dmarc.policy : null,
    dmarcDomain: dmarc?.policyDomain ?? dmarc?.domain ?? null,
    authenticationResults: cleanLine(value).slice(0, maxResultCharacters),
  };
}

/** A check that could not be done at all says only why. */
type Check<T> = T | 'temperror' | 'permerror';

/** What mailauth cannot read is `permerror`; what does not end by itself is `temperror`. */
async function settle<T>(clock: Clock, check: Promise<T>): Promise<Check<T>> {
  const late = Promise.withResolvers<'temperror'>();
  const cancel = clock.after(lastResortMs, () => late.resolve('temperror'));
  try {
    return await Promise.race([check, late.promise]);
  } catch {
    return 'permerror';
  } finally {
    cancel();
  }
}

interface DkimFound {
  dkim: DKIMVerifyResult;
  arc: ARCResult | null;
}

/**
 * mailauth looks keys up in turn, so that each signature has its share of the time: those that a
 * sender puts in front of another cannot keep its key from being found.
 */
async function checkDkim(
  { pieces, signatures }: BoundMail,
  { resolver, clock }: AuthSession,
  signal: AbortSignal,
): Promise<DkimFound> {
  const { arc, dkimVerify } = await import('mailauth');
  const { resolve } = boundLookups(resolver, clock, {
    most: mostKeyLookups,
    // One more for the message signature of an ARC chain.
    eachMs: Math.min(lookupMs, checkMs / (signatures + 1)),
    allMs: checkMs,
  });
  const dkim = await dkimVerify(Readable.from(paced(pieces, signal)), {
    resolver: resolve,
    rejectRsaSha1: true,
    curTime: new Date(clock.now()),
  });
  // A chain that cannot be read takes nothing from the signatures.
  const chain = dkim.arc && arc(dkim.arc as ARCData, { resolver: resolve }).catch(() => null);
  return { dkim, arc: (await chain) ?? null };
}

/** The identifiers of the checks that ended with `result`; null where not even they are known. */
function identifiersOf(
  result: 'pass' | 'temperror',
  spf: Check<SPFResult>,
  found: Check<DkimFound>,
): Identifiers | null {
  if (spf === result || found === result) return null;
  const signatures = typeof found === 'string' ? [] : found.dkim.results;
  return {
    spf: typeof spf !== 'string' && spf.status.result === result ? [spf.domain] : [],
    dkim: signatures
      .filter(({ status }) => status.result === result)
      .flatMap(({ id, signingDomain, status: { underSized } }) =>
        signingDomain === undefined
          ? []
          : [{ domain: signingDomain, ...(id && { id }), ...(underSized && { underSized }) }],
      ),
  };
}

/**
 * Checks a mail. Never rejects. DNS trouble is `temperror` of the check that met it and of no other;
 * a mail that mailauth cannot read is `permerror`. Waits 7 s for the DNS at most, and hashes the
 * whole body where it is signed or sealed. Reads at most ten DKIM signatures, and 256 KB and 2,000 lines of
 * header; with a longer header DMARC is `permerror`.
 */
export async function authenticate(raw: Buffer, session: AuthSession): Promise<Authentication> {
  const { clock } = session;
  const abort = new AbortController();
  const mail = boundMail(raw);
  const dmarc = dmarcCheck(mail.author, session.resolver, clock);
  const { resolve } = boundLookups(session.resolver, clock, {
    most: mostSpfLookups,
    eachMs: lookupMs,
    allMs: checkMs,
  });
  const nobody = { spf: [], dkim: [] };
  const noAuthor = { headerFrom: [], fromFields: 0 };
  try {
    const [spf, found] = await Promise.all([
      settle(clock, checkSpf(session, resolve)),
      settle(clock, checkDkim(mail, session, abort.signal)),
      settle(
        clock,
        dmarc.author.then((author) => dmarc.evaluate(author, nobody)),
      ),
    ]);
    dmarc.align();
    const evidence = {
      author: typeof found === 'string' ? await dmarc.author.catch(() => noAuthor) : found.dkim,
      isWhole: !mail.isCut,
      passed: identifiersOf('pass', spf, found) ?? nobody,
      open: identifiersOf('temperror', spf, found),
      arc: typeof found === 'string' ? null : found.arc,
    };
    return summarize(session.mta, spf, found, await settle(clock, judge(dmarc, evidence)));
  } finally {
    abort.abort();
  }
}
