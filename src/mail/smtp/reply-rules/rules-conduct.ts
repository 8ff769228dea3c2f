// Rules for refusals by policy of the receiving server, protocol errors, and faults of the network
// path. Also the fallbacks by enhanced code (RFC 3463, RFC 7372) and reply code (RFC 5321).
import { type ReplyRule, wordRules } from './rule.ts';
import { proofsByCode } from './rules-proof.ts';

/** Precedes all rules about users, as "relaying denied for unknown user" is about the route. */
const relaying: readonly ReplyRule[] = [
  ...wordRules('policy', [
    [
      'postfix',
      /relay(?:ing)? (?:access )?(?:denied|not|prohibited|disallowed|is not|rejected)|not (?:permitted|allowed|authori[sz]ed) to relay|(?:unable|refus\w+|won't|cannot|do(?:es)? not) to? ?relay|we do(?:n't| not) relay|isn't in my list of allowed rcpthosts|rcpthosts|relay (?:is )?not (?:permitted|allowed)/i,
      '554 5.7.1 <joe@example.net>: Relay access denied',
    ],
  ]),
  ...wordRules('connection', [
    [
      'any',
      /host not found, try again|temporary (?:lookup|name|dns)|cname lookup failed temporarily|dns (?:query|lookup|server|problem|error|failure|timeout)|(?:domain|name) lookup failed|server failure|servfail/i,
      'DSN: Name service error for name=example.net type=MX: Host not found, try again',
    ],
    [
      'any',
      /loops? back to|mail (?:\w+ )?loop|too many (?:hops|received)|hop count exceeded|routing loop|is looping|loop detected|not in my control\/locals|isn't in my control\/locals/i,
      '554 5.4.6 Too many hops 26 (25 max): from <alice@example.com> via mx.example.net',
    ],
  ]),
  {
    // Microsoft 365 sends this for recipients that the directory does not know.
    errorCode: 'invalid-recipient',
    source: 'microsoft',
    enhanced: /^4\.1$/,
    words: /recipient address rejected/i,
    example:
      '550 5.4.1 Recipient address rejected: Access denied. [AM7EUR06FT012.eop-eur06.prod.protection.outlook.com]',
  },
];

const wayThere = wordRules('connection', [
  [
    'postfix',
    /(?:connection|operation|network|session|conversation) (?:\w+ ){0,3}(?:timed? ?out|refused|reset|lost|dropped|closed|aborted|unreachable)|lost connection|timed? ?out (?:while|waiting|after)|connection timeout|no route to host|network is unreachable|broken pipe/i,
    'DSN: connect to mx.example.net[192.0.2.25]:25: Connection timed out',
  ],
  [
    'exim',
    /retry timeout exceeded|all hosts .{0,120}have been failing|all relevant mx records|lowest numbered mx record points to local host|could not (?:be )?(?:connect|reach)|unable to (?:connect|reach)|wasn't able to establish an smtp connection|(?:remote )?(?:server|host|mta) (?:\S{1,120} )?(?:is )?(?:not respond|did not respond|didn't respond|down\b|unreachable|not reachable)/i,
    "DSN: all hosts for 'example.net' have been failing for a long time and were last tried after this message arrived",
  ],
  [
    'any',
    /(?:tls|ssl) (?:\w+ ){0,3}(?:failed|failure|error|not available|unavailable|required|handshake)|starttls (?:is )?required|certificate/i,
    '454 4.7.0 TLS not available due to local problem',
  ],
]);

const expired = wordRules('expired', [
  [
    'any',
    /(?:message|mail|delivery time|delivery|queue (?:life)?time) (?:\w+ ){0,2}(?:expired|too old)|in the queue too long|retry (?:time )?limit exceeded|(?:gave|giving) up after|not deliver for the last .{0,30}giving up|maximum (?:queue )?lifetime|delivery attempts? .{0,40}exceeded/i,
    "DSN: I'm not going to try again; this message has been in the queue too long.",
  ],
]);

