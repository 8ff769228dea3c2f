// Rules for refusals of a relay because of our account: unverified senders, pauses, the login.
import { causeRules, type ReplyRule } from './rule.ts';

const sender = causeRules('unverified-sender', 'policy', [
  [
    'amazon ses',
    /(?:e-?mail address|identity|identities|domain|sender|from(?: address)?) (?:@ )?(?:is|are|was|has|have)(?: been)? ?(?:not|n't) (?:yet )?(?:been )?(?:verified|confirmed|validated|authenticated by)|identities failed the check|not (?:a )?verified (?:sender|identity|domain|address|e-?mail)|(?:does not|doesn't) match a verified sender|unverified (?:sender|domain|identity|from)|(?:sender|from) (?:\S{1,20} ){0,3}not verified|verify your (?:sender|domain|from|e-?mail)|sender signature|free accounts are for test purposes|sandbox (?:mode|subdomains?|accounts?|domain)/i,
    'dot: 554 Message rejected: Email address is not verified. The following identities failed the check in region EU-WEST-1: alice@example.com',
  ],
  [
    'brevo',
    /sender you used .{0,60}(?:not valid|invalid|not verified)|sending domain .{0,60}(?:not (?:verified|authenticated|validated|registered|allowed)|unverified)|domain (?:@ |\S{1,255} )?is not (?:verified|allowed to send|registered|activated)/i,
    'dot: 554 5.7.1 Sending has been rejected because the sender you used alice@example.com is not valid. Validate your sender or authenticate your domain',
  ],
]);

const sendAs = causeRules('send-as', 'policy', [
  [
    'microsoft',
    /(?:does not|doesn't) have permissions? to send as|sendasdenied|not (?:allowed|permitted|authori[sz]ed) to send (?:(?:as|from)\b|mail (?:as|from)\b)|sender (?:address )?(?:is )?not owned by|sender is not allowed to relay|not owned by user|sender must match|from address .{0,40}not match.{0,40}(?:login|user|account)/i,
    'dot: 550 5.7.60 SMTP; Client does not have permissions to send as this sender',
  ],
]);

const paused = causeRules('account-paused', 'policy', [
  [
    'amazon ses',
    /sending (?:is |has been )?(?:paused|suspended|disabled) for this account|(?:account|user|customer|tenant)(?:'s)? (?:\S{1,20} ){0,3}(?:is |has been )?(?:suspended|paused|disabled for sending|not (?:allowed|authori[sz]ed|approved|activated) to send)|(?:account|sending) (?:is |has been )?(?:suspended|under review|not activated)|mail sending denied|account not subscribed to ses|not authori[sz]ed to perform .{0,4}ses:/i,
    'dot: 554 Message rejected: Sending suspended for this account. For more information, please check the inbox of the email address associated with your AWS account.',
  ],
]);

const login: readonly ReplyRule[] = [
  ...causeRules('smtp-auth-disabled', 'auth-failed', [
    [
      'microsoft',
      /smtpclientauthentication is disabled|basic authentication is disabled|smtp auth(?:entication)? (?:is )?(?:disabled|not enabled)|5\.7\.139\b/i,
      'AUTH: 535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant. Visit https://aka.ms/smtp_auth_disabled for more information.',
    ],
  ]),
  ...causeRules('app-password', 'auth-failed', [
    [
      'gmail',
      /application-?specific password|app(?:lication)?[- ]passwords? (?:is |are )?(?:required|needed)|log ?in (?:with|through|via) your web browser|use an app password/i,
      'AUTH: 534 5.7.9 Application-specific password required. For more information, go to https://support.google.com/mail/?p=InvalidSecondFactor',
    ],
  ]),
  ...causeRules('relay-denied', 'policy', [
    [
      'gmail',
      /mail relay denied|invalid credentials for relay|not authori[sz]ed to send e-?mail directly/i,
      'MAIL: 550 5.7.0 Mail relay denied [192.0.2.1]. Invalid credentials for relay for one of the domains in: example.com (as obtained from HELO and MAIL FROM).',
    ],
  ]),
  {
    errorCode: 'auth-failed',
    source: 'any',
    cause: 'relay-login',
    words:
      /username and password not accepted|authentication (?:\S{1,20} ){0,2}(?:failed|unsuccessful|invalid|rejected)|authentication credentials invalid|(?:invalid|incorrect|bad|wrong) (?:\S{1,20} ){0,3}(?:login|credentials|password|user ?name)|client (?:was |is )?not authenticated|authentication (?:is )?required/i,
    verbs: ['AUTH', 'MAIL'],
    example: 'AUTH: 535 5.7.8 Username and Password not accepted',
  },
  {
    errorCode: 'auth-failed',
    source: 'RFC 4954',
    cause: 'relay-login',
    codes: [535],
    verbs: ['AUTH'],
    example: 'AUTH: 535 Nope',
  },
];

const helo = causeRules('helo-name', 'policy', [
  [
    'postfix',
    /(?:helo|ehlo) command rejected|need fully-qualified hostname|(?:helo|ehlo) argument/i,
    '504 5.5.2 <localhost>: Helo command rejected: need fully-qualified hostname',
  ],
]);

/** All rules about our account at a relay, the most specific first. */
export const accountRules: readonly ReplyRule[] = [
  ...sender,
  ...sendAs,
  ...paused,
  ...login,
  ...helo,
];
