// Adapter to mailauth: SPF (RFC 7208), DKIM (RFC 6376), ARC (RFC 8617) and DMARC (RFC 9989) of one
// received mail, as verdicts for the message (specification 2.2). check-sender.ts decides on a
// refusal. All look-ups use the given resolver.
//
//   check        | looks up                     | at the same time as | DNS for at most
//   SPF          | the record of MAIL FROM      | DKIM, policy        | 5 s
//   DKIM, ARC    | keys, once the body is read  | SPF, policy         | 5 s
//   DMARC policy | the records of the author    | SPF, DKIM           | 5 s
//   alignment    | records of passed domains    | nothing             | 2 s more
//
// dmarc-check.ts derives the DMARC verdict.
import { Readable } from 'node:stream';
import type { ARCData, ARCResult, DKIMResult, DKIMVerifyResult, SPFResult } from 'mailauth';
import { cleanLine } from '../../mail/mime/headers/header-fields.ts';
import { domainOf } from '../../platform/net/address.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { type BoundMail, boundMail, paced } from './bound-mail.ts';
import { type AuthResolver, boundLookups, lookupMs } from './check-lookups.ts';
import {
  dmarcCheck,
  type Identifiers,
  type Judged,
  judge,
  withShownAuthors,
} from './dmarc-check.ts';
import { checkSpf } from './spf.ts';
import { findTrustedSealer } from './trusted-sealer.ts';

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
  /** Address of the client. */
  ip: string;
  helo: string;
  /** MAIL FROM without brackets; empty for the null return path. */
  mailFrom: string;
  /** Our name in Authentication-Results (RFC 8601 2.5). */
  mta: string;
  resolver: AuthResolver;
  clock: Clock;
  /** Domains of `smtp.inbound.trustedSealers`, in lower case. */
  trustedSealers: ReadonlySet<string>;
}

export interface Authentication {
  /** Best result of all signatures: a single pass is enough (RFC 6376 6.1). */
  dkimVerdict: AuthVerdict;
  spfVerdict: AuthVerdict;
  /** DMARC verdict: `temperror` instead of `fail` if DNS trouble left an aligned check open. */
  dmarcVerdict: AuthVerdict;
  /**
   * Result of the whole ARC chain (RFC 8617 4.4): `pass`, `fail` or `none`; `temperror` if
   * unchecked.
   */
  arcVerdict: AuthVerdict;
  /** Trusted sealer that saw DMARC pass, if DMARC fails or stays open here; else null. */
  trustedSealer: string | null;
  /**
   * Policy of the author's domain: `none`, `quarantine`, `reject`. Null without a readable record.
   * Of several authors it is `reject` if any author fails under that policy.
   */
  dmarcPolicy: string | null;
  /** Domain of the record that gave the policy; without a record, the organizational domain. */
  dmarcDomain: string | null;
  /** Value of an Authentication-Results field, on a single line. */
  authenticationResults: string;
}

const checkMs = 5_000;
/** Time after which a check is given up, even if it waits for no DNS, as on a stalled machine. */
const lastResortMs = 30_000;
/** Most look-ups of SPF: enough for a record at its limits (10 terms of 10 hosts). */
const mostSpfLookups = 130;
/** Most look-ups of keys: enough for 10 signatures and an ARC chain of 50. */
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
/**
 * DKIM verdicts in order of precedence: the first that a signature has is the verdict of the mail.
 */
const dkimOrder: AuthVerdict[] = ['pass', 'temperror', 'policy', 'fail', 'neutral', 'permerror'];

function asVerdict(result: string | undefined): AuthVerdict {
  return result !== undefined && verdicts.has(result) ? (result as AuthVerdict) : 'none';
}

/**
 * Returns the verdict of a signature: `fail` for a changed body (RFC 8601 2.7.1), which mailauth
 * calls neutral outside of strict mode.
 */
function dkimVerdictOf({ status, bodyHash, bodyHashExpecting }: DKIMResult): AuthVerdict {
  const verdict = asVerdict(status.result);
  const isChanged = Boolean(bodyHash && bodyHashExpecting) && bodyHash !== bodyHashExpecting;
  return verdict === 'neutral' && isChanged ? 'fail' : verdict;
}

