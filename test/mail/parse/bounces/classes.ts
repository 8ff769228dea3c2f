// Bounces by class: cases once read too softly or too hard, and their neighbours that stay as they
// are. The mails are our own; their forms are those of the named systems.

export interface BounceCase {
  name: string;
  raw: Buffer;
  /** Expected results in the form of `inWords`, one for each recipient. */
  words: string[];
}

const nobody = 'Mail Delivery System <MAILER-DAEMON@mx.example.net>';

function mail(fields: string[], body: string): Buffer {
  const lines = ['To: bounce+tok@rp.example.com', 'Message-ID: <1@mx.example.net>', ...fields];
  return Buffer.from(`${lines.join('\n')}\n\n${body}\n`.replaceAll('\n', '\r\n'));
}

/** A notice in prose. */
function notice(
  text: string,
  subject = 'Undelivered Mail Returned to Sender',
  from = nobody,
): Buffer {
  return mail(
    [
      'Return-Path: <>',
      `From: ${from}`,
      `Subject: ${subject}`,
      'Content-Type: text/plain; charset=utf-8',
    ],
    text,
  );
}

/** A whole report (RFC 3464) with these fields of one recipient. */
function report(fields: string[], text = 'Your message could not be delivered.'): Buffer {
  return mail(
    [
      'Return-Path: <>',
      `From: ${nobody}`,
      'Subject: Undelivered Mail Returned to Sender',
      'MIME-Version: 1.0',
      'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    ],
    [
      '--b\nContent-Type: text/plain\n',
      text,
      '--b\nContent-Type: message/delivery-status\n',
      'Reporting-MTA: dns; mx.example.net\n',
      'Final-Recipient: rfc822; joe@example.net',
      ...fields,
      '\n--b\nContent-Type: message/rfc822-headers\n',
      'From: alice@example.com\nMessage-ID: <ours@example.com>\n',
      '--b--',
    ].join('\n'),
  );
}

/** `Action: failed` with this Status and these words of the other server. */
const failed = (status: string, diagnostic: string) =>
  report(['Action: failed', `Status: ${status}`, `Diagnostic-Code: smtp; ${diagnostic}`]);

const hard = 'joe@example.net failed hard invalid-recipient';
const soft = (errorCode: string) => `joe@example.net failed soft ${errorCode}`;
const copy =
  '\n   ----- Unsent message follows -----\nReceived: from us\nFrom: alice@example.com\nSubject: Hi\n';

const transcripts: BounceCase[] = [
  {
    name: 'sendmail 8.6: the transcript alone',
    raw: notice(
      `   ----- Transcript of session follows -----\n... while talking to mx.example.net.:\n>>> RCPT To:<joe@example.net>\n<<< 550 <joe@example.net>... User unknown\n550 <joe@example.net>... User unknown\n${copy}`,
      'Returned mail: User unknown',
    ),
    words: [hard],
  },
  {
    name: 'sendmail 5: the transcript alone, no reply code of the other server',
    raw: notice(
      `   ----- Transcript of session follows -----\n550 joe@example.net... User unknown\n${copy}`,
      'Returned mail: User unknown',
    ),
    words: [hard],
  },
  {
    name: 'sendmail 8.8: addresses, then the transcript',
    raw: notice(
      `The original message was received at Mon, 12 Jan 2026 12:00:00 GMT\n\n   ----- The following addresses had permanent fatal errors -----\n<joe@example.net>\n\n   ----- Transcript of session follows -----\n... while talking to mx.example.net.:\n>>> RCPT To:<joe@example.net>\n<<< 550 5.1.1 <joe@example.net>... User unknown\n550 <joe@example.net>... User unknown\n${copy}`,
      'Returned mail: User unknown',
    ),
    words: [hard],
  },
  {
    name: 'sendmail 8.8: several addresses, one transcript',
    raw: notice(
      `   ----- The following addresses had permanent fatal errors -----\n<joe@example.net>\n<ann@example.net>\n\n   ----- Transcript of session follows -----\n... while talking to mx.example.net.:\n>>> RCPT To:<joe@example.net>\n<<< 550 5.1.1 <joe@example.net>... User unknown\n550 <joe@example.net>... User unknown\n>>> RCPT To:<ann@example.net>\n<<< 552 5.2.2 <ann@example.net>... Mailbox full\n554 <ann@example.net>... Service unavailable\n${copy}`,
      'Returned mail: see transcript for details',
    ),
    words: [hard, 'ann@example.net failed soft mailbox-full'],
  },
  {
    name: 'sendmail 8.9: commands in one go (RFC 2920), of which the last is answered for all',
    raw: notice(
      `   ----- The following addresses had permanent fatal errors -----\n<joe@example.net>\n<ann@example.net>\n\n   ----- Transcript of session follows -----\n... while talking to mx.example.net.:\n>>> MAIL From:<alice@example.com>\n>>> RCPT To:<joe@example.net>\n>>> RCPT To:<ann@example.net>\n>>> DATA\n<<< 552 5.2.3 Message exceeds maximum fixed message size\n554 <joe@example.net>... Service unavailable\n554 <ann@example.net>... Service unavailable\n${copy}`,
      'Returned mail: Service unavailable',
    ),
    words: [soft('message-too-large'), 'ann@example.net failed soft message-too-large'],
  },
  {
    name: 'sendmail 8.9: the transcript refuses our address, not theirs',
    raw: notice(
      `   ----- The following addresses had permanent fatal errors -----\n<joe@example.net>\n\n   ----- Transcript of session follows -----\n... while talking to mx.example.net.:\n>>> MAIL From:<alice@example.com>\n<<< 501 <alice@example.com>... Sender domain must exist\n501 <joe@example.net>... Data format error\n${copy}`,
      'Returned mail: Data format error',
    ),
    words: [soft('policy')],
  },
  {
    name: 'sendmail 8.9: host unknown in the transcript',
    raw: notice(
      `   ----- The following addresses had permanent fatal errors -----\n<joe@nowhere.example.net>\n\n   ----- Transcript of session follows -----\n550 <joe@nowhere.example.net>... Host unknown (Name server: nowhere.example.net: host not found)\n${copy}`,
      'Returned mail: Host unknown',
    ),
    words: ['joe@nowhere.example.net failed hard invalid-domain'],
  },
  {
    name: 'sendmail 8.9: quota in the transcript',
    raw: notice(
      `   ----- The following addresses had permanent fatal errors -----\n<joe@example.net>\n\n   ----- Transcript of session follows -----\n<<< 552 5.2.2 <joe@example.net>... Over quota\n554 <joe@example.net>... Service unavailable\n${copy}`,
      'Returned mail: Service unavailable',
    ),
    words: [soft('mailbox-full')],
  },
];

const flatFields =
  'Reporting-MTA: dns; mx.example.net\nArrival-Date: Mon, 12 Jan 2026 12:00:00 +0000\n\nFinal-Recipient: rfc822; joe@example.net\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 <joe@example.net>: User unknown\n\n';
const opening = 'This is the mail system. Your message could not be delivered.\n\n';

const flat: BounceCase[] = [
  {
    name: 'the fields in a plain text',
    raw: notice(`${opening}${flatFields}-- the end --`),
    words: [hard],
  },
  {
    name: 'a multipart without its boundary',
    raw: mail(
      [
        'Return-Path: <>',
        `From: ${nobody}`,
        'Subject: Undelivered Mail Returned to Sender',
        'Content-Type: multipart/report; report-type=delivery-status',
      ],
      `${opening}${flatFields}The end`,
    ),
    words: [hard],
  },
  {
    name: 'a multipart without its boundary',
    raw: mail(
      [
        'Return-Path: <>',
        `From: ${nobody}`,
        'Subject: Undelivered Mail Returned to Sender',
        'Content-Type: multipart/report; report-type=delivery-status; boundary=other',
      ],
      `--b\nContent-Type: text/plain\n\n${opening}--b\nContent-Type: message/delivery-status\n\n${flatFields}--b--`,
    ),
    words: [hard],
  },
  {
    name: 'the fields in a plain text: two recipients',
    raw: notice(
      `${opening}${flatFields}Final-Recipient: rfc822; ann@example.net\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 5.2.2 Over quota\n\nThe end`,
    ),
    words: [hard, 'ann@example.net failed soft mailbox-full'],
  },
  {
    name: 'the fields in a plain text, delayed',
    raw: notice(
      `Your message is delayed.\n\nFinal-Recipient: rfc822; joe@example.net\nAction: delayed\nStatus: 4.4.1\nDiagnostic-Code: smtp; 550 5.1.1 User unknown\n\nThe end`,
      'Delayed Mail (still being retried)',
    ),
    words: ['joe@example.net delayed soft invalid-recipient'],
  },
  {
    name: 'the fields in a plain text that ends within them',
    raw: notice(
      `${opening}Final-Recipient: rfc822; joe@example.net\nAction: failed\nStatus: 5.1.1`,
    ),
    words: [soft('invalid-recipient')],
  },
];

const several: BounceCase[] = [
  {
    name: 'addresses in a list, one reason below',
    raw: notice(
      'Your message could not be delivered to the following recipients:\n\n  joe@example.net\n  ann@example.net\n\nReason: 550 5.1.1 User unknown\n',
    ),
    words: [hard, 'ann@example.net failed hard invalid-recipient'],
  },
  {
    name: 'addresses on one line, one reason below',
    raw: notice(
      'Your message could not be delivered to:\n\n<joe@example.net>, <ann@example.net>\n\nThe server said: 550 5.1.1 User unknown\n',
    ),
    words: [hard, 'ann@example.net failed hard invalid-recipient'],
  },
  {
    name: 'addresses in a list, each with its reason',
    raw: notice(
      'Your message could not be delivered to one or more recipients.\n\n  joe@example.net: 550 5.1.1 User unknown\n  ann@example.net: 552 5.2.2 Mailbox full\n',
    ),
    words: [hard, 'ann@example.net failed soft mailbox-full'],
  },
  {
    name: 'addresses in two lists, each with its reason',
    raw: notice(
      'Your message could not be delivered.\n\n  joe@example.net\n  ann@example.net\n    550 5.1.1 User unknown\n\n  bob@example.net\n    552 5.2.2 Mailbox full\n',
    ),
    words: [
      hard,
      'ann@example.net failed hard invalid-recipient',
      'bob@example.net failed soft mailbox-full',
    ],
  },
  {
    name: 'addresses in a list, one reason below that is of us',
    raw: notice(
      'Your message could not be delivered to the following recipients:\n\n  joe@example.net\n  ann@example.net\n\nReason: 550 5.7.1 Rejected by policy\n',
    ),
    words: [soft('policy'), 'ann@example.net failed soft policy'],
  },
];

const vague: BounceCase[] = [
  { name: 'Status 5.0.0, 5.1.1 said', raw: failed('5.0.0', '550 5.1.1 No'), words: [hard] },
  {
    name: 'Status 5.0.0, user unknown said',
    raw: failed('5.0.0', '550 User unknown'),
    words: [hard],
  },
  {
    name: 'Status 5.1.1, 5.0.0 said',
    raw: failed('5.1.1', '550 5.0.0 No'),
    words: [hard],
  },
  {
    name: 'Status 5.0.0 and nothing else, user unknown in the prose',
    raw: report(
      ['Action: failed', 'Status: 5.0.0'],
      'Your message could not be delivered.\n\n<joe@example.net>: host mx.example.net said: 550 User unknown',
    ),
    words: [hard],
  },
  {
    name: 'Status 5.0.0, vague words, 5.1.1 in the prose',
    raw: report(
      ['Action: failed', 'Status: 5.0.0', 'Diagnostic-Code: smtp; 550 Rejected'],
      'Your message could not be delivered.\n\n<joe@example.net>: host mx.example.net said: 550 5.1.1 Bad destination mailbox',
    ),
    words: [hard],
  },
  {
    name: 'Status 5.0.0, the host unknown by words',
    raw: failed(
      '5.0.0',
      '550 Host or domain name not found. Name service error for name=example.net type=A: Host not found',
    ),
    words: ['joe@example.net failed hard invalid-domain'],
  },
  {
    name: 'Status 5.0.0, quota in the prose',
    raw: report(
      ['Action: failed', 'Status: 5.0.0'],
      'Your message could not be delivered.\n\n<joe@example.net>: host mx.example.net said: 552 5.2.2 Over quota',
    ),
    words: [soft('mailbox-full')],
  },
  {
    name: 'Status 5.0.0 and nothing else at all',
    raw: report(['Action: failed', 'Status: 5.0.0']),
    words: [soft('unknown')],
  },
  {
    name: 'Status 4.0.0, 550 5.1.1 said',
    raw: failed('4.0.0', '550 5.1.1 User unknown'),
    words: [soft('invalid-recipient')],
  },
  {
    name: 'Status 4.4.7, 550 5.1.1 said',
    raw: failed('4.4.7', '550 5.1.1 User unknown'),
    words: [soft('invalid-recipient')],
  },
];

const withoutStatus: BounceCase[] = [
  {
    name: 'failed, 550 5.1.1 said, no Status',
    raw: report(['Action: failed', 'Diagnostic-Code: smtp; 550 5.1.1 User unknown']),
    words: [hard],
  },
  {
    name: 'failed, 550 said without a code of three parts, no Status',
    raw: report(['Action: failed', 'Diagnostic-Code: smtp; 550 User unknown']),
    words: [soft('invalid-recipient')],
  },
  {
    name: 'failed, 450 4.2.1 said, no Status',
    raw: report(['Action: failed', 'Diagnostic-Code: smtp; 450 4.2.1 User unknown']),
    words: [soft('invalid-recipient')],
  },
  {
    name: 'failed, 550 5.7.1 said, no Status',
    raw: report(['Action: failed', 'Diagnostic-Code: smtp; 550 5.7.1 User unknown']),
    words: [soft('invalid-recipient')],
  },
  {
    name: '550 5.1.1 said, neither Action nor Status',
    raw: report(['Diagnostic-Code: smtp; 550 5.1.1 User unknown']),
    words: ['joe@example.net delayed soft invalid-recipient'],
  },
];

const said = '<joe@example.net>: host mx.example.net said: 550 5.1.1 User unknown';
const senders: BounceCase[] = [
  'MAILER-DAEMON <>',
  '<>',
  '"Mail Delivery Subsystem" <>',
  'MAILER-DAEMON',
  'Postmaster <>',
].map((from) => ({
  name: `From: ${from}`,
  raw: notice(`Your message could not be delivered.\n\n${said}\n`, 'Undeliverable: Hi', from),
  words: [from === '<>' ? soft('invalid-recipient') : hard],
}));

const japanese: BounceCase[] = [
  {
    name: 'ja: not deliverable, no such address',
    raw: notice(
      'メールを配信できませんでした。\n\n宛先: joe@example.net\n理由: 550 5.1.1 ユーザーが存在しません\n',
      '配信不能通知',
    ),
    words: [hard],
  },
  {
    name: 'ja: could not be sent, address unknown',
    raw: notice(
      'お客様のメールは送信できませんでした。\n\n<joe@example.net>: 宛先不明です\n',
      'メール送信エラーのお知らせ',
    ),
    words: [hard],
  },
  {
    name: 'ja: could not be delivered, no such mail address',
    raw: notice(
      '次の宛先へのメールはお届けできませんでした。\n\njoe@example.net\n該当するメールアドレスはありません。\n',
      'メールが届きませんでした',
    ),
    words: [hard],
  },
  {
    name: 'ja: returned, the user is not found',
    raw: notice(
      'メールの配送に失敗しましたので返送いたします。\n\n<joe@example.net>\nユーザが見つかりません\n',
      'メール配送失敗',
    ),
    words: [hard],
  },
  {
    name: 'ja: not delivered, the mailbox is full',
    raw: notice(
      'メールを配信できませんでした。\n\n<joe@example.net>: メールボックスの容量が一杯です\n',
      '不達通知',
    ),
    words: [soft('mailbox-full')],
  },
  {
    name: 'ja: delayed',
    raw: notice(
      'メールの配信が遅延しています。引き続き配信を試みます。\n\n<joe@example.net>: 接続できません\n',
      '配信遅延のお知らせ: メールを配信できません',
    ),
    words: ['joe@example.net delayed soft unknown'],
  },
  {
    name: 'ja: a report with words in Japanese',
    raw: failed('5.0.0', '550 受信者が見つかりませんでした'),
    words: [hard],
  },
];

const finality: BounceCase[] = [
  {
    name: 'delayed before, given up now',
    raw: notice(
      `Your message was delayed for four hours and has now been returned: it could not be delivered.\nNo further attempts will be made.\n\n${said}\n`,
    ),
    words: [hard],
  },
  {
    name: 'a delayed message that was not delivered',
    raw: notice(
      `The delayed message below was not delivered. We are giving up.\n\n${said}\n`,
      'Message not delivered',
    ),
    words: [hard],
  },
  {
    name: 'not delivered yet, retried',
    raw: notice(
      `Your message could not be delivered for more than 4 hours.\nIt will be retried until it is 5 days old.\n\n${said}\n`,
      'Delayed Mail (still being retried)',
    ),
    words: ['joe@example.net delayed soft invalid-recipient'],
  },
  {
    name: 'has not been delivered, attempts will continue',
    raw: notice(
      `Your message has not been delivered. Delivery attempts will continue for 3 days.\n\n${said}\n`,
      'Message not delivered',
    ),
    words: ['joe@example.net delayed soft invalid-recipient'],
  },
  {
    name: 'delayed by its subject alone',
    raw: notice(
      `Your message could not be delivered so far.\n\n${said}\n`,
      'Warning: message delayed 4 hours',
    ),
    words: ['joe@example.net delayed soft invalid-recipient'],
  },
];

const lastServer: BounceCase[] = [
  {
    name: 'a summary of the relay, 5.1.1 said by the last server',
    raw: failed(
      '5.0.0',
      '554 5.0.0 Delivery failed (host mx.example.net said: 550 5.1.1 User unknown)',
    ),
    words: [hard],
  },
  {
    name: '5.1.1 of the relay, a full mailbox said by the last server',
    raw: failed('5.1.1', '550 5.1.1 Delivery failed; remote server said: 552 5.2.2 Over quota'),
    words: [soft('mailbox-full')],
  },
  {
    name: 'a temporary code of the relay, 5.1.1 by the last server',
    raw: failed('5.1.1', '451 4.4.0 Primary target responded with: 550 5.1.1 User unknown'),
    words: [hard],
  },
  {
    name: '5.1.1 of the relay, a temporary refusal by the last server',
    raw: failed('5.0.0', '550 5.1.1 Not delivered; remote host said: 450 4.2.1 Try again later'),
    words: [soft('invalid-recipient')],
  },
  {
    name: '5.1.1 of the relay, a block by the last server',
    raw: notice(
      'Your message could not be delivered.\n\n<joe@example.net>: 550 5.1.1 Failed. Remote host said: 550 5.7.1 Blocked using zen.spamhaus.org\n',
    ),
    words: [soft('blocked')],
  },
];

/** Refusals of us, beside any other words: `[what, status, diagnostic, errorCode]`. */
const ofUs: [string, string, string, string][] = [
  ['5.1.7, user unknown', '5.1.7', '550 5.1.7 User unknown', 'policy'],
  ['5.1.8, unknown domain', '5.1.8', '550 5.1.8 Unknown domain', 'policy'],
  ['5.1.8 of the report alone', '5.1.8', '550 No such domain', 'policy'],
  ['5.6.0, invalid address', '5.6.0', '550 5.6.0 Invalid address in header', 'protocol'],
  ['5.6.1, user unknown', '5.6.1', '554 5.6.1 User unknown', 'protocol'],
  ['5.7.1, user unknown', '5.7.1', '550 5.7.1 User unknown', 'invalid-recipient'],
  ['5.7.1, mailbox not found', '5.7.1', '550 5.7.1 Mailbox not found', 'invalid-recipient'],
  ['5.7.0 of the report, 5.1.1 said', '5.7.0', '550 5.1.1 User unknown', 'invalid-recipient'],
  ['5.1.1 of the report, 5.7.1 said', '5.1.1', '550 5.7.1 User unknown', 'invalid-recipient'],
  ['5.7.27, no mx', '5.7.27', '550 5.7.27 Domain has null MX', 'invalid-domain'],
  ['HELO unknown', '5.0.0', '550 Invalid domain name in HELO', 'policy'],
  ['EHLO unknown', '5.0.0', '550 EHLO argument: unknown domain', 'policy'],
  ['a domain of ours unknown', '5.0.0', '553 Unknown domain of sender', 'policy'],
  ['a From domain unknown', '5.0.0', '550 From domain does not exist', 'policy'],
  ['an invalid domain name', '5.0.0', '501 Invalid domain name', 'policy'],
  ['an invalid domain name in From', '5.0.0', '550 Invalid domain name in From header', 'policy'],
  ['a return path unknown', '5.0.0', '550 Return-Path domain not found', 'policy'],
  ['a bad header', '5.0.0', '554 Bad header: invalid address in To', 'protocol'],
  ['an invalid header address', '5.0.0', '550 Header contains invalid recipient', 'protocol'],
  ['an envelope sender', '5.0.0', '550 Envelope sender domain does not exist', 'policy'],
];

const tooHard: BounceCase[] = ofUs.map(([name, status, diagnostic, errorCode]) => ({
  name,
  raw: failed(status, diagnostic),
  words: [soft(errorCode)],
}));

/** Failures of the recipient in similar words: these stay hard. */
const stillHard: BounceCase[] = [
  { name: 'unknown user', raw: failed('5.1.1', '550 5.1.1 User unknown'), words: [hard] },
  {
    name: 'unknown domain of the recipient',
    raw: failed('5.1.2', '550 5.1.2 The recipient domain example.net does not exist'),
    words: ['joe@example.net failed hard invalid-domain'],
  },
  { name: '5.1.6', raw: failed('5.1.6', '550 5.1.6 Mailbox has moved'), words: [hard] },
  { name: '5.2.1', raw: failed('5.2.1', '550 5.2.1 Mailbox disabled'), words: [hard] },
];

export const bounceClasses: Record<string, BounceCase[]> = {
  'transcripts of sendmail': transcripts,
  'fields in the body, no boundaries': flat,
  'several recipients in one prose report': several,
  'vague codes beside clear ones': vague,
  'no Status': withoutStatus,
  'From without an author': senders,
  Japanese: japanese,
  'not delivered, or delayed': finality,
  'several codes': lastServer,
  'refusals of us': tooHard,
  'refusals of the recipient': stillHard,
};
