// Real wordings (names changed) of refusals with a remedy, and their cause.
import { describe, expect, it } from 'vitest';
import { type Cause, causes } from '../../../src/mail/smtp/reply-rules/causes.ts';
import {
  classifyReply,
  findCause,
  replyRules,
} from '../../../src/mail/smtp/reply-rules/classify-reply.ts';
import { readReplyLine } from './reply-line.ts';

/** Replies by cause; `(rate)` in front of those that also ask for a slower pace. */
const wordings: Record<Cause, readonly string[]> = {
  'duplicate-header': [
    'dot: 550 5.7.1 [192.0.2.1] Our system has detected that this message is not RFC 5322 compliant: duplicate headers. To reduce the amount of spam sent to Gmail, this message has been blocked. Please review RFC 5322 specifications for more information. fw4-20020a05622a4a8400b si4790446qtb.213 - gsmtp',
    "dot: 550 5.7.1 [192.0.2.1] Our system has detected that this message is not RFC 5322 compliant: Multiple 'From' headers found. To reduce the amount of spam sent to Gmail, this message has been blocked. Please visit https://support.google.com/mail/?p=RfcMessageNonCompliant and review RFC 5322 specifications for more information.",
    'dot: 550 5.7.1 This message is not RFC 5322 compliant. There are multiple Reply-To headers. To reduce the amount of spam sent to Gmail, this message has been blocked.',
    'dot: 550 5.7.1 [192.0.2.1] This message is not RFC 5322 compliant, the issue is: duplicate To headers. To reduce the amount of spam sent to Gmail, this message has been blocked.',
    "dot: 554 Transaction failed: Duplicate header 'Message-ID'.",
    'dot: 554 5.6.0 Multiple From headers are not allowed',
    'dot: 550 Messages should have one or no Message-ID headers, not 2.',
    'DSN: 550 5.7.1 Header field Subject occurs more than once',
  ],
  'missing-header': [
    "dot: 550 5.7.1 [192.0.2.1] Our system has detected that this message is not RFC 5322 compliant: 'From' header is missing. To reduce the amount of spam sent to Gmail, this message has been blocked.",
    'dot: 550 5.7.1 Messages missing a valid Message-ID: header are not accepted. For more information, go to Email sender guidelines and review RFC 5322 specifications.',
    'dot: 550 5.7.1 Message rejected: Date header is missing',
    'dot: 554 5.7.1 Missing Message-ID header',
    'dot: 550 Missing required header',
    'dot: 550 5.7.0 Your message has no Date header',
  ],
  'from-form': [
    'dot: 550 5.7.1 [192.0.2.1] Messages with multiple addresses in From: header are not accepted. For more information, go to https://support.google.com/mail/?p=RfcMessageNonCompliant and review RFC 5322 specifications. d2e1a72fcca58 - gsmtp',
    'dot: 550 5.7.1 Messages missing a valid address in the From: header, or having no From: header, are not accepted.',
    'dot: 550 5.7.0 From header is malformed',
    'dot: 554 5.6.0 Invalid From header',
  ],
  'header-form': [
    'dot: 554 Message not allowed - Headers are not RFC compliant[291]',
    'dot: 554 5.7.1 Your message headers are not compliant with RFC 5322',
    'dot: 550 5.7.1 headers are not compliant',
    'dot: 554 Bad header: invalid address in To',
    'dot: 554 5.6.0 Reject, id=01234-05 - BAD HEADER',
    "dot: 554 Transaction failed: Missing final '@domain'",
    'dot: 550 Malformed header line',
    "dot: 554 Transaction failed: Illegal header 'X'",
  ],
  'header-charset': [
    'dot: 550 5.6.0 improper use of 8-bit data in message header',
    'dot: 550 5.6.9 improper use of 8-bit data in message header',
    'dot: 550 5.7.1 The message contains a unicode character in a disallowed header. To review our message and header content guidelines, go to https://support.google.com/mail/?p=BlockedMessage',
    'dot: 550 5.7.1 Encoded-word syntax is not permitted in message header From. To reduce the amount of spam sent to Gmail, this message has been blocked.',
    'dot: 554 5.6.0 Non-ASCII characters in header',
  ],
  'mail-form': [
    'dot: 550 5.7.1 [192.0.2.1] Our system has detected that this message is not RFC 5322 compliant. To reduce the amount of spam sent to Gmail, this message has been blocked. Please review RFC 5322 specifications for more information.',
    'dot: 554 5.6.0 Mail message is malformed. Not accepted. For more information, go to https://support.google.com/mail/?p=RfcMessageNonCompliant',
    'dot: 554 5.0.0 Message not accepted due to failed RFC compliance',
    'dot: 554 Format restriction violation. Email Session ID: {4DA765B1-6-6565EC3F-FFFF}',
    'dot: 550 Message is not RFC 2822 compliant',
    'dot: 554 5.7.1 Message rejected: not RFC compliant',
  ],
  'mime-form': [
    'dot: 554 Transaction failed: Invalid MIME Content-Type',
    'dot: 554 Transaction failed: Expected disposition, got null',
    'dot: 550 5.6.0 CAT.InvalidContent.Exception: InvalidCharsetException, Character set name (utf-9) is invalid or not installed.',
    'dot: 554 5.6.0 STOREDRV.Deliver; Corrupt message content',
    'dot: 550 Malformed MIME message',
    'dot: 554 This message contains invalid MIME headers',
  ],
  'line-too-long': [
    'dot: 550 maximum allowed line length is 998 octets, got 1712',
    'dot: 500 5.5.2 Error: line too long',
    'dot: 500 Line limit exceeded',
    'dot: 550 Maximum line length exceeded (see RFC 5321 4.5.3.1.6)',
    'dot: 550 Line too long (see RFC5321 4.5.3.1.6) - ImprovMX',
    'dot: 550 Message is not RFC5322 2.1.1 compliant',
    'DSN: message has lines too long for transport',
    'dot: 554 5.6.0 lines longer than 998 characters are not accepted',
    'dot: 552 5.2.0 line length limit exceeded',
  ],
  'bare-line-end': [
    'dot: 521 5.5.2 mx.example.net Error: bare <LF> received',
    'dot: 550 5.6.0 Lone CR or LF in headers (see RFC2822 section 2.3)',
    'dot: 451 See http://pobox.com/~djb/docs/smtplf.html.',
    'dot: 550 5.6.11 SMTPSEND.BareLinefeedsAreIllegal; message contains bare linefeeds, which cannot be sent via DATA and receiving system does not support BDAT',
    'dot: 554 5.5.2 stray newline detected',
  ],
  'date-form': [
    'dot: 550 Date header far in the past/future.',
    'dot: 554 5.7.1 Invalid Date header',
    'dot: 550 5.7.1 Message rejected: Date is too far in the future',
  ],
  'eight-bit': [
    'dot: 554 5.6.1 Eight bit data not allowed',
    'DSN: 5.6.1 Body type not supported by Remote Host',
    'dot: 550 5.6.3 8-bit content is not accepted here',
  ],
  'duplicate-dkim': [
    "dot: 554 Transaction failed: Duplicate header 'DKIM-Signature'.",
    'dot: 554 5.7.1 Multiple DKIM-Signature headers are not allowed',
    'dot: 554 Transaction failed: DKIM-Signature header occurs more than once',
  ],
  'missing-ptr': [
    'dot: 550 5.7.25 [192.0.2.1] The IP address sending this message does not have a PTR record setup, or the corresponding forward DNS entry does not point to the sending IP. As a policy, Gmail does not accept messages from IPs with missing PTR records. Please visit https://support.google.com/mail/answer/81126#ip-practices for more information.',
    'dot: 550 5.7.25 The sending IP does not match the IP address of the hostname specified in the pointer (PTR) record.',
    "(rate) dot: 421 4.7.23 The sending IP address for this message doesn't have a PTR record, or the PTR record's forward DNS entry doesn't match the sending IP address. To protect users from spam, your email has been temporarily rate limited.",
    'dot: 550 5.7.1 [2001:db8::1] This message does not meet IPv6 sending guidelines regarding PTR records and authentication.',
    'connect: 554 gmx.example (mxgmx101) Nemesis ESMTP Service not available No SMTP service Bad DNS PTR resource record.',
    'RCPT: 550 5.7.1 Client host rejected: cannot find your reverse hostname, [192.0.2.1]',
    'RCPT: 450 4.7.1 Client host rejected: cannot find your hostname, [192.0.2.1]',
    'connect: 554 5.7.1 Reverse DNS lookup for host 192.0.2.1 failed permanently',
    'connect: 554 No PTR record found.',
    'dot: 550 5.7.25 Nope',
  ],
  'spf-failed': [
    'dot: 550 5.7.27 This mail has been blocked because SPF does not pass. Gmail requires all large senders to authenticate with SPF. Authentication results: SPF example.com with ip: [192.0.2.1] = Did not pass. For instructions on setting up SPF authentication, go to https://support.google.com/mail/answer/81126#spf',
    "(rate) dot: 421 4.7.27 Your email has been rate limited because SPF authentication didn't pass for this message. Gmail requires all bulk email senders to authenticate their email with SPF. Authentication results: SPF example.com with IP address: 192.0.2.1 = Did not pass.",
    'RCPT: 550 5.7.23 <joe@example.net>: Recipient address rejected: Message rejected due to: SPF fail - not authorized. Please see http://www.openspf.net/Why',
    'dot: 550 5.7.26 The MAIL FROM domain [example.com] has an SPF record with a hard fail policy (-all) but it fails to pass SPF checks with the ip: [192.0.2.1].',
    'MAIL: 550 5.7.1 Sender Policy Framework violation',
    "RCPT: 554 192.0.2.1 is not allowed to send from <example.net> per it's SPF Record. Please inspect your SPF settings, and try again. IB508",
  ],
  'spf-record': [
    'dot: 550 5.7.24 The SPF record of the sending domain has one or more suspicious entries.',
    '(rate) dot: 451 4.7.24 The SPF record of the sending domain has one or more suspicious entries. To protect our users from spam, mail sent from your IP address has been temporarily rate limited.',
    'RCPT: 550 5.7.24 SPF permerror: too many DNS lookups',
  ],
  'dkim-failed': [
    'dot: 550 5.7.30 This mail has been blocked because DKIM does not pass. Gmail requires all large senders to authenticate with DKIM. Authentication results: DKIM = Did not pass. For instructions on setting up DKIM authentication, go to https://support.google.com/mail/answer/81126#authentication',
    "(rate) dot: 421 4.7.30 Your email has been rate limited because DKIM authentication didn't pass for this message. Gmail requires all email bulk senders to authenticate their email with DKIM. Authentication results: DKIM = Did not pass.",
    'dot: 550 5.7.20 No passing DKIM signature found',
    'dot: 554 5.7.1 DKIM signature verification failed',
  ],
  unauthenticated: [
    'dot: 550 5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM. Authentication results: DKIM = did not pass SPF [example.com] with ip: [192.0.2.1] = did not pass',
    '(rate) dot: 421 4.7.26 This mail has been rate limited because it is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM.',
    'dot: 550 5.7.26 This message does not have authentication information or fails to pass authentication checks (SPF or DKIM). To best protect our users from spam, the message has been blocked.',
    "dot: 550 5.7.515 Access denied, sending domain example.com doesn't meet the required authentication level. The sender's domain in the 5322.From address doesn't meet the authentication requirements defined for the sender.",
  ],
  'dmarc-policy': [
    "dot: 550 5.7.26 Unauthenticated email from example.com is not accepted due to domain's DMARC policy. Please contact the administrator of example.com domain if this was a legitimate mail.",
    'dot: 550 5.7.509 Access denied, sending domain example.com does not pass DMARC verification and has a DMARC policy of reject.',
    'dot: 550 5.7.1 Email rejected per DMARC policy for example.com',
    "dot: 554 5.7.1 [HME1] Your message was rejected due to example.com's DMARC policy.",
  ],
  'dmarc-missing': [
    "(rate) dot: 421 4.7.40 Your email has been rate limited because the sending domain does not have a DMARC record, or the DMARC record doesn't specify a DMARC policy. Gmail requires all bulk email senders to have a DMARC record.",
    "dot: 550 5.7.40 This mail has been blocked because the sending domain doesn't have a DMARC record.",
  ],
  'not-aligned': [
    "(rate) dot: 421 4.7.32 Your email has been rate limited because the From: header (RFC5322) in this message isn't aligned with either the authenticated SPF or DKIM organizational domain. To resolve this issue, go to Email sender guidelines.",
    'dot: 550 5.7.32 From header is not aligned with the authenticated domain',
  ],
  'tls-required': [
    "(rate) dot: 421 4.7.29 Your email has been rate limited because this message wasn't sent over a TLS connection. Gmail requires all bulk email senders to use TLS/SSL for SMTP connections.",
    'RCPT: 421 4.7.0 TLS required for RCPT domain, closing connection.',
  ],
  'null-mx': [
    'MAIL: 550 5.7.27 Sender address has null MX',
    'RCPT: 556 5.7.27 <alice@example.com>: Sender address rejected: domain of return path has a null MX',
  ],
  'unverified-sender': [
    'dot: 554 Message rejected: Email address is not verified. The following identities failed the check in region US-EAST-1: alice@example.com',
    'dot: 554 Message rejected: Email address is not verified. The following identities failed the check in region EU-WEST-1: Alice <alice@example.com>, alice@example.com',
    'DSN: 554 Message rejected: Email address is not verified.',
    'MAIL: 550 The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved. Visit https://sendgrid.com/docs/for-developers/sending-email/sender-identity/ to see the Sender Identity requirements',
    'MAIL: 525 5.7.13 Sending has been rejected because the sender you used alice@example.com is not valid. Validate your sender or authenticate your domain',
    'dot: 550 5.7.1 The sending domain example.com is not verified',
    'dot: 421 Domain sandbox123.mailgun.example is not allowed to send: Free accounts are for test purposes only. Please upgrade or add the address to authorized recipients.',
  ],
  'send-as': [
    'dot: 550 5.7.60 SMTP; Client does not have permissions to send as this sender',
    'dot: 554 5.2.252 SendAsDenied; alice@example.com not allowed to send as bob@example.com; STOREDRV.Submission.Exception:SendAsDeniedException.MapiExceptionSendAsDenied',
    'RCPT: 553 5.7.1 <alice@example.com>: Sender address rejected: not owned by user bob',
    'dot: 553 Sender is not allowed to relay emails',
  ],
  'account-paused': [
    'dot: 554 Message rejected: Sending suspended for this account. For more information, please check the inbox of the email address associated with your AWS account.',
    'dot: 554 Message rejected: Sending paused for this account.',
    'dot: 554 Access denied: User `arn:aws:iam::1:user/ses` is not authorized to perform `ses:SendRawEmail` on resource `arn:aws:ses:eu-west-1:1:identity/example.com`',
    'MAIL: 550 5.7.0 Mail Sending denied [192.0.2.1]',
  ],
  'relay-login': [
    'AUTH: 535 5.7.8 Username and Password not accepted. For more information, go to https://support.google.com/mail/?p=BadCredentials',
    'AUTH: 535 Authentication Credentials Invalid',
    'AUTH: 535 5.7.3 Authentication unsuccessful',
    'AUTH: 535 5.7.8 Error: authentication failed: Invalid user or password',
    'MAIL: 530 5.7.57 SMTP; Client was not authenticated to send anonymous mail during MAIL FROM',
  ],
  'app-password': [
    'AUTH: 534 5.7.9 Application-specific password required. For more information, go to https://support.google.com/mail/?p=InvalidSecondFactor',
    'AUTH: 534 5.7.14 Please log in via your web browser and then try again.',
  ],
  'smtp-auth-disabled': [
    'AUTH: 535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant. Visit https://aka.ms/smtp_auth_disabled for more information.',
    'AUTH: 535 5.7.139 Authentication unsuccessful, basic authentication is disabled.',
  ],
  'relay-denied': [
    'MAIL: 550 5.7.0 Mail relay denied [192.0.2.1]. Invalid credentials for relay for one of the domains in: example.com (as obtained from HELO and MAIL FROM).',
    'MAIL: 550 5.7.1 Invalid credentials for relay [192.0.2.1]. The IP address you have registered in your Workspace SMTP Relay service does not match the domain of the account.',
  ],
  'helo-name': [
    '504 5.5.2 <localhost>: Helo command rejected: need fully-qualified hostname',
    'EHLO: 501 5.5.4 HELO/EHLO argument is invalid',
    '550 Invalid domain name in HELO',
    '450 4.7.1 <localhost>: Helo command rejected: Host not found',
  ],
};