const rules = wordRules('policy', [
  [
    'any',
    /polic(?:y|ies)\b|restricted to|only accepts? (?:mail|messages|e-?mail) from|permission to send|not (?:allowed|permitted|authori[sz]ed|accept(?:ed|ing)?|wanted)|access (?:is )?(?:denied|restricted)|prohibit|administrative(?:ly)?|rejected by (?:recipient|user|the)|customer rule|security reasons/i,
    '554 5.7.9 Message not accepted for policy reasons. See https://postmaster.example.com/error-codes',
  ],
]);

const protocol = wordRules('protocol', [
  [
    'any',
    /rfc ?\d{3,4}|syntax error|bad sequence|(?:command|parameter)s? (?:not |un)(?:implemented|recogni[sz]ed)|need (?:rcpt|mail)|smtputf8|8bitmime/i,
    '503 5.5.1 Bad sequence of commands',
  ],
]);

type Fallback = readonly [enhanced: RegExp, errorCode: ReplyRule['errorCode'], example: string];

const fallbacks: readonly Fallback[] = [
  [/^1\.[136]$/, 'invalid-recipient', '550 5.1.1 Nope'],
  [/^1\.(?:2|10)$/, 'invalid-domain', '556 5.1.10 Nope'],
  [/^1\.[78]$/, 'policy', '550 5.1.8 Nope'],
  [/^2\.1$/, 'invalid-recipient', '550 5.2.1 Nope'],
  [/^2\.2$/, 'mailbox-full', '552 5.2.2 Nope'],
  [/^2\.3$|^3\.4$/, 'message-too-large', '552 5.2.3 Nope'],
  [/^3\.[12]$/, 'connection', '452 4.3.1 Nope'],
  [/^4\.7$/, 'expired', 'DSN: 4.4.7 Nope'],
  [/^4\.\d{1,3}$/, 'connection', '451 4.4.1 Nope'],
  [/^5\.3$/, 'policy', '452 4.5.3 Nope'],
  [/^[56]\.\d{1,3}$/, 'protocol', '550 5.6.7 Nope'],
  [/^7\.(?:8|1[1-5]|29)$/, 'auth-failed', '550 5.7.8 Nope'],
  [/^7\.(?:28|511|6(?:0[6-9]|[1-4]\d))$/, 'blocked', '550 5.7.607 Nope'],
  [/^7\.\d{1,3}$/, 'policy', '550 5.7.1 Nope'],
];

const byCode: readonly ReplyRule[] = [
  {
    errorCode: 'mailbox-full',
    source: 'RFC 5321',
    codes: [452, 552],
    verbs: ['RCPT', 'DSN'],
    example: '552 Nope',
  },
  { errorCode: 'message-too-large', source: 'RFC 5321', codes: [552], example: 'dot: 552 Nope' },
  { errorCode: 'invalid-domain', source: 'RFC 7504', codes: [556], example: '556 Nope' },
  {
    errorCode: 'protocol',
    source: 'RFC 5321',
    codes: [500, 501, 502, 503, 504, 555],
    example: '504 Nope',
  },
  {
    errorCode: 'blocked',
    source: 'RFC 5321',
    codes: [521, 550, 554],
    verbs: ['connect', 'EHLO'],
    example: 'connect: 554 Nope',
  },
];

/** Rules tried before the words about mailboxes. */
export const relayRules: readonly ReplyRule[] = relaying;

/** Rules tried after the words about mailboxes, in this order. */
export const conductRules: readonly ReplyRule[] = [
  ...wayThere,
  ...expired,
  ...protocol,
  // Codes that name a proof are more specific than the word "policy", so they precede it.
  ...proofsByCode,
  ...fallbacks.slice(0, -1).map(fallback),
  ...rules,
  ...fallbacks.slice(-1).map(fallback),
  ...byCode,
];

function fallback([enhanced, errorCode, example]: Fallback): ReplyRule {
  return { errorCode, source: 'RFC 3463', enhanced, example };
}
