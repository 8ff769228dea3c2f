// Replies of real servers (names changed) and their errorCode, hard or soft, and pace.
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/mail/smtp/outcome.ts';
import {
  classifyReply,
  findReplyRule,
  replyRules,
} from '../../../src/mail/smtp/reply-rules/classify-reply.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { readReplyLine } from './reply-line.ts';

type Strength = 'hard' | 'soft' | 'rate';

const classify = (line: string) => classifyReply(readReplyLine(line));

function strengthOf(line: string): Strength {
  const { isHard, isRateLimited } = classify(line);
  if (isHard && isRateLimited) throw new Error('hard and rate limited');
  return isHard ? 'hard' : isRateLimited ? 'rate' : 'soft';
}

const lines: Record<string, [ErrorCode, Strength, string][]> = {
  gmail: [
    [
      'invalid-recipient',
      'hard',
      "550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address",
    ],
    [
      'invalid-recipient',
      'hard',
      '550 5.2.1 The email account that you tried to reach is disabled. For more information, go to https://support.google.com/mail/?p=DisabledUser',
    ],
    [
      'invalid-recipient',
      'hard',
      '550 5.2.1 The email account that you tried to reach is inactive',
    ],
    [
      'mailbox-full',
      'soft',
      "452 4.2.2 The recipient's inbox is out of storage space. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaTemp",
    ],
    [
      'mailbox-full',
      'soft',
      '552 5.2.2 The email account that you tried to reach is over quota and inactive. p=OverQuotaPerm',
    ],
    [
      'policy',
      'rate',
      '450 4.2.1 The user you are trying to contact is receiving mail too quickly. Please resend your message at a later time.',
    ],
    [
      'policy',
      'rate',
      '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.',
    ],
    [
      'blocked',
      'rate',
      'dot: 421 4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your SPF domain [example.com 35]. To protect our users from spam, mail sent from your domain has been temporarily rate limited.',
    ],
    [
      'spam',
      'soft',
      'dot: 550 5.7.1 [192.0.2.1 12] Our system has detected that this message is likely unsolicited mail. To reduce the amount of spam sent to Gmail, this message has been blocked.',
    ],
    [
      'blocked',
      'soft',
      'dot: 550 5.7.1 Our system has detected that this message is likely suspicious due to the very low reputation of the sending domain.',
    ],
    [
      'auth-failed',
      'soft',
      'dot: 550 5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM.',
    ],
    [
      'auth-failed',
      'soft',
      "dot: 550 5.7.26 Unauthenticated email from example.com is not accepted due to domain's DMARC policy.",
    ],
    [
      'policy',
      'soft',
      'dot: 550 5.7.25 The IP address sending this message does not have a PTR record setup, or the corresponding forward DNS entry does not match the sending IP.',
    ],
    [
      'message-too-large',
      'soft',
      "MAIL: 552 5.3.4 Your message exceeded Google's message size limits.",
    ],
    [
      'protocol',
      'soft',
      'dot: 550 5.7.1 Messages with multiple addresses in From: header are not accepted. RFC 5322',
    ],
    ['unknown', 'soft', '421 4.3.0 Temporary System Problem. Try again later (10).'],
  ],
  microsoft: [
    [
      'invalid-recipient',
      'hard',
      '550 5.4.1 Recipient address rejected: Access denied. For more information see https://aka.ms/EXOSmtpErrors [AM7EUR06FT012.eop-eur06.prod.protection.outlook.com]',
    ],
    ['invalid-recipient', 'hard', '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'],
    ['invalid-recipient', 'hard', '550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found'],
    [
      'invalid-recipient',
      'hard',
      '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).',
    ],
    [
      'invalid-domain',
      'hard',
      'DSN: 550 5.4.310 DNS domain nowhere.example.net does not exist [Message=InfoDomainNonexistent]',
    ],
    [
      'mailbox-full',
      'soft',
      'dot: 554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded; Failed to process message due to a permanent exception',
    ],
    [
      'message-too-large',
      'soft',
      'dot: 550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient',
    ],
    ['policy', 'soft', 'dot: 550 5.7.1 RESOLVER.RST.NotAuthorized; not authorized'],
    [
      'auth-failed',
      'soft',
      'dot: 550 5.7.509 Access denied, sending domain example.com does not pass DMARC verification and has a DMARC policy of reject.',
    ],
    [
      'auth-failed',
      'soft',
      "dot: 550 5.7.515 Access denied, sending domain example.com doesn't meet the required authentication level.",
    ],
    [
      'blocked',
      'soft',
      "MAIL: 550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150).",
    ],
    [
      'blocked',
      'soft',
      '550 5.7.511 Access denied, banned sender[192.0.2.1]. To request removal from this list please forward this message to delist@example.com',
    ],
    [
      'policy',
      'rate',
      "421 RP-001 (BAY004-MC1F1) Unfortunately, some messages from 192.0.2.1 weren't sent. The mail server IP connecting to Outlook.com server has exceeded the rate limit allowed. Reason for rate limitation is related to IP/domain reputation.",
    ],
    [
      'blocked',
      'rate',
      '451 4.7.651 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation. (S775)',
    ],
    [
      'policy',
      'rate',
      '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77714) [DB5EUR01FT034.eop-EUR01.prod.protection.outlook.com]',
    ],
    [
      'connection',
      'soft',
      'DSN: 550 5.4.316 Message expired, connection refused(Socket error code 10061)',
    ],
    ['connection', 'soft', 'DSN: 554 5.4.14 Hop count exceeded - possible mail loop ATTR34'],
    ['policy', 'rate', '452 4.5.3 Recipients limit exceeded'],
  ],
  yahoo: [
    [
      'invalid-recipient',
      'hard',
      "554 delivery error: dd This user doesn't have a yahoo.example account (joe@yahoo.example) [-5] - mta4116.mail.bf1.example.com",
    ],
    [
      'invalid-recipient',
      'hard',
      '554 delivery error: dd Requested mail action aborted, mailbox not found',
    ],
    [
      'invalid-recipient',
      'hard',
      '554 delivery error: dd Not a valid recipient - mta1.example.com',
    ],
    [
      'invalid-recipient',
      'hard',
      '554 30 Sorry, your message to joe@yahoo.example cannot be delivered. This mailbox is disabled (554.30).',
    ],
    [
      'policy',
      'rate',
      'MAIL: 421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1',
    ],
    [
      'policy',
      'rate',
      'MAIL: 421 4.7.1 [TS03] All messages from 192.0.2.1 will be permanently deferred; Retrying will NOT succeed.',
    ],
    [
      'blocked',
      'soft',
      "connect: 553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus's list",
    ],
    [
      'policy',
      'soft',
      'dot: 554 5.7.9 Message not accepted for policy reasons. See https://postmaster.example.com/error-codes',
    ],
    [
      'mailbox-full',
      'soft',
      "552 5.2.2 This message is larger than the current system limit or the recipient's mailbox is full.",
    ],
  ],
  icloud: [
    ['invalid-recipient', 'hard', '550 5.1.1 <joe@icloud.example>: user does not exist'],
    [
      'spam',
      'soft',
      'dot: 550 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
    ],
    ['mailbox-full', 'soft', '552 5.2.2 <joe@icloud.example>: user is over quota'],
    ['policy', 'rate', '421 4.7.1 mx.example.com Error: too many connections from 192.0.2.1'],
  ],
  'gmx and web.de': [
    [
      'invalid-recipient',
      'hard',
      '550 Requested action not taken: mailbox unavailable For explanation visit https://postmaster.gmx.example/en/error-messages?ip=192.0.2.1&c=rd',
    ],
    ['unknown', 'soft', 'dot: 550 Requested action not taken: mailbox unavailable'],
    [
      'mailbox-full',
      'soft',
      '552 Requested mail action aborted: exceeded storage allocation Quota exceeded. The recipient mailbox is full.',
    ],
    [
      'blocked',
      'soft',
      'connect: 554 gmx.example (mxgmx115) Nemesis ESMTP Service not available No SMTP service IP address is black listed.',
    ],
    ['policy', 'soft', 'dot: 554 Transaction failed Reject due to policy restrictions.'],
    [
      'policy',
      'rate',
      '450 Requested mail action not taken: mailbox unavailable Mail send limit exceeded.',
    ],
  ],
  'mail.ru and yandex': [
    [
      'invalid-recipient',
      'hard',
      '550 Message was not accepted -- invalid mailbox. Local mailbox joe@example.ru is unavailable: user not found',
    ],
    [
      'invalid-recipient',
      'hard',
      '550 Message was not accepted -- invalid mailbox. Local mailbox joe@example.ru is unavailable: account is disabled',
    ],
    [
      'mailbox-full',
      'soft',
      '550 Message was not accepted -- invalid mailbox. Local mailbox joe@example.ru is unavailable: quota exceeded, over quota',
    ],
    [
      'spam',
      'soft',
      'dot: 550 spam message rejected. Please visit http://help.example.ru/notspam-support/id?c=x or report details to abuse@corp.example.ru.',
    ],
    ['policy', 'rate', '451 Ratelimit exceeded for mailbox alice@example.com. Try again later.'],
    ['invalid-recipient', 'soft', '550 5.7.1 No such user!'],
    [
      'spam',
      'soft',
      'dot: 554 5.7.1 [1] Message rejected under suspicion of SPAM; https://ya.example/1IrBc 1700000000-abc',
    ],
    ['mailbox-full', 'soft', '552 5.2.2 Mailbox size limit exceeded 1700000000-abc'],
    [
      'policy',
      'soft',
      '451 4.7.1 Sorry, the service is currently unavailable. Please come back later.',
    ],
    ['policy', 'soft', 'dot: 550 5.7.1 Policy rejection on the target address'],
  ],
  'qq, netease and naver': [
    [
      'invalid-recipient',
      'hard',
      '550 Mailbox not found [MXABC]. https://service.example.com/detail/0/248',
    ],
    [
      'policy',
      'rate',
      '550 Connection frequency limited [MXABC]. https://service.example.com/detail/0/20',
    ],
    ['policy', 'rate', 'MAIL: 550 Domain frequency limited [MXABC].'],
    [
      'spam',
      'soft',
      'dot: 550 Mail content denied [MXABC]. https://service.example.com/detail/0/49',
    ],
    ['blocked', 'soft', 'MAIL: 550 Suspected spam ip [MXABC].'],
    ['policy', 'soft', 'dot: 550 Mail rejected by recipient'],
    ['invalid-recipient', 'hard', '550 User not found: joe@example.cn'],
    ['spam', 'soft', 'dot: 554 DT:SPM 163 mx7,PsCowEDpQ1f.S2 1700000000'],
    ['blocked', 'soft', 'MAIL: 554 HL:REP 163 mx9 1700000000'],
    ['policy', 'rate', 'MAIL: 451 MI:DMC 163 mx5 1700000000'],
    ['invalid-recipient', 'hard', '550 5.1.1 No such user Recipient not exist - nsmtp'],
    ['mailbox-full', 'soft', '552 5.2.2 mailbox is full - nsmtp'],
    ['blocked', 'soft', 'connect: 421 4.3.2 Your ip blocked from this server - nsmtp'],
  ],
  'orange, laposte, free and sfr': [
    [
      'invalid-recipient',
      'hard',
      '550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]',
    ],
    [
      'mailbox-full',
      'soft',
      '552 5.1.1 Boite du destinataire pleine. Recipient overquota. OFR_417 [417]',
    ],
    [
      'policy',
      'rate',
      'connect: 421 mwinf5c20 ME Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. OFR004_104 [104]',
    ],
    ['spam', 'soft', 'dot: 550 5.2.0 Mail rejete. Mail rejected. OFR_506 [506]'],
    [
      'blocked',
      'soft',
      'connect: 550 5.5.0 Service refuse. Veuillez essayer plus tard. Service refused, please try later. LPN007_510',
    ],
    [
      'policy',
      'rate',
      'MAIL: 451 too many errors detected from your IP, please visit http://postmaster.free.example/',
    ],
    ['invalid-recipient', 'hard', '550 5.1.1 Adresse email incorrecte. Wrong email address'],
  ],
  'comcast, cox, charter and aol': [
    ['invalid-recipient', 'hard', '550 5.1.1 Not our Customer'],
    [
      'blocked',
      'soft',
      'connect: 554 resimta-po-12v.sys.example.net 192.0.2.1 Comcast block for spam. Please see http://postmaster.example.net/smtp-error-codes.php#BL000000',
    ],
    [
      'policy',
      'rate',
      'MAIL: 421 4.1.0 192.0.2.1 Throttled - try again later. Please see http://postmaster.example.net/smtp-error-codes.php#RL000001',
    ],
    [
      'policy',
      'rate',
      'connect: 421 resimta-po-05v.sys.example.net Try again later, too many sessions opened',
    ],
    ['blocked', 'soft', 'dot: 550 5.7.1 AUP#Out-1130 - message refused'],
    [
      'policy',
      'rate',
      'connect: 421 eastrmimpi.example.net 192.0.2.1 has exceeded the maximum number of connections AUP#Conn',
    ],
    ['policy', 'rate', '421 4.7.1 : (DYN:T1) http://postmaster.example.com/errors/421dynt1.html'],
    ['blocked', 'soft', '554 5.7.1 : (RTR:BL) http://postmaster.example.com/errors/554rtrbl.html'],
    [
      'invalid-recipient',
      'hard',
      '550 5.1.1 <joe@example.org>: Recipient address rejected: example.org',
    ],
  ],
  postfix: [
    [
      'invalid-recipient',
      'hard',
      '550 5.1.1 <joe@example.net>: Recipient address rejected: User unknown in virtual mailbox table',
    ],
    [
      'invalid-recipient',
      'hard',
      '550 5.1.1 <joe@example.net>: Recipient address rejected: undeliverable address: host mail.example.net[192.0.2.9] said: 550 5.1.1 unknown',
    ],
    [
      'invalid-recipient',
      'soft',
      '450 4.1.1 <joe@example.net>: Recipient address rejected: unverified address: Address verification in progress',
    ],
    ['invalid-recipient', 'hard', 'DSN: 5.1.1 unknown user: "joe"'],
    [
      'policy',
      'soft',
      '450 4.2.0 <joe@example.net>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.example/help/example.com.html',
    ],
    ['policy', 'soft', '450 4.1.8 <alice@example.com>: Sender address rejected: Domain not found'],
    [
      'policy',
      'soft',
      '550 5.1.0 <alice@example.com>: Sender address rejected: User unknown in relay recipient table',
    ],
    [
      'policy',
      'soft',
      '450 4.7.1 Client host rejected: cannot find your reverse hostname, [192.0.2.1]',
    ],
    ['policy', 'soft', '504 5.5.2 <mx>: Helo command rejected: need fully-qualified hostname'],
    ['policy', 'soft', '554 5.7.1 <joe@example.net>: Relay access denied'],
    [
      'blocked',
      'soft',
      '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1',
    ],
    ['policy', 'rate', '421 4.7.0 mx.example.net Error: too many connections from 192.0.2.1'],
    ['mailbox-full', 'soft', '452 4.3.1 Insufficient system storage'],
    ['message-too-large', 'soft', 'MAIL: 552 5.3.4 Message size exceeds fixed limit'],
    [
      'invalid-domain',
      'hard',
      'DSN: 5.4.4 Host or domain name not found. Name service error for name=nowhere.example.net type=AAAA: Host not found',
    ],
    [
      'connection',
      'soft',
      'DSN: 4.4.3 Host or domain name not found. Name service error for name=example.net type=MX: Host not found, try again',
    ],
    ['connection', 'soft', 'DSN: 5.4.6 mail for example.net loops back to myself'],
    [
      'connection',
      'soft',
      'DSN: 4.4.1 connect to mx.example.net[192.0.2.25]:25: Connection timed out',
    ],
    [
      'auth-failed',
      'soft',
      '550 5.7.23 <joe@example.net>: Recipient address rejected: Message rejected due to: SPF fail - not authorized',
    ],
    ['connection', 'soft', '454 4.7.0 TLS not available due to local problem'],
  ],
  'exim and cPanel': [
    ['invalid-recipient', 'hard', '550 No such user here'],
    ['invalid-recipient', 'hard', '550 Unrouteable address'],
    ['invalid-recipient', 'hard', '550 "No Such User Here"'],
    [
      'unknown',
      'soft',
      '550 "The mail server could not deliver mail to joe@example.net.  The account or domain may not exist, they may be blacklisted, or missing the proper dns entries."',
    ],
    ['policy', 'soft', '550 relay not permitted'],
    [
      'policy',
      'soft',
      '550-Verification failed for <alice@example.com> 550-No Such User Here 550 Sender verify failed',
    ],
    ['policy', 'soft', '550 Administrative prohibition'],
    ['connection', 'soft', 'DSN: retry timeout exceeded'],
    [
      'policy',
      'rate',
      'DSN: Domain example.com has exceeded the max emails per hour (105/100 (105%)) allowed. Message discarded.',
    ],
    ['spam', 'soft', 'dot: 550 This message was classified as SPAM and may not be delivered'],
    ['connection', 'soft', 'DSN: all relevant MX records point to non-existent hosts'],
  ],
  sendmail: [
    ['invalid-recipient', 'hard', '550 5.1.1 <joe@example.net>... User unknown'],
    [
      'invalid-recipient',
      'hard',
      '553 5.3.0 <joe@example.net>... Addressee unknown, relay=[192.0.2.1]',
    ],
    [
      'invalid-recipient',
      'hard',
      '550 5.2.1 <joe@example.net>... Mailbox disabled for this recipient',
    ],
    ['policy', 'soft', '550 5.7.1 <joe@example.net>... Relaying denied'],
    [
      'policy',
      'soft',
      '553 5.1.8 <alice@example.com>... Domain of sender address alice@example.com does not exist',
    ],
    [
      'invalid-domain',
      'hard',
      '550 5.1.2 <joe@nowhere.example.net>... Host unknown (Name server: nowhere.example.net: host not found)',
    ],
    ['connection', 'soft', 'dot: 554 5.4.6 Too many hops 26 (25 max)'],
    ['policy', 'rate', 'connect: 421 4.3.2 Connection rate limit exceeded.'],
    ['unknown', 'soft', '554 5.0.0 Service unavailable'],
    ['mailbox-full', 'soft', '452 4.4.5 Insufficient disk space; try again later'],
  ],
  'qmail and courier': [
    ['invalid-recipient', 'hard', 'DSN: 5.1.1 Sorry, no mailbox here by that name. (#5.1.1)'],
    ['invalid-recipient', 'hard', '511 sorry, no mailbox here by that name (#5.1.1 - chkuser)'],
    ['policy', 'soft', "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)"],
    [
      'connection',
      'soft',
      "DSN: 4.4.1 Sorry, I wasn't able to establish an SMTP connection. (#4.4.1)",
    ],
    [
      'invalid-domain',
      'hard',
      "DSN: 5.1.2 Sorry, I couldn't find any host named nowhere.example.net. (#5.1.2)",
    ],
    [
      'mailbox-full',
      'soft',
      "DSN: 5.2.2 Recipient's mailbox is full, message returned to sender. (#5.2.2)",
    ],
    [
      'connection',
      'soft',
      'DSN: 5.4.6 This message is looping: it already has my Delivered-To line. (#5.4.6)',
    ],
    [
      'expired',
      'soft',
      "DSN: I'm not going to try again; this message has been in the queue too long.",
    ],
    ['invalid-recipient', 'hard', '550 User unknown.'],
  ],
  'exchange and domino': [
    ['invalid-recipient', 'hard', 'DSN: 550 5.1.1 User unknown'],
    ['invalid-recipient', 'hard', 'DSN: User joe (joe@example.net) not listed in Domino Directory'],
    ['invalid-recipient', 'hard', '550 joe@example.net... No such user'],
    ['message-too-large', 'soft', 'DSN: 5.2.3 The message is too large for the recipient.'],
    ['policy', 'soft', '550 5.7.1 Client does not have permission to send as this sender'],
  ],
  'filters and gateways': [
    [
      'blocked',
      'soft',
      '554 Service unavailable; Client host [mail.example.com] blocked using Barracuda Reputation; http://www.barracudanetworks.com/reputation/?r=1&ip=192.0.2.1',
    ],
    [
      'blocked',
      'soft',
      '554 5.7.1 permanent failure for one or more recipients (joe@example.net:blocked)',
    ],
    [
      'blocked',
      'soft',
      '550 5.7.1 Service unavailable; client [192.0.2.1] blocked using b.barracudacentral.org',
    ],
    ['blocked', 'soft', 'connect: 554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1'],
    ['invalid-recipient', 'hard', '550 5.1.1 User Unknown'],
    ['policy', 'soft', '550-5.7.0 Local Policy Violation'],
    [
      'auth-failed',
      'soft',
      'dot: 550 Rejected by header based Anti-Spoofing policy: alice@example.com - https://community.mimecast.com/docs/DOC-1369#550',
    ],
    [
      'invalid-recipient',
      'hard',
      '550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [aBcDeF]',
    ],
    [
      'policy',
      'rate',
      '451 Internal resources are temporarily unavailable - https://community.mimecast.com/docs/DOC-1369#451 [aBcDeF]',
    ],
    [
      'policy',
      'soft',
      'dot: 554 Email rejected due to security policies - https://community.mimecast.com/docs/DOC-1369#554',
    ],
    [
      'blocked',
      'soft',
      'MAIL: 550 5.7.1 Mail from 192.0.2.1 refused by Cloudmark Sender Intelligence, see http://csi.cloudmark.com/reset-request/?ip=192.0.2.1',
    ],
    [
      'blocked',
      'soft',
      "554 Your access to this mail system has been rejected due to the sending MTA's poor reputation.",
    ],
    ['invalid-recipient', 'hard', '550 #5.1.0 Address rejected.'],
    ['policy', 'rate', '452 Too many recipients received this hour'],
    [
      'spam',
      'soft',
      '501 Connection rejected by policy [7.7] 38507, please visit www.messagelabs.com/support for more details',
    ],
    [
      'spam',
      'soft',
      'dot: 554 5.6.9 customer rule based reject by example; If you believe that this is incorrect, please contact the recipient',
    ],
    [
      'blocked',
      'soft',
      '550 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using Trend Micro RBL+. Please see http://www.mail-abuse.com/cgi-bin/lookup?ip_address=192.0.2.1',
    ],
    [
      'blocked',
      'soft',
      'connect: 554 IP=192.0.2.1 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.example.net to clarify.)',
    ],
  ],
  'words that mislead': [
    // A good recipient must not be blocked for a problem of the sender, the client or the route.
    ['blocked', 'soft', '550 5.1.1 User unknown - rejected: 192.0.2.1 is on our blocklist'],
    ['unknown', 'soft', 'MAIL: 550 5.1.1 Unknown user'],
    ['blocked', 'soft', 'connect: 550 5.1.2 Host unknown'],
    ['policy', 'soft', '550 unknown sender domain, user unknown'],
    ['invalid-recipient', 'soft', '550 4.1.1 User unknown'],
    ['invalid-recipient', 'soft', '450 5.1.1 User unknown'],
    ['invalid-recipient', 'hard', '550 5.1.1 <no-spam@blacklist.example.net>: User unknown'],
    ['invalid-recipient', 'hard', '550 mx.spam-filter.example.net: no such user'],
    ['policy', 'soft', '452 4.5.3 Too many recipients'],
    ['unknown', 'soft', '550 Your account has been disabled'],
    ['unknown', 'soft', '550 IP address is not registered'],
    ['unknown', 'soft', 'dot: 550 This service is no longer available'],
    ['unknown', 'soft', 'dot: 550 We do not recognize your host'],
    ['unknown', 'soft', 'dot: 554 Transaction failed'],
    ['unknown', 'soft', '550 rejected'],
    ['unknown', 'soft', '550 '],
    ['unknown', 'soft', 'DSN: '],
    ['unknown', 'soft', '550 5.1.4 Ambiguous'],
    ['unknown', 'soft', '550 5.0.0 Something went wrong'],
    ['spam', 'soft', 'dot: 554 5.6.1 Virus found'],
    ['auth-failed', 'soft', 'MAIL: 530 Must issue a STARTTLS command first'],
    ['invalid-domain', 'hard', '556 5.1.10 Recipient domain has null MX'],
    ['invalid-domain', 'soft', '450 4.1.2 Recipient address rejected: Domain not found'],
  ],
};

