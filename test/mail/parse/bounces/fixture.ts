// The mails of test/fixtures/bounces and their meaning. expected.json holds every field; this table
// gives the same in words, so that a change of either is seen.
import { readFileSync } from 'node:fs';
import type { BounceReport } from '../../../../src/mail/parse/bounce/bounce-report.ts';
import type { Complaint } from '../../../../src/mail/parse/bounce/complaint.ts';

const folder = new URL('../../../fixtures/bounces/', import.meta.url);

/**
 * Address, action, hard or soft, errorCode for each recipient; empty for a mail other than a
 * bounce.
 */
export const fixtures: Record<string, string[]> = {
  'amazon-ses-suppressed': ['joe@example.net failed soft suppressed'],
  'amazon-ses': ['joe@example.net failed hard invalid-recipient'],
  'aol-notice': ['joe@example.net failed hard invalid-recipient'],
  'barracuda-blocked': ['joe@example.net failed soft blocked'],
  'comcast-blocked': ['joe@example.net failed soft blocked'],
  'communigate-notice': [
    'joe@example.net failed soft blocked',
    'ann@example.net failed soft mailbox-full',
  ],
  'communigate-report': ['joe@example.net failed hard invalid-recipient'],
  'complaint-aol': ['complaint: abuse'],
  'complaint-generic': ['complaint: abuse'],
  'complaint-hotmail': ['complaint: abuse'],
  'complaint-mailru': ['complaint: abuse'],
  'complaint-opt-out': ['complaint: opt-out'],
  'complaint-outlook': ['complaint: abuse'],
  'complaint-unknown-type': ['complaint: other'],
  'complaint-validity': ['complaint: abuse'],
  'complaint-yahoo': ['complaint: abuse'],
  'courier-report': ['joe@example.net failed hard invalid-recipient'],
  'delivered-receipt': ['joe@example.net delivered soft none'],
  'domino-not-listed': ['joe@example.net failed hard invalid-recipient'],
  'domino-notice': ['joe@example.net failed soft connection'],
  'exchange-2003-german': ['joe@example.net failed hard invalid-recipient'],
  'exchange-2010-not-found': ['joe@example.net failed hard invalid-recipient'],
  'exchange-55': ['joe@example.net failed hard invalid-recipient'],
  'exchange-restricted': ['staff@example.net failed soft policy'],
  'exim-delay': ['joe@example.net delayed soft connection'],
  'exim-quota': ['joe@example.net failed soft mailbox-full'],
  'exim-report': ['joe@example.net failed hard invalid-recipient'],
  'exim-sender-verify': ['joe@example.net failed soft unknown'],
  'exim-unrouteable': ['joe@example.net failed hard invalid-recipient'],
  'exim-user-unknown': ['joe@example.net failed hard invalid-recipient'],
  'failed-header-only': [
    'joe@example.net failed soft unknown',
    'ann@example.net failed soft unknown',
  ],
  'flattened-report': ['joe@example.net failed soft invalid-recipient'],
  'forwarded-alias': ['joe.private@example.org failed hard invalid-recipient'],
  'french-notice': ['joe@example.fr failed hard invalid-recipient'],
  'gmail-delay': ['joe@example.net delayed soft connection'],
  'gmail-no-such-user': ['joe@example.net failed hard invalid-recipient'],
  'gmail-old-notice': ['joe@example.net failed hard invalid-recipient'],
  'gmail-over-quota': ['joe@example.net failed soft mailbox-full'],
  'gmail-unsolicited': ['joe@example.net failed soft spam'],
  'gmx-notice': ['joe@example.net failed hard invalid-recipient'],
  'haraka-bounce': ['joe@example.net failed hard invalid-recipient'],
  'html-only-notice': ['joe@example.net failed hard invalid-recipient'],
  'icloud-quota': ['joe@example.net failed soft mailbox-full'],
  'imail-full': ['joe@example.net failed soft mailbox-full'],
  'imail-unknown-user': ['joe@example.net failed hard invalid-recipient'],
  'ironport-unknown-address': ['joe@example.net failed hard invalid-recipient'],
  'italian-notice': ['joe@example.it failed soft mailbox-full'],
  'japanese-notice': ['joe@example.jp failed hard invalid-recipient'],
  'list-expanded': ['staff@example.net expanded soft none'],
  'mailru-notice': ['joe@example.ru failed hard invalid-recipient'],
  'mdaemon-failure': ['joe@example.net failed hard invalid-recipient'],
  'mimecast-policy': ['joe@example.net failed soft policy'],
  'no-attached-forward': [],
  'no-challenge-daemon': [],
  'no-challenge': [],
  'no-complaint-dmarc-failure': [],
  'no-complaint-not-spam': [],
  'no-delivery-receipt': [],
  'no-inline-forward': [],
  'no-left-the-company': [],
  'no-list-moderation': [],
  'no-newsletter': [],
  'no-not-read-receipt': [],
  'no-out-of-office-undeliverable': [],
  'no-read-receipt': [],
  'no-reply-of-a-person': [],
  'no-role-vacation': [],
  'no-ticket': [],
  'no-vacation-null-path': [],
  'notice-unknown-words': ['joe@example.net failed soft unknown'],
  'notice-without-address': ['somebody failed soft policy'],
  'office365-access-denied': ['joe@example.net failed hard invalid-recipient'],
  'office365-delayed': ['joe@example.net delayed soft connection'],
  'office365-domain-unknown': ['joe@nowhere.example.net failed hard invalid-domain'],
  'office365-expired': ['joe@example.net failed soft connection'],
  'office365-mailbox-full': ['joe@example.net failed soft mailbox-full'],
  'office365-recipient-not-found': ['joe@example.net failed hard invalid-recipient'],
  'opensmtpd-report': ['joe@example.net failed hard invalid-recipient'],
  'portuguese-delay': ['joe@example.pt delayed soft connection'],
  'postfix-delayed': ['joe@example.net delayed soft invalid-recipient'],
  'postfix-gave-up': ['joe@example.net failed soft connection'],
  'postfix-german': ['joe@example.net failed hard invalid-recipient'],
  'postfix-host-not-found': ['joe@nowhere.example.net failed hard invalid-domain'],
  'postfix-relay-denied': ['joe@example.net failed soft policy'],
  'postfix-relayed': ['joe@example.net relayed soft none'],
  'postfix-sender-refused': ['joe@example.net failed soft policy'],
  'postfix-spamhaus': ['joe@example.net failed soft blocked'],
  'postfix-two-recipients': [
    'joe@example.net failed hard invalid-recipient',
    'ann@example.net failed soft mailbox-full',
  ],
  'postfix-user-unknown': ['joe@example.net failed hard invalid-recipient'],
  'powermta-bad-mailbox': ['joe@example.net failed hard invalid-recipient'],
  'powermta-throttled': ['joe@example.net failed soft policy'],
  'proofpoint-blocked': ['joe@example.net failed soft blocked'],
  'proofpoint-unknown': ['joe@example.net failed hard invalid-recipient'],
  'qmail-connection': ['joe@example.net failed soft connection'],
  'qmail-no-mailbox': ['joe@example.net failed hard invalid-recipient'],
  'qmail-quota': ['joe@example.net failed soft mailbox-full'],
  'qmail-remote': ['joe@example.net failed hard invalid-recipient'],
  'qmail-two-recipients': [
    'joe@example.net failed hard invalid-recipient',
    'ann@example.net failed soft spam',
    'bob@nowhere.example.net failed hard invalid-domain',
  ],
  'report-cut': ['joe@example.net failed soft invalid-recipient'],
  'report-dense': [
    'joe@example.net failed hard invalid-recipient',
    'ann@example.net failed soft message-too-large',
    'bob@example.net delayed soft policy',
  ],
  'report-silent': ['joe@example.net failed soft mailbox-full'],
  'report-temporary-reply': ['joe@example.net failed soft invalid-recipient'],
  'report-unknown-words': ['joe@example.net failed soft unknown'],
  'report-without-action': ['joe@example.net failed soft invalid-recipient'],
  'russian-full': ['joe@example.ru failed soft mailbox-full'],
  'sendmail-user-unknown': ['joe@example.net failed hard invalid-recipient'],
  'sendmail-warning': ['joe@example.net delayed soft connection'],
  'spanish-notice': ['joe@example.es failed hard invalid-recipient'],
  'utf8-recipient': ['jürgen@example.net failed hard invalid-recipient'],
  'webde-notice': ['joe@example.net failed soft mailbox-full'],
  'yahoo-notice': ['joe@yahoo.example failed hard invalid-recipient'],
  'yandex-report': ['joe@example.net failed soft invalid-recipient'],
  'zimbra-over-quota': ['joe@example.net failed soft mailbox-full'],
};

export const fixtureNames = Object.keys(fixtures);

export const expected: Record<
  string,
  { bounce: BounceReport | null; complaint: Complaint | null }
> = JSON.parse(readFileSync(new URL('expected.json', folder), 'utf8'));

export function fixture(name: string): Buffer {
  return readFileSync(new URL(`${name}.eml`, folder));
}

/** Writes a recipient as the table does. */
export function inWords({
  email,
  action,
  isHard,
  errorCode,
}: BounceReport['recipients'][0]): string {
  return `${email ?? 'somebody'} ${action} ${isHard ? 'hard' : 'soft'} ${errorCode ?? 'none'}`;
}
