// Notices in the forms of mail systems whose words are their own. The mails are ours; the forms are
// those of the named systems.
import type { BounceCase } from './classes.ts';

interface Form {
  from?: string;
  subject: string;
  /** Fields beside the usual ones. */
  fields?: string[];
  text: string;
}

const original = [
  'Received: from us.example.com by relay.example.net; Mon, 12 Jan 2026 12:00:00 +0000',
  'From: alice@example.com',
  'To: other@example.org',
  'Subject: Hello',
  'Message-ID: <1@example.com>',
].join('\n');

function form({ from = 'MAILER-DAEMON <>', subject, fields = [], text }: Form): Buffer {
  const lines = [
    'Return-Path: <>',
    `From: ${from}`,
    'To: bounce+tok@rp.example.com',
    `Subject: ${subject}`,
    'Message-ID: <2@relay.example.net>',
    'Content-Type: text/plain; charset=utf-8',
    ...fields,
  ];
  return Buffer.from(`${lines.join('\n')}\n\n${text}\n`.replaceAll('\n', '\r\n'));
}

const hard = 'joe@example.net failed hard invalid-recipient';
const soft = (errorCode: string) => `joe@example.net failed soft ${errorCode}`;

/** A bounce of dma with these words. */
function dma(words: string, follows = 'Message headers follow'): Buffer {
  return form({
    subject: 'Mail delivery failed',
    fields: ['X-Original-To: <alice@example.com>'],
    text: `This is the DragonFly Mail Agent v0.13 at relay.example.net.\n\nThere was an error delivering your mail to <joe@example.net>.\n\n${words}\n\n${follows}.\n\n${original}`,
  });
}

export const dragonfly: BounceCase[] = [
  {
    name: 'dma: the other server refuses RCPT',
    raw: dma(
      'mx.example.net [192.0.2.25] did not like our RCPT TO:\n550 5.1.1 <joe@example.net>: Recipient address rejected: User unknown',
    ),
    words: [hard],
  },
  {
    name: 'dma: the other server refuses MAIL',
    raw: dma(
      'mx.example.net [192.0.2.25] did not like our MAIL FROM:\n550 5.7.1 Sender address rejected',
    ),
    words: [soft('policy')],
  },
  {
    name: 'dma: the message is refused after DATA',
    raw: dma(
      'mx.example.net [192.0.2.25] did not like our final DATA:\n552 5.2.2 Mailbox full',
      'Original message follows',
    ),
    words: [soft('mailbox-full')],
  },
  {
    name: 'dma: it gave up',
    raw: dma('Could not deliver for the last 432000 seconds. Giving up.'),
    words: [soft('expired')],
  },
  {
    name: 'dma: the domain does not exist',
    raw: dma('DNS lookup failure: host example.net not found'),
    words: [soft('connection')],
  },
  {
    name: 'dma: a local user',
    raw: dma("unknown user `joe'"),
    words: [hard],
  },
];

const mda = 'Mail Delivery System <MAILER-DAEMON@relay.example.net>';