describe.each(Object.entries(lines))('%s', (_provider, rows) => {
  it.each(rows)('is %s, %s: %s', (errorCode, strength, line) => {
    expect([classify(line).errorCode, strengthOf(line)]).toEqual([errorCode, strength]);
  });
});

it('the collection holds at least 120 lines of real servers', () => {
  expect(Object.values(lines).flat().length).toBeGreaterThanOrEqual(120);
});

describe('the rules of replies', () => {
  it.each(replyRules)('reach every rule with its example: $example', (rule) => {
    expect(findReplyRule(readReplyLine(rule.example))).toBe(rule);
  });

  it('mark nothing hard in a temporary refusal or before a recipient was named', () => {
    const replies = Object.values(lines)
      .flat()
      .map(([, , line]) => readReplyLine(line));
    expect(replies.filter((reply) => classifyReply(reply).isHard).length).toBeGreaterThan(40);
    for (const reply of replies) {
      const temporary = { ...reply, code: 450 };
      expect(classifyReply(temporary).isHard).toBe(false);
      for (const verb of ['connect', 'EHLO', 'STARTTLS', 'AUTH', 'MAIL']) {
        expect(classifyReply({ ...reply, verb }).isHard).toBe(false);
      }
    }
  });

  it.each([
    ['user ', 'x'],
    ['quota ', 'y'],
    ['a@', ''],
    ['@', ''],
    ['too many a b c ', ''],
    ['mailbox is ', ''],
    ['domain ', 'x '],
    ['name service error for ', ''],
    ['ip address ', ''],
    ['client host ', ''],
    [' ', ''],
    ['address "', '('],
    ['rejected by content ', ''],
    ['the user you tried to reach ', ''],
    ['adresse ', ' ящик '],
    ['(', ':'],
    ['1', ''],
  ])('take time linear in a text of %j', (piece, other) => {
    const text = (piece + other).repeat(Math.ceil(100_000 / (piece + other).length));
    const started = startWork();
    classifyReply({ code: 550, enhancedCode: null, text, verb: 'RCPT' });
    expect(workedMs(started)).toBeLessThan(100);
  });
});
