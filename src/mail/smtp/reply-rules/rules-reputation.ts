// Rules for refusals of the sender (reputation, authentication) or of the content. Tried before all
// rules about recipients: some servers answer such refusals with 5.1.1, and our bad reputation must
// not block an address.
import { type ReplyRule, wordRules } from './rule.ts';

/** Replies that the words of later tables would misread. */
const exceptions: readonly ReplyRule[] = [
  {
    errorCode: 'suppressed',
    source: 'amazon ses',
    words: /suppression list|\bsuppressed\b/i,
    example:
      'DSN: 5.1.1 Amazon SES did not send the message to this address because it is on the suppression list for your account.',
  },
  {
    errorCode: 'policy',
    source: 'microsoft',
    words: /resolver\.rst\.(?:notauthorized|sendernotauthenticated)|delivery restriction/i,
    example:
      '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group',
  },
  {
    errorCode: 'unknown',
    source: 'cpanel',
    words: /may not exist, they may be blacklisted/i,
    example:
      '550 The mail server could not deliver mail to joe@example.net. The account or domain may not exist, they may be blacklisted, or missing the proper dns entries.',
  },
  {
    errorCode: 'mailbox-full',
    source: 'orange',
    words: /OFR\w?_?417|boite du destinataire pleine/i,
    example: '552 5.1.1 Boite du destinataire pleine. Recipient overquota. OFR_417 [417]',
  },
  {
    errorCode: 'policy',
    source: 'exim',
    words:
      /sender (?:address )?(?:verification|verify|callout)|verification failed for @|could not verify sender/i,
    example: '550-Verification failed for <alice@example.com> 550 Sender verify failed',
  },
  {
    errorCode: 'policy',
    source: 'postfix',
    words: /sender address rejected|client host rejected: (?:cannot find|access)/i,
    example: '450 4.1.8 <alice@example.com>: Sender address rejected: Domain not found',
  },
  {
    errorCode: 'policy',
    source: 'sendmail',
    words:
      /domain of sender|sender(?:'s)? (?:domain|host|e?-?mail|address|mailbox|user|from)(?: (?:name|address))? .{0,40}(?:not|n't|unknown|invalid|no mx|unresolv|denied|reject)|(?:invalid|unknown|bad|unrout(?:e)?able|null|unresolvable) sender|\breverse (?:dns|lookup|hostname)|\bPTR\b|no (?:r?dns|reverse)|reverse-?dns/i,
    example:
      '553 5.1.8 <alice@example.com>... Domain of sender address alice@example.com does not exist',
  },
];

/**
 * Faults of our domain, HELO name or header. The recipient is never at fault, whatever the words
 * say.
 */