export const olderSystems: BounceCase[] = [
  {
    name: 'smail: failed addresses follow',
    raw: form({
      from: mda,
      subject: 'mail failed, returning to sender',
      text: `|------------------------- Message log follows: -------------------------|\n no valid recipients were found for this message\n|------------------------- Failed addresses follow: ---------------------|\n <joe@example.net> ... transport smtp: 550 <joe@example.net>... User unknown\n|------------------------- Message text follows: ------------------------|\n${original}`,
    }),
    words: [hard],
  },
  {
    name: 'XMail: an error sending a message',
    raw: form({
      from: 'postmaster@relay.example.net',
      subject: 'Error sending message [1262347200.1.relay] from [relay.example.net]',
      text: `[<00>] XMail bounce: Rcpt=[joe@example.net];Error=[550 5.1.1 User unknown]\n\n[<01>] Error sending message [1262347200.1.relay] from [relay.example.net].\n\nID:        <S1>\nMail From: <alice@example.com>\nRcpt To:   <joe@example.net>\nServer:    <mx.example.net> [192.0.2.25]\n\n[<02>] The reason of the delivery failure was:\n\n550 5.1.1 User unknown\n\n[<05>] Here is listed the initial part of the message:\n\n${original}`,
    }),
    words: [hard],
  },
  {
    name: 'a gateway: delivery errors',
    raw: form({
      from: mda,
      subject: 'Returned Mail: User unknown',
      text: `The original message was received at Thu, 29 Jan 2026 23:34:45 +0900 (JST)\nfrom alice@example.com\n\n---The following addresses had delivery errors---\n\njoe@example.net [User unknown]\n\n---- Returned message follows ----\n${original}`,
    }),
    words: [hard],
  },
  {
    name: 'a gateway: delivery problems',
    raw: form({
      from: mda,
      subject: 'Returned mail: joe@example.net',
      text: `   ----- The following addresses had delivery problems -----\njoe@example.net\n\n   ----- Non-delivered information -----\nThe number of messages in recipient's mailbox exceeded the local limit.\n\n   ----- Original message follows -----\n${original}`,
    }),
    words: [soft('mailbox-full')],
  },
  {
    name: 'a server that had trouble',
    raw: form({
      from: 'Mail Delivery Service <postmaster@relay.example.net>',
      subject: 'There was an error sending your mail',
      text: `We had trouble delivering your message. Full details follow:\n\nSubject: 'Hello'\nDate: 'Mon, 12 Jan 2026 12:00:00 +0000'\n\n1 error(s):\n\nSMTP Server <mx.example.net> rejected recipient <joe@example.net> (Error following RCPT command). It responded as follows: [550 5.1.1 User unknown]`,
    }),
    words: [hard],
  },
  {
    name: 'm-FILTER: server message, command',
    raw: form({
      from: 'Mailer Daemon <postmaster@relay.example.net>',
      subject: 'failure notice',
      text: `Delivery to joe@example.net\n\n-------server message\n550 5.1.1 unknown user <joe@example.net>\n\n-------SMTP command\nRCPT TO:<joe@example.net>\n\n-------original message\n${original}`,
    }),
    words: [hard],
  },
  {
    name: 'Notes: failure reasons',
    raw: form({
      from: 'Postmaster@relay.example.net',
      subject: 'Undeliverable message',
      text: `------- Failure Reasons  --------\n\nUser not listed in public Name & Address Book\njoe@example.net\n\n------- Returned Message --------\n${original}`,
    }),
    words: [hard],
  },
  {
    name: 'a carrier: recipients who did not receive it',
    raw: form({
      from: 'Postmaster <post_master@relay.example.net>',
      subject: 'Mail System Error - Returned Mail',
      text: `The following recipients did not receive this message:\n\n  <joe@example.net>\n\n550 5.1.1 User unknown\n\n${original}`,
    }),
    words: [hard],
  },
  {
    name: 'a carrier: a disabled account',
    raw: form({
      from: 'post_master@relay.example.net',
      subject: 'Undeliverable Message',
      text: `The user(s) account is disabled.\n\n<joe@example.net>: 550 user unknown (in reply to RCPT TO command)\n\n${original}`,
    }),
    words: [hard],
  },
  {
    name: 'Google Groups: the group may not exist',
    raw: form({
      from: 'Mail Delivery Subsystem <mailer-daemon@googlemail.example>',
      subject: 'Delivery Status Notification (Failure)',
      fields: ['X-Failed-Recipients: joe@example.net'],
      text: `Hello alice@example.com,\n\nWe're writing to let you know that the group you tried to contact (joe) may not exist, or you may not have permission to post messages to the group.\n\n----- Original message -----\n\n${original}`,
    }),
    words: [soft('unknown')],
  },
  {
    name: 'a mail server without its verb: undelivered',
    raw: form({
      from: mda,
      subject: 'Undelivered mail',
      text: `Your mail to joe@example.net went undelivered.\n\n550 5.1.1 No such user\n\n${original}`,
    }),
    words: [hard],
  },
  {
    name: 'a mail server with a typographic apostrophe',
    raw: form({
      from: mda,
      subject: 'Delivery failure',
      text: `Your message wasn’t delivered to joe@example.net because the address couldn’t be found.\n\n550 5.1.1 The email account that you tried to reach does not exist`,
    }),
    words: [hard],
  },
];

const office = 'Microsoft Outlook <postmaster@relay.example.net>';

/** A notice of Exchange in the words of a language. */
function exchange(name: string, subject: string, opening: string): BounceCase {
  const text = `${opening}\n\njoe@example.net\n\n#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##\n`;
  return { name, raw: form({ from: office, subject, text }), words: [hard] };
}