function bestDkim(results: DKIMResult[]): AuthVerdict {
  const found = new Set(results.map(dkimVerdictOf));
  return dkimOrder.find((verdict) => found.has(verdict)) ?? 'none';
}

/** Returns the verdict of the ARC chain: `none` without a chain, `fail` for an unreadable chain. */
function arcVerdictOf({ dkim, arc }: DkimFound): AuthVerdict {
  return arc ? asVerdict(arc.status.result) : dkim.arc ? 'fail' : 'none';
}

/** Returns the known parts of an Authentication-Results field. */
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
    typeof found === 'string' ? `arc=${found}` : (arc?.info ?? `arc=${arcVerdictOf(found)}`),
    typeof judged === 'string'
      ? `dmarc=${judged}`
      : dmarc?.info?.replace(/^dmarc=[a-z]+/, `dmarc=${judged.verdict}`),
  ].filter((part) => part !== undefined);
}

function summarize(
  { mta, trustedSealers }: AuthSession,
  spf: Check<SPFResult>,
  found: Check<DkimFound>,
  judged: Check<Judged>,
): Authentication {
  const dmarc = typeof judged === 'string' ? null : judged.dmarc;
  const dmarcVerdict = asVerdict(typeof judged === 'string' ? judged : judged.verdict);
  const value = [mta, ...resultsOf(spf, found, judged)].join('; ');
  return {
    dkimVerdict: typeof found === 'string' ? found : bestDkim(found.dkim.results),
    spfVerdict: typeof spf === 'string' ? spf : asVerdict(spf.status.result),
    dmarcVerdict,
    arcVerdict: typeof found === 'string' ? found : arcVerdictOf(found),
    trustedSealer:
      typeof found === 'string' || (dmarcVerdict !== 'fail' && dmarcVerdict !== 'temperror')
        ? null
        : findTrustedSealer(found.arc, domainOf(found.dkim.headerFrom[0] ?? ''), trustedSealers),
    dmarcPolicy: dmarc?.rr ? dmarc.policy : null,
    dmarcDomain: dmarc?.policyDomain ?? dmarc?.domain ?? null,
    authenticationResults: cleanLine(value).slice(0, maxResultCharacters),
  };
}

/** Result of a check, or the reason that it could not run. */
type Check<T> = T | 'temperror' | 'permerror';

/** Turns an error of mailauth into `permerror`, and a check that does not end into `temperror`. */
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
 * Checks DKIM and ARC. mailauth looks up keys in sequence, so each signature gets an equal
 * part of the time. Signatures that a sender puts first cannot use up the time of later signatures.
 */
async function checkDkim(
  { pieces, signatures, author }: BoundMail,
  { resolver, clock }: AuthSession,
  signal: AbortSignal,
): Promise<DkimFound> {
  const { arc, dkimVerify } = await import('mailauth');
  const { resolve } = boundLookups(resolver, clock, {
    most: mostKeyLookups,
    // The message signature of an ARC chain needs a key in addition to the DKIM signatures.
    eachMs: Math.min(lookupMs, checkMs / (signatures + 1)),
    allMs: checkMs,
  });
  const dkim = await dkimVerify(Readable.from(paced(pieces, signal)), {
    resolver: resolve,
    rejectRsaSha1: true,
    curTime: new Date(clock.now()),
  });
  // A chain that mailauth cannot read must not affect the result of the signatures.
  const chain = dkim.arc && arc(dkim.arc as ARCData, { resolver: resolve }).catch(() => null);
  return { dkim: withShownAuthors(dkim, author), arc: (await chain) ?? null };
}

/**
 * Returns the domains for which SPF or DKIM ended with `result`. Null if SPF or DKIM as a whole
 * ended with `result`, so that the domains are not known.
 */
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
 * Checks a mail. Never rejects. DNS trouble is `temperror` of the affected check only. A mail that
 * mailauth cannot read is `permerror`. Waits 7 s for the DNS at most, and hashes the whole body if
 * it is signed or sealed. Reads at most ten DKIM signatures, and 256 KB and 2,000 lines of header.
 * With a longer header DMARC is `permerror`.
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
    return summarize(session, spf, found, await settle(clock, judge(dmarc, evidence)));
  } finally {
    abort.abort();
  }
}
