import { describe, expect, it } from 'vitest';
import { classifyReply } from '../../../src/mail/smtp/reply-rules/classify-reply.ts';
import { toRemoteReply } from '../../../src/mail/smtp/session/reply.ts';

function classify(line: string) {
  const reply = { code: Number(line.slice(0, 3)), lines: [line.slice(4)] };
  return classifyReply(toRemoteReply(reply, 'RCPT')).errorCode;
}

describe('the errorCode of a refusal at RCPT', () => {
  it.each([
    // The recipient.
    [
      "550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address",
      'invalid-recipient',
    ],
    [
      '550 5.1.1 <x@example.com>: Recipient address rejected: User unknown in virtual mailbox table',
      'invalid-recipient',
    ],
    [
      '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient x@example.com not found by SMTP address lookup',
      'invalid-recipient',
    ],
    [
      '550 5.4.1 Recipient address rejected: Access denied. [AM7EUR06FT012.eop-eur06.prod.protection.outlook.com]',
      'invalid-recipient',
    ],
    [
      '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302)',
      'invalid-recipient',
    ],
    ['550 5.2.1 The email account that you tried to reach is inactive', 'invalid-recipient'],
    [
      "554 delivery error: dd This user doesn't have a yahoo.com account (x@yahoo.com) [0]",
      'invalid-recipient',
    ],
    ['550 No such user here', 'invalid-recipient'],
    ['553 5.3.0 <x@example.com>... No such user here', 'invalid-recipient'],
    ['550 Unrouteable address', 'invalid-recipient'],
    [
      '450 4.1.1 <x@example.com>: Recipient address rejected: unverified address',
      'invalid-recipient',
    ],
    // The domain.
    ['550 5.1.2 Host unknown', 'invalid-domain'],
    ['550 5.1.2 bad destination', 'invalid-domain'],
    ['556 5.1.10 Recipient domain has null MX', 'invalid-domain'],
    // The mailbox.
    ['452 4.2.2 The email account that you tried to reach is over quota', 'mailbox-full'],
    ['552 5.2.2 Mailbox size limit exceeded', 'mailbox-full'],
    ['552 Requested mail action aborted: exceeded storage allocation', 'mailbox-full'],
    ['554 5.2.2 mailbox full', 'mailbox-full'],
    // Reputation, in many words.
    [
      '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
      'blocked',
    ],
    ['550 5.1.1 User unknown - rejected: 192.0.2.1 is on our blocklist', 'blocked'],
    [
      "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150)",
      'blocked',
    ],
    [
      '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
      'policy',
    ],
    [
      '550 5.7.1 [192.0.2.1 12] Our system has detected that this message is likely unsolicited mail',
      'spam',
    ],
    [
      '421 4.7.28 Our system has detected an unusual rate of unsolicited mail originating from your IP address',
      'blocked',
    ],
    // Content.
    ['554 5.7.1 This message has been blocked because it contains spam', 'spam'],
    ['550 High probability of spam', 'spam'],
    ['554 5.6.1 Virus found', 'spam'],
    // Size.
    ['552 5.3.4 Message size exceeds fixed maximum message size', 'message-too-large'],
    ['552 5.2.3 Your message exceeded our limits', 'message-too-large'],
    // The client's identity.
    [
      '550 5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM',
      'auth-failed',
    ],
    ['550 5.7.1 Rejected by DMARC policy', 'auth-failed'],
    ['535 5.7.8 Error', 'auth-failed'],
    ['530 Must issue a STARTTLS command first', 'auth-failed'],
    // Rules.
    ['554 5.7.1 <x@example.com>: Relay access denied', 'policy'],
    ['451 4.7.1 Greylisting in action, please come back later', 'policy'],
    ['450 4.2.1 The user you are trying to contact is receiving mail too quickly', 'policy'],
    ['550 5.7.1 Message refused', 'policy'],
    ['553 5.1.8 Sender address rejected: Domain not found', 'policy'],
    ['550 Sender address rejected: Domain not found', 'policy'],
    ['553 5.1.7 Bad', 'policy'],
    ['553 5.1.8 Bad', 'policy'],
    // The rest.
    ['451 4.4.1 Connection timed out', 'connection'],
    ['501 Syntax error in parameters', 'protocol'],
    ['451 4.3.0 Temporary server error', 'unknown'],
    ['550 rejected', 'unknown'],
    ['550 ', 'unknown'],
  ])('of %s is %s', (line, errorCode) => {
    expect(classify(line)).toBe(errorCode);
  });
});