const errorCodes: Record<Cause, string> = {
  ...(Object.fromEntries(Object.keys(causes).map((cause) => [cause, 'protocol'])) as Record<
    Cause,
    string
  >),
  'missing-ptr': 'policy',
  'spf-failed': 'auth-failed',
  'spf-record': 'auth-failed',
  'dkim-failed': 'auth-failed',
  unauthenticated: 'auth-failed',
  'dmarc-policy': 'auth-failed',
  'dmarc-missing': 'auth-failed',
  'not-aligned': 'auth-failed',
  'tls-required': 'policy',
  'null-mx': 'policy',
  'unverified-sender': 'policy',
  'send-as': 'policy',
  'account-paused': 'policy',
  'relay-login': 'auth-failed',
  'app-password': 'auth-failed',
  'smtp-auth-disabled': 'auth-failed',
  'relay-denied': 'policy',
  'helo-name': 'policy',
};

describe.each(Object.entries(wordings) as [Cause, string[]][])('the cause %s', (cause, rows) => {
  it.each(rows)('is named by: %s', (row) => {
    const reply = readReplyLine(row.replace(/^\(rate\) /, ''));
    const { errorCode, isHard, isRateLimited } = classifyReply(reply);
    const found = findCause(reply, errorCode);
    expect({ errorCode, isHard, isRateLimited, cause: found?.cause }).toEqual({
      errorCode: errorCodes[cause],
      isHard: false,
      isRateLimited: row.startsWith('(rate)'),
      cause,
    });
    expect(found?.remedy).toBe(causes[cause].remedy);
  });

  it('has a rule, and a remedy of its own', () => {
    expect(replyRules.some((rule) => rule.cause === cause)).toBe(true);
    const same = Object.values(causes).filter(({ remedy }) => remedy === causes[cause].remedy);
    expect(same).toHaveLength(1);
  });
});

