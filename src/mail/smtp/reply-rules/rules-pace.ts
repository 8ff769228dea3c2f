// Rules for refusals about the rate and volume of our mail. Tried before the rules about reputation
// and mailboxes: a server that asks for a lower rate often names spam or a user in the same reply.
import { type ReplyRule, rateRules, wordRules } from './rule.ts';

const reputationPace = rateRules('blocked', [
  [
    'gmail',
    /unusual rate of (?:unsolicited|suspicious)/i,
    '421 4.7.28 Our system has detected an unusual rate of unsolicited mail originating from your IP address [192.0.2.1 15]. To protect our users from spam, mail sent from your IP address has been temporarily rate limited.',
  ],
  [
    'microsoft',
    /rate limited due to (?:\w+ ){0,3}reputation|\(S77[56]\)/i,
    '451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation. For e-mail delivery information, see https://postmaster.live.com (S775)',
  ],
]);

const pace = rateRules('policy', [
  [
    'orange',
    /trop de (?:connexions|connections|messages)|OFR\w?_?\d*_?104|LPN\w*_?105/i,
    '421 mwinf5c04 ME Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. OFR004_104 [104]',
  ],
  [
    'any',
    /too many (?:\w+ ){0,3}(?:connections?|sessions|requests|e-?mails|mails|messages|deliveries|transactions|auth)\b/i,
    '421 4.7.0 mx.example.net Error: too many connections from 192.0.2.1',
  ],
  [
    'any',
    /too many (?:\w+ ){0,2}(?:unknown|invalid|bad|non-?existent|failed|wrong) (?:users?|recipients?|addresse?s?|rcpts?|commands)/i,
    '421 4.7.0 Too many invalid recipients from 192.0.2.1, closing connection',
  ],
  [
    'free',
    /too many (?:errors|spams) (?:detected|reported)? ?from/i,
    '451 too many errors detected from your IP, please visit http://postmaster.example.net/',
  ],
  [
    'any',
    /too much (?:mail|e-?mail|traffic|load)|sending too (?:fast|quickly|many|much)|too fast\b|slow(?:ing)? down|back off\b/i,
    '450 4.7.1 Error: too much mail from 192.0.2.1',
  ],
  [
    'comcast',
    /throttl|#RL0000\d\d/i,
    '421 4.1.0 192.0.2.1 Throttled - try again later. Please see http://postmaster.example.net/smtp-error-codes.php#RL000001',
  ],
  [
    'any',
    /\brate.?limit|(?:connection|message|sending|mail|recipient|hourly|daily) rate (?:limit|is too|has been|too)|\brate (?:exceeded|too high)|limit(?:ed)? (?:the )?rate/i,
    '421 4.3.2 Connection rate limit exceeded.',
  ],
  [
    'gmail',
    /receiving mail (?:too quickly|at a rate)/i,
    '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.',
  ],
  [
    'cpanel',
    /exceeded the max(?:imum)? (?:emails|messages|defers)|per hour \(/i,
    '550 Domain example.com has exceeded the max emails per hour (105/100 (105%)) allowed. Message discarded.',
  ],
  [
    'gmail',
    /(?:daily|hourly|mail|message|user|email)(?: user| sending| send| e-?mail)* (?:sending |send )?(?:quota|limit)s? (?:has been |was |is )?exceed|exceeded (?:the |your |its )?(?:max(?:imum)? |allowed )?(?:number of )?(?:emails?|messages?|connections?)? ?(?:per|daily|hourly|sending)/i,
    '550 5.4.5 Daily user sending limit exceeded. For more information on Gmail sending limits go to https://support.example.com/a/answer/166852',
  ],
  [
    'microsoft',
    /exceeded the rate limit allowed|server busy|\bS77714\b|recipients? (?:rate )?limit (?:is )?exceeded|exceeded (?:the )?threshold/i,
    '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77714)',
  ],
  [
    'yahoo',
    /\[TSS?\d\d\]|unexpected volume|user complaints/i,
    '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.example.com/error-codes',
  ],
  [
    'aol',
    /\(?DYN:T\d|\(RTR:DU\)/,
    '421 4.7.1 : (DYN:T1) http://postmaster.example.com/errors/421dynt1.html',
  ],
  [
    'qq',
    /frequency (?:is )?limited/i,
    '550 Ip frequency limited [MXABCDEF]. https://service.example.com/detail/0/21',
  ],
  [
    'netease',
    /\b(?:RP:(?:CEL|QRC|TRL)|MI:(?:CEL|DMC|IMF))\b/,
    '451 RP:CEL 163 mx9,PsCowAA3lwAA.1S2 1700000000, see http://mail.example.com/help/help_spam_16.htm',
  ],
  [
    'cloudmark',
    /AUP#(?:Conn|1260|RATE)|concurren(?:t|cy) (?:connection |session )?(?:limit|count)|(?:max(?:imum)?|reached|exceed\w*) (?:\w+ ){0,3}(?:connections?|sessions)\b/i,
    '421 mx.example.net maximum number of concurrent connections reached, try again later AUP#Conn',
  ],
  [
    'any',
    /(?:server|system|host|site) (?:is )?(?:too )?(?:busy|overloaded|congested)|(?:high|heavy|excessive) (?:system )?load|load (?:average )?(?:is )?too high|mail system congestion|resources? (?:are |is )?temporarily unavailable/i,
    '421 4.4.5 Server is too busy, please try later',
  ],
  [
    'ironport',
    /too many (?:recipients|messages) (?:received )?(?:this|per|in the last) (?:hour|day|minute)/i,
    '452 4.5.3 Too many recipients received this hour',
  ],
]);

const waits = wordRules('policy', [
  ['any', /too many (?:recipients|rcpts?)\b/i, '452 4.5.3 Too many recipients'],
  [
    'any',
    /gr[ae]y-?list|postgrey|milter-greylist|please retry in \d|deferred for (?:\d+ )?(?:sec|min)|first time (?:sender|contact)|try again in \d+ (?:sec|min)/i,
    '450 4.2.0 <joe@example.net>: Recipient address rejected: Greylisted, see http://postgrey.example.net/help/example.com.html',
  ],
]).map((rule): ReplyRule => ({ ...rule, isWait: true }));

/** All rules about the rate, in the order of matching. */
export const paceRules: readonly ReplyRule[] = [...reputationPace, ...pace, ...waits];