const ofOurs: readonly ReplyRule[] = [
  {
    errorCode: 'policy',
    cause: 'helo-name',
    source: 'any',
    words:
      /\b(?:helo|ehlo)\b.{0,60}(?:invalid|unknown|not\b|n't|bad|reject|fail)|(?:invalid|unknown|bad|malformed|non-?existent) .{0,60}\b(?:helo|ehlo)\b/i,
    example: '550 Invalid domain name in HELO',
  },
  {
    errorCode: 'policy',
    source: 'any',
    words:
      /\b(?:from|return-?path|reply-to)(?: (?:address|header|field))?(?:'s)? domain|(?:envelope|mail|return|header)[- ](?:from|sender|path)\b.{0,60}(?:not\b|n't|unknown|invalid|unresolv|reject)|domain (?:\S{1,60} ){0,3}in (?:the |your )?(?:from|sender|return-?path|mail from|helo)\b|sender domain must/i,
    example: '550 From domain does not exist',
  },
  {
    // The enhanced code does not name the recipient, so the invalid name is ours (HELO or MAIL).
    errorCode: 'policy',
    source: 'any',
    enhanced: /^(?:0\.0|5\.\d|)$/,
    words: /\b(?:invalid|bad|illegal) domain name\b(?!.{0,80}(?:recipient|rcpt|@))/i,
    example: '501 Invalid domain name',
  },
];

const blocked = wordRules('blocked', [
  [
    'spamhaus',
    /spamhaus/i,
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1',
  ],
  [
    'barracuda',
    /barracudacentral|barracuda(?:networks)?(?:\.com)?\/?(?: central)? ?reputation|using barracuda/i,
    '554 Service unavailable; Client host [mail.example.com] blocked using Barracuda Reputation; http://www.barracudanetworks.com/reputation/?r=1&ip=192.0.2.1',
  ],
  [
    'barracuda',
    /permanent failure for one or more recipients \(\S{0,200}:blocked\)/i,
    '554 5.7.1 permanent failure for one or more recipients (joe@example.net:blocked)',
  ],
  [
    'proofpoint',
    /ipcheck\.proofpoint|dnsbl-lookup|support\.proofpoint|prs\.proofpoint|blocked - see/i,
    '554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1',
  ],
  [
    'cloudmark',
    /cloudmark\.com|cloudmark sender intelligence|AUP#(?:BL|CDRBL|CMRBL|Out|POL|CXSNDR|I-|\d{4})/i,
    '550 5.7.1 Mail from 192.0.2.1 refused, see http://csi.cloudmark.com/reset-request/?ip=192.0.2.1',
  ],
  [
    'any',
    /spamcop|sorbs\.net|uceprotect|abusix|invaluement|mail-abuse\.(?:com|org)|senderscore|spamrats|hostkarma|nixspam|\bmipspace|trend micro (?:rbl|ers|email reputation)/i,
    '550 5.7.1 Service unavailable; client [192.0.2.1] blocked using bl.spamcop.net',
  ],
  [
    'any',
    /\b(?:dns|r)bls?\b|(?:black|block|deny|bad|reject)-?\s?list(?:ed|ing)?\b|\bdrop list/i,
    '550 5.1.1 User unknown - rejected: 192.0.2.1 is on our blocklist',
  ],
  [
    'ironport',
    /(?:poor|bad|low|negative|untrusted|insufficient|no) (?:\w+ )?reputation|reputation (?:of|is|too|score|based|filter|service)|due to .{0,40}reputation/i,
    "554 Your access to this mail system has been rejected due to the sending MTA's poor reputation. If you believe that this failure is in error, please contact the intended recipient via alternate means.",
  ],
  [
    'microsoft',
    /banned sen(?:ding|der)|part of their network is on|\(S3\d{3}\)|\bS3150\b|(?:5\.7\.6(?:0[6-9]|[1-4]\d)|5\.7\.511)\b/i,
    '550 5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/ and follow the directions.',
  ],
  [
    'yahoo',
    /\[(?:BL|DU|GL|IP)\d\d?\]|not accept(?:ed|ing) connections? from your/i,
    '553 5.7.1 [BL21] Connections not accepted from your IP address; see https://postmaster.example.com/550-bl23.html',
  ],
  [
    'aol',
    /\(RTR:(?:BL|BB|BG|DU|GE|RD|SC)\)|\((?:HVU|CON):B\d/,
    '554 - (RTR:BL) https://postmaster.example.com/errors/554rtrbl.html',
  ],
  [
    'comcast',
    /comcast block|#BL\d{6}/i,
    '554 resimta-po-12v.sys.example.net 192.0.2.1 Comcast block for spam. Please see http://postmaster.example.net/smtp-error-codes.php#BL000000',
  ],
  [
    't-online',
    /tosa@|IP=[\d.a-f:]{3,45} - a problem occurred|ask your postmaster for help/i,
    '554 IP=192.0.2.1 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.example.net to clarify.)',
  ],
  [
    'gmx',
    /no smtp service|nemesis esmtp service not available/i,
    'connect: 554 gmx.example (mxgmx115) Nemesis ESMTP Service not available No SMTP service',
  ],
  [
    'qq',
    /suspected spam ip|suspected bounce attacks?|\b(?:HL:(?:REP|IPB|IFC|ITC)|CONNECT REFUSED)\b/i,
    '550 Suspected spam ip. https://service.example.com/detail/0/71',
  ],
  [
    'naver',
    /your ip (?:is |was |has been )?(?:blocked|refused|denied|restricted)/i,
    '421 4.3.2 Your ip blocked from this server - nsmtp',
  ],
  [
    'any',
    /\bblocked (?:using|by|due|for|at|from|because of your)\b|\bbanned\b|\bip(?: address)? .{0,60}(?:blocked|listed|rejected|refused|denied)|(?:client|sending|connecting|mail) (?:host|server|ip|mta)\b.{0,60}(?:blocked|rejected|refused|banned|denied)|(?:connection|access) (?:refused|denied|rejected) .{0,30}\bip\b/i,
    '550 5.7.1 Mail from your sending IP 192.0.2.1 was rejected',
  ],
  [
    'orange',
    /service refuse[.d,]|OFR\w?_?(?:102|103|105|108|109|403|405|50[12])|LPN\w*_(?:102|510)/i,
    '550 5.7.1 Service refuse. Veuillez essayer plus tard. Service refused, please try later. OFR_403',
  ],
]);

const spam = wordRules('spam', [
  [
    'gmail',
    /likely (?:unsolicited|suspicious|spam)|unsolicited|low reputation of the sending domain/i,
    '550 5.7.1 [192.0.2.1 12] Our system has detected that this message is likely unsolicited mail. To reduce the amount of spam sent to Gmail, this message has been blocked.',
  ],
  [
    'mail.ru',
    /spam message (?:rejected|discarded)|under suspicion of spam/i,
    '550 spam message rejected. Please visit http://help.example.ru/notspam-support/id?c=abc or report details to abuse@example.ru. Error code: 1B2C',
  ],
  ['orange', /mail rejete|OFR\w?_?506/i, '550 5.2.0 Mail rejete. Mail rejected. OFR_506 [506]'],
  [
    'icloud',
    /\[(?:HM|CS)\d\d\]|rejected due to local policy/i,
    '554 5.7.1 [HM08] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
  ],
  ['netease', /\b(?:DT:SP[MB]?|MI:SPB|SPAM_)\b/, '554 DT:SPM 163 mx1,PMmowAA3xYc1.S2 1700000000'],
  [
    'qq',
    /mail content denied|content denied/i,
    '550 Mail content denied. https://service.example.com/detail/0/49',
  ],
  [
    'any',
    /(?<![\w.@-])(?:spam|spammy|junk ?mail|bulk ?e?-?mail|phish(?:ing)?|virus(?:es)?|malware|trojan|UBE|UCE|viagra)(?![\w-]*\.[a-z])\b/i,
    '554 5.7.1 This message has been blocked because it contains spam',
  ],
  [
    'any',
    /spam ?(?:score|filter|assassin|content|detected|like)|(?:message|content|mail) (?:\w+ ){0,3}(?:rejected|blocked|refused|filtered) .{0,30}content|(?:suspicious|prohibited|inappropriate|objectionable|banned|unacceptable) (?:content|attachment|mail|url|link)|content (?:filter|rejected|restriction)|message filtered|(?:message|mail) looks like/i,
    '550 5.7.1 Message rejected due to content restrictions',
  ],
  [
    'messagelabs',
    /553-message filtered|www\.messagelabs\.com|customer rule based reject/i,
    '501 Connection rejected by policy [7.7] 38507, please visit www.messagelabs.com/support for more details about this error message.',
  ],
]);

const authentication: readonly ReplyRule[] = [
  ...wordRules('auth-failed', [
    ['any', /\barc\b.{0,20}fail/i, '550 5.7.29 ARC validation failed'],
    ['any', /email authentication/i, '550 5.7.1 Rejected: see our rules for email authentication'],
    [
      'any',
      /authenticat(?:ion|e) (?:is )?(?:required|failed|credentials|unsuccessful|first)|must (?:be )?authenticate|invalid (?:login|credentials|password)|username and password not accepted|must issue a starttls/i,
      '550 5.7.1 You must authenticate first',
    ],
    [
      'mimecast',
      /anti-?spoof|spoof(?:ed|ing)/i,
      '550 Rejected by header based Anti-Spoofing policy: alice@example.com - https://community.mimecast.com/docs/DOC-1369#550 [aBcDeF]',
    ],
  ]),
  {
    errorCode: 'auth-failed',
    source: 'RFC 4954',
    codes: [530, 534, 535, 538],
    example: 'MAIL: 530 5.7.0 Log in first',
  },
];

/** All rules about reputation, in the order of matching. */
export const reputationRules: readonly ReplyRule[] = [
  ...exceptions,
  // Precedes the rest, because of replies such as "blocked because the sender is unauthenticated".
  ...authentication,
  ...blocked,
  ...spam,
  ...ofOurs,
];
