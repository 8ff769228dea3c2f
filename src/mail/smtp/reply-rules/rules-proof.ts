// Rules for refusals because a proof is missing: reverse DNS, SPF, DKIM, DMARC, TLS. Each proof has
// a remedy. With 4yz, replies with the same words often limit the rate; with 5yz they refuse.
import type { ErrorCode } from '../outcome.ts';
import type { Cause } from './causes.ts';
import { causeRules, type ReplyRule, type WordRow } from './rule.ts';

/** Words of a 4yz reply that asks for a lower rate until the proof exists. */
const slowed = /rate[- ]limit|temporarily (?:deferred|limited)/i;

/** Builds each rule twice: for replies that limit the rate, and for replies that refuse. */
function bothRules(cause: Cause, errorCode: ErrorCode, rows: readonly WordRow[]): ReplyRule[] {
  return causeRules(cause, errorCode, rows).flatMap((rule): ReplyRule[] => [
    { ...rule, alsoWords: slowed, isRateLimit: true, example: `${rule.example} (rate limited)` },
    rule,
  ]);
}

const reverseDns = bothRules('missing-ptr', 'policy', [
  [
    'gmail',
    /\bptr\b(?! queries)|reverse[- ]?dns|\brdns\b|reverse (?:lookup|look-up|hostname|name|mapping|resolution)|ip name lookup failed|cannot (?:find|resolve) your (?:hostname|reverse|ip)/i,
    'dot: 550 5.7.25 [192.0.2.1] The IP address sending this message does not have a PTR record setup, or the corresponding forward DNS entry does not point to the sending IP.',
  ],
]);

const dmarc = [
  ...bothRules('dmarc-missing', 'auth-failed', [
    [
      'gmail',
      /(?:does not|doesn't|do not|without|no|missing) (?:have |publish |a |an |any |valid ){0,3}dmarc (?:record|policy)|dmarc record (?:is )?(?:missing|not found|required|does(?:n't| not) (?:exist|specify))/i,
      "dot: 550 5.7.40 This mail has been blocked because the sending domain does not have a DMARC record, or the DMARC record doesn't specify a DMARC policy.",
    ],
  ]),
  ...bothRules('not-aligned', 'auth-failed', [
    [
      'gmail',
      /(?:isn't|is not|not|no|without|fails?|failed) (?:\S{1,20} ){0,2}align(?:ed|ment)?\b|alignment (?:\S{1,20} ){0,2}fail|unaligned/i,
      "dot: 550 5.7.32 This mail has been blocked because the From: header (RFC5322) in this message isn't aligned with either the authenticated SPF or DKIM organizational domain.",
    ],
  ]),
  ...bothRules('dmarc-policy', 'auth-failed', [
    [
      'gmail',
      /\bdmarc\b/i,
      "dot: 550 5.7.26 Unauthenticated email from example.com is not accepted due to domain's DMARC policy.",
    ],
  ]),
];

const spfAndDkim = bothRules('unauthenticated', 'auth-failed', [
  [
    'gmail',
    /(?:either )?\bspf (?:or|and|nor|and\/or) dkim\b|\bdkim (?:or|and|nor|and\/or) spf\b|(?:message|mail|sender|domain) is unauthenticated|unauthenticated (?:e?-?mail|sender)|(?:message|mail|sender|domain) is not authenticated|required authentication level|(?:does not|doesn't) (?:have authentication information|pass authentication)|fails? to pass authentication/i,
    'dot: 550 5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM.',
  ],
]);

const spf = [
  ...bothRules('spf-record', 'auth-failed', [
    [
      'gmail',
      /\bspf record\b.{0,60}(?:suspicious|invalid|malformed|error|too many|broken|bad entries)|bad spf records?|\bspf (?:perm-?error|permanent error)|(?:too many|multiple) (?:dns lookups|spf records)/i,
      'dot: 550 5.7.24 The SPF record of the sending domain has one or more suspicious entries.',
    ],
  ]),
  ...bothRules('spf-failed', 'auth-failed', [
    [
      'gmail',
      /(?<!your )\bspf\b(?! domain)|sender policy framework|openspf\.(?:org|net)|sender id\b/i,
      'dot: 550 5.7.27 This mail has been blocked because SPF does not pass. Gmail requires all large senders to authenticate with SPF. Authentication results: SPF example.com with ip: 192.0.2.1 = Did not pass.',
    ],
  ]),
];

const dkim = bothRules('dkim-failed', 'auth-failed', [
  [
    'gmail',
    /(?<!your )\bdkim\b(?! domain)|domainkeys/i,
    'dot: 550 5.7.30 This mail has been blocked because DKIM does not pass. Gmail requires all large senders to authenticate with DKIM. Authentication results: DKIM = Did not pass.',
  ],
]);

const tls = bothRules('tls-required', 'policy', [
  [
    'gmail',
    /(?:tls|ssl|starttls)(?:\/ssl)? (?:is )?(?:required|mandatory|needed) (?:for|by) (?:rcpt|recipient|this|the)|(?:wasn't|was not|not) sent over a (?:tls|secure|encrypted)|requires? (?:\S{1,20} ){0,4}(?:to use )?tls(?:\/ssl)? (?:for smtp|encryption|connections?)|(?:mail|messages?|e-?mail) without (?:tls|encryption)|unencrypted (?:mail|messages?|connections?) (?:is|are) (?:not|refused|rejected)/i,
    "dot: 550 5.7.29 This mail has been blocked because it wasn't sent over a TLS connection. Gmail requires all bulk email senders to use TLS/SSL for SMTP connections.",
  ],
]);

const nullMx = causeRules('null-mx', 'policy', [
  [
    'RFC 7505',
    /(?:sender|return-?path|mail from|envelope).{0,60}null mx|null mx.{0,60}(?:sender|return-?path|mail from)/i,
    'MAIL: 550 5.7.27 Sender address has null MX',
  ],
]);

/**
 * Codes that name a proof without words (RFC 7372). 5.7.27, 5.7.29 and 5.7.30 are missing: Gmail
 * uses these codes for SPF, TLS and DKIM, but the RFCs define them for a null MX, ARC and
 * REQUIRETLS. For these codes only the words decide.
 */
const codes: readonly (readonly [Cause, ErrorCode, enhanced: RegExp, example: string])[] = [
  ['dkim-failed', 'auth-failed', /^7\.2[0-2]$/, '550 5.7.20 Nope'],
  ['spf-failed', 'auth-failed', /^7\.23$/, '550 5.7.23 Nope'],
  ['spf-record', 'auth-failed', /^7\.24$/, '550 5.7.24 Nope'],
  ['missing-ptr', 'policy', /^7\.25$/, '550 5.7.25 Nope'],
  ['unauthenticated', 'auth-failed', /^7\.(?:26|515)$/, '550 5.7.26 Nope'],
  ['dmarc-policy', 'auth-failed', /^7\.509$/, '550 5.7.509 Nope'],
];

/** Rules by code alone, for replies without clear words. */
export const proofsByCode: readonly ReplyRule[] = codes.map(
  ([cause, errorCode, enhanced, example]) => ({
    errorCode,
    source: 'RFC 7372',
    cause,
    enhanced,
    example,
  }),
);

/** All rules about proofs by their words, the most specific first. */
export const proofRules: readonly ReplyRule[] = [
  ...nullMx,
  ...reverseDns,
  ...dmarc,
  ...spfAndDkim,
  ...spf,
  ...dkim,
  ...tls,
];