export const languages: BounceCase[] = [
  exchange(
    'web.de: Empfänger',
    'Mail delivery failed: returning message to sender',
    'Ihre E-Mail konnte nicht an einen oder mehrere Empfänger zugestellt werden:',
  ),
  exchange(
    'Italian',
    'Non recapitabile: Hello',
    'Recapito non riuscito per i seguenti destinatari o gruppi:',
  ),
  exchange(
    'Portuguese',
    'Não é possível entregar: Hello',
    'Falha na entrega para estes destinatários ou grupos:',
  ),
  exchange(
    'Dutch',
    'Onbestelbaar: Hello',
    'De bezorging is mislukt bij deze geadresseerden of groepen:',
  ),
  exchange(
    'Swedish',
    'Kan inte leverera: Hello',
    'Det gick inte att leverera till följande mottagare eller grupper:',
  ),
  exchange('Danish', 'Kan ikke leveres: Hello', 'Levering mislykkedes til disse modtagere:'),
  exchange(
    'Polish',
    'Niedostarczone: Hello',
    'Dostarczenie wiadomości do następujących adresatów lub grup nie powiodło się:',
  ),
  exchange('Czech', 'Nedoručitelné: Hello', 'Doručení následujícím příjemcům se nezdařilo:'),
  exchange('Turkish', 'Teslim edilemedi: Hello', 'Şu alıcılara teslim başarısız oldu:'),
  exchange('Hungarian', 'Kézbesíthetetlen: Hello', 'Nem sikerült kézbesíteni a címzetteknek:'),
  exchange('Chinese', '未传递: Hello', '传递到以下收件人或组失败:'),
  exchange('Korean', '배달되지 않음: Hello', '다음 받는 사람에게 배달하지 못했습니다:'),
];

/** A single part, cut at the end of `text`. */
function cut(text: string): Buffer {
  const whole = form({ from: mda, subject: 'Mail delivery failed', text });
  return whole.subarray(0, whole.length - 2);
}

const somebody = 'somebody failed soft unknown';

export const cutAddresses: BounceCase[] = [
  {
    name: 'within the domain',
    raw: cut('There was an error delivering your mail to <joe@mail.exam'),
    words: [somebody],
  },
  {
    name: 'within the domain of an address without brackets',
    raw: cut('Could not be delivered to:\n\n  joe@mail.exam'),
    words: [somebody],
  },
  {
    name: 'within an angle address, with more text',
    raw: form({
      from: mda,
      subject: 'Mail delivery failed',
      text: 'Your message could not be delivered to <joe@mail.exam...\n[text cut]',
    }),
    words: [somebody],
  },
  {
    name: 'in a line of more than 1,000 characters',
    raw: form({
      from: mda,
      subject: 'Mail delivery failed',
      text: `Could not be delivered. ${'x '.repeat(481)}joe@mail.example.net User unknown`,
    }),
    words: [somebody],
  },
  {
    name: 'within a report',
    raw: Buffer.from(
      form({
        from: mda,
        subject: 'Mail delivery failed',
        fields: ['Content-Type: multipart/report; report-type=delivery-status; boundary=b'],
        text: '--b\n\nNo.\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; a.example\n\nAction: failed\nStatus: 5.1.1\nFinal-Recipient: rfc822; joe@mail.exam',
      })
        .toString()
        .replace('Content-Type: text/plain; charset=utf-8\r\n', '')
        .slice(0, -2),
    ),
    words: ['somebody failed soft invalid-recipient'],
  },
];

const shop = 'Shop <no-reply@shop.example.net>';

export const parcels: BounceCase[] = [
  {
    name: 'a parcel that could not be brought',
    raw: form({
      from: shop,
      subject: 'Your delivery failed',
      text: 'We had trouble delivering your parcel to joe@example.net.\nDid not receive this message? Call us.',
    }),
    words: [],
  },
  {
    name: 'a parcel, in Danish',
    raw: form({
      from: shop,
      subject: 'Delivery problem with your order',
      text: 'Levering mislykkedes, vi kunne ikke levere pakken. Skriv til joe@example.net.',
    }),
    words: [],
  },
  {
    name: 'a person who quotes a bounce of dma',
    raw: form({
      from: 'Ada <ada@example.net>',
      subject: 'Re: Mail delivery failed',
      text: 'There was an error delivering your mail to <joe@example.net>. Can you look?',
    }),
    words: [],
  },
];
