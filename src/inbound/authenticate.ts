// The doorway to mailauth: SPF (RFC 7208), DKIM (RFC 6376), ARC (RFC 8617) and DMARC (RFC 9989) of
// one received mail, as verdicts for the message (specification 2.2, contract 8). Whether a failing
// mail is refused is the listener's decision. All names are asked through the resolver given.
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuthenticateResult, DKIMResult } from 'mailauth';
import type { Clock } from '../clock.ts';
import { cleanLine, findBodyStart, scanFields } from './header-fields.ts';

export type AuthVerdict =
  | 'pass'
  | 'fail'
  | 'softfail'
  | 'neutral'
  | 'none'
  | 'policy'
  | 'temperror'
  | 'permerror';

/** Answers like `dns.promises.resolve`; rejects with `code` ENOTFOUND, ENODATA, or a fault. */
export type AuthResolver = (name: string, type: string) => Promise<string[] | string[][]>;

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
  timeoutMs?: number;
}

export interface Authentication {
  /** The best of all signatures: one that passes is enough (RFC 6376 6.1). */
  dkimVerdict: AuthVerdict;
  spfVerdict: AuthVerdict;
  /** `fail` only where no aligned check was left open by DNS trouble; else `temperror`. */
  dmarcVerdict: AuthVerdict;
  /** What the author's domain asks for: `none`, `quarantine`, `reject`; null without a record. */
  dmarcPolicy: string | null;
  /** The domain whose record gave the policy, else the author's organizational domain. */
  dmarcDomain: string | null;
  /** The value of an Authentication-Results field, on one line. */
  authenticationResults: string;
}

const defaultTimeoutMs = 10_000;
const maxSignatures = 10;
/** 10 signatures, an ARC chain and an SPF record at its limits stay below; a DNS flood does not. */
const maxLookups = 120;
const chunkBytes = 64 * 1024;
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

/** Whether a check that DNS trouble left open could have made DMARC pass. */
function isLeftOpen(result: AuthenticateResult, organization: string): boolean {
  const belongs = (domain: string | undefined) =>
    domain !== undefined && `.${domain.toLowerCase()}`.endsWith(`.${organization}`);
  const spf = result.spf || null;
  if (spf?.status.result === 'temperror' && belongs(spf.domain)) return true;
  return result.dkim.results.some(
    ({ status, signingDomain }) => status.result === 'temperror' && belongs(signingDomain),
  );
}

function summarize(result: AuthenticateResult, isCut: boolean): Authentication {
  const dmarc = result.dmarc || null;
  let dmarcVerdict = asVerdict(dmarc?.status.result);
  // No author, or several (RFC 9989 5.3.1); or an author we may not have seen.
  if (!dmarc || isCut) dmarcVerdict = 'permerror';
  else if (dmarcVerdict === 'fail' && isLeftOpen(result, dmarc.domain)) dmarcVerdict = 'temperror';
  const value = /^Authentication-Results:([\s\S]*)$/im.exec(result.headers)?.[1] ?? '';
  return {
    dkimVerdict: bestDkim(result.dkim.results),
    spfVerdict: asVerdict((result.spf || null)?.status.result),
    dmarcVerdict,
    dmarcPolicy: dmarc?.rr ? dmarc.policy : null,
    dmarcDomain: dmarc?.policyDomain ?? dmarc?.domain ?? null,
    authenticationResults: cleanLine(value).slice(0, maxResultCharacters),
  };
}

function withoutResult(verdict: 'temperror' | 'permerror', mta: string): Authentication {
  return {
    dkimVerdict: verdict,
    spfVerdict: verdict,
    dmarcVerdict: verdict,
    dmarcPolicy: null,
    dmarcDomain: null,
    authenticationResults: cleanLine(`${mta}; dkim=${verdict}; spf=${verdict}; dmarc=${verdict}`),
  };
}

/** The raw mail with a header block within bounds and at most ten DKIM signatures. */
function bound(raw: Buffer): { pieces: Buffer[]; isCut: boolean } {
  const { spans, bodyStart, end, cutBy } = scanFields(raw);
  const signatures = spans.filter(({ name }) => name.toLowerCase() === 'dkim-signature');
  if (cutBy === null && signatures.length <= maxSignatures) return { pieces: [raw], isCut: false };
  const dropped = new Set(signatures.slice(maxSignatures));
  const pieces: Buffer[] = [];
  let start = 0;
  for (const span of dropped) {
    pieces.push(raw.subarray(start, span.start));
    start = Math.min(span.end + 1, end);
  }
  pieces.push(raw.subarray(start, end));
  if (cutBy !== null) pieces.push(Buffer.from('\r\n'));
  pieces.push(raw.subarray(bodyStart ?? findBodyStart(raw, end)));
  return { pieces, isCut: cutBy !== null };
}

/** Hands out the mail in chunks, one per turn of the event loop: 50 MB hash for 0.4 s in all. */
async function* paced(pieces: Buffer[], signal: AbortSignal): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += chunkBytes) {
      signal.throwIfAborted();
      yield piece.subarray(at, at + chunkBytes);
      await nextTurn();
    }
  }
}

function dnsFault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** The resolver under the deadline and a count; both end as DNS trouble (temperror). */
function boundResolver({ resolver }: AuthSession, signal: AbortSignal): AuthResolver {
  let lookups = 0;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(dnsFault('ETIMEOUT')));
  });
  aborted.catch(() => {});
  return async (name, type) => {
    lookups += 1;
    if (signal.aborted) return await aborted;
    if (lookups > maxLookups) throw dnsFault('EREFUSED');
    return await Promise.race([resolver(name, type), aborted]);
  };
}

async function run(raw: Buffer, session: AuthSession, signal: AbortSignal) {
  const mailauth = await import('mailauth');
  const { pieces, isCut } = bound(raw);
  const result = await mailauth.authenticate(Readable.from(paced(pieces, signal)), {
    ip: session.ip,
    helo: session.helo,
    sender: session.mailFrom,
    mta: session.mta,
    trustReceived: false,
    disableBimi: true,
    rejectRsaSha1: true,
    resolver: boundResolver(session, signal),
  });
  return summarize(result, isCut);
}

/**
 * Checks a received mail. Never rejects: DNS trouble and an overrun of `timeoutMs` (10 s) are
 * `temperror`, a mail that mailauth cannot read is `permerror`. At most ten DKIM signatures and
 * 256 KB of header are looked at; with a longer header DMARC is `permerror`.
 */
export async function authenticate(raw: Buffer, session: AuthSession): Promise<Authentication> {
  const abort = new AbortController();
  const timeout = new Promise<Authentication>((resolve) => {
    const cancel = session.clock.after(session.timeoutMs ?? defaultTimeoutMs, () => {
      abort.abort();
      resolve(withoutResult('temperror', session.mta));
    });
    abort.signal.addEventListener('abort', cancel);
  });
  const checked = run(raw, session, abort.signal).catch(() =>
    withoutResult('permerror', session.mta),
  );
  try {
    return await Promise.race([checked, timeout]);
  } finally {
    abort.abort();
  }
}