describe('words beside a cause', () => {
  const others = [
    ['invalid-recipient', '550 5.1.1 <joe@example.net>: Recipient address rejected: User unknown'],
    [
      'invalid-recipient',
      '450 4.1.1 <joe@example.net>: Recipient address rejected: unverified address',
    ],
    ['invalid-recipient', '553 5.1.3 The recipient address <joe@> is not a valid RFC-5321 address'],
    ['mailbox-full', '552 5.2.2 The mailbox of the user is full'],
    ['message-too-large', 'dot: 552 5.3.4 Message header size exceeds fixed limit'],
    ['spam', 'dot: 554 5.7.1 This message has been blocked because it contains spam'],
    ['connection', 'dot: 554 5.4.6 Routing loop detected -- too many Received: headers'],
    [
      'blocked',
      'dot: 421 4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your DKIM domain [example.com 35].',
    ],
  ] as const;

  it.each(others)('leave a reply as %s without a cause: %s', (errorCode, line) => {
    const reply = readReplyLine(line);
    expect(classifyReply(reply).errorCode).toBe(errorCode);
    expect(findCause(reply, errorCode)).toBeNull();
  });

  it('give no cause for a delivery that ended with another errorCode', () => {
    const reply = readReplyLine('550 5.7.25 Nope');
    expect(findCause(reply, 'connection')).toBeNull();
  });
});
