// Mail accepted by the listener, and its stored form (specification 2.2): over real sockets, on
// both stores.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { getEmailProjection } from '../../src/outbound/messages/lists/email-projection.ts';
import { getMessage, listMessageEvents } from '../../src/outbound/messages/messages.ts';
import { stores } from '../support/command.ts';
import {
  addMailbox,
  data,
  deliver,
  envelope,
  idIn,
  inbound,
  type SmtpService,
  smtpService,
  stored,
} from './smtp-service.ts';

const mail = [
  'From: Ada Lovelace <ada@example.com>',
  'To: Inbox <inbox@sandbox.test>, other@example.com',
  'Cc: carol@example.com',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
  'Message-ID: <one@example.com>',
  'In-Reply-To: <zero@example.com>',
  'References: <first@example.com> <zero@example.com>',
  'Reply-To: replies@example.com',
  'X-Priority: 1',
  '',
  'Hello.',
  '',
].join('\r\n');

describe.each(stores)('a message received on %s', (store) => {
  let service: SmtpService;
  beforeEach(async () => {
    service = await smtpService({ store });
  });
  afterEach(() => service.close());

  it('is listed as inbound and delivered, with the fields of its header', async () => {
    const { app, caller } = service;
    const id = idIn(await deliver(await service.session(), 'inbox@sandbox.test', mail));
    expect(await inbound(app, caller)).toEqual([await getMessage(app, caller, id)]);
    expect(await getMessage(app, caller, id)).toMatchObject({
      id,
      direction: 'inbound',
      status: 'delivered',
      subject: 'Grüße',
      from: { email: 'ada@example.com', name: 'Ada Lovelace' },
      to: [
        { email: 'inbox@sandbox.test', name: 'Inbox' },
        { email: 'other@example.com', name: null },
      ],
      cc: [{ email: 'carol@example.com' }],
      bcc: [],
      replyTo: ['replies@example.com'],
      deliveries: [],
      createdAt: '2026-01-12T12:00:00.000Z',
    });
    expect(await listMessageEvents(app, caller, id)).toMatchObject([
      {
        eventType: 'delivered',
        status: 'delivered',
        timestamp: '2026-01-12T12:00:00.000Z',
        metadata: { mailboxId: expect.stringMatching(/^mbx_/), remoteAddress: '127.0.0.1' },
      },
    ]);
  });

  it('has an email projection parsed from the raw mail', async () => {
    const { app, caller } = service;
    const id = idIn(await deliver(await service.session(), 'inbox@sandbox.test', mail));
    expect(await getEmailProjection(app, caller, id, {})).toMatchObject({
      direction: 'inbound',
      subject: 'Grüße',
      fromEmail: 'ada@example.com',
      fromName: 'Ada Lovelace',
      toEmails: ['inbox@sandbox.test', 'other@example.com'],
      ccEmails: ['carol@example.com'],
      bccEmails: null,
      replyToEmails: ['replies@example.com'],
      messageIdHeader: '<one@example.com>',
      inReplyTo: '<zero@example.com>',
      references: ['<first@example.com>', '<zero@example.com>'],
      priority: 'high',
      text: 'Hello.\n',
      newContent: expect.stringContaining('Hello.'),
      dkimVerdict: null,
      spfVerdict: null,
      dmarcVerdict: null,
      parsingErrors: null,
    });
  });

  it('is stored before the 250', async () => {
    const dialogue = await service.session();
    const elsewhere = await service.another();
    for (let round = 0; round < 20; round++) {
      const id = idIn(await deliver(dialogue, 'inbox@sandbox.test', mail));
      expect((await stored(elsewhere, id)).row.id).toBe(id);
    }
  });

  it('is one message for each mailbox, even when a mailbox is addressed twice', async () => {
    const { app, caller } = service;
    const help = await addMailbox(app, caller, 'help@sandbox.test');
    const to = ['inbox@sandbox.test', 'INBOX@Sandbox.Test', 'help@sandbox.test'];
    const reply = await deliver(await service.session(), to, mail);
    const messages = await inbound(app, caller);
    expect(messages).toHaveLength(2);
    expect(messages.map(({ id }) => id)).toContain(idIn(reply));
    const rows = await Promise.all(messages.map(({ id }) => stored(app, id)));
    expect(new Set(rows.map(({ row }) => row.mailbox_id)).size).toBe(2);
    expect(new Set(rows.map(({ row }) => row.raw_blob_id)).size).toBe(2);
    const ofHelp = rows.find(({ row }) => row.mailbox_id === help.id);
    expect(JSON.parse(ofHelp?.row.inbound_envelope ?? '')).toEqual({
      mailFrom: 'ada@example.com',
      recipients: ['help@sandbox.test'],
      remoteAddress: '127.0.0.1',
      helo: 'client.example',
      tls: false,
      dkimVerdict: null,
      spfVerdict: null,
      dmarcVerdict: null,
    });
  });

  it('shows an organization none of the recipients of another one', async () => {
    const { app, caller } = service;
    const acme = operatorOf((await createOrganization(app, { name: 'acme', plan: 'free' })).id);
    const { id: domainId } = await addDomain(app, acme, { domain: 'acme.example' });
    await verifyDomain(app, acme, domainId, { force: true });
    await addMailbox(app, acme, 'secret@acme.example');
    const to = ['inbox@sandbox.test', 'secret@acme.example'];
    await deliver(await service.session(), to, mail);
    const [ours, ...othersOfOurs] = await inbound(app, caller);
    const [theirs, ...othersOfTheirs] = await inbound(app, acme);
    expect([...othersOfOurs, ...othersOfTheirs]).toEqual([]);
    expect(theirs?.bcc).toMatchObject([{ email: 'secret@acme.example' }]);
    const { row, received } = await stored(app, ours?.id ?? '');
    expect(JSON.stringify([ours, row, received])).not.toContain('secret');
    expect(ours?.id).not.toBe(theirs?.id);
  });

  describe.each(['postmaster', 'abuse'])('mail for %s@', (role) => {
    const to = (address: string) => service.session().then((one) => deliver(one, address, mail));
    const mailboxOf = async (reply: string) =>
      (await stored(service.app, idIn(reply))).row.mailbox_id;

    it('goes to the first mailbox of a local domain without such a mailbox', async () => {
      const inbox = await mailboxOf(await to('inbox@sandbox.test'));
      expect(await mailboxOf(await to(`${role.toUpperCase()}@sandbox.test`))).toBe(inbox);
    });

    it('goes to the first mailbox of the organization that proved the domain', async () => {
      const { app } = service;
      const other = operatorOf((await createOrganization(app, { name: 'acme', plan: 'free' })).id);
      const domain = await addDomain(app, other, { domain: 'example.org', dkim: 'ed25519' });
      expect(await envelope(await service.session(), `${role}@example.org`)).toEqual([
        '550 5.1.1 No mailbox here has this address',
      ]);
      await verifyDomain(app, other, domain.id, { force: true });
      const own = await addMailbox(app, other, 'desk@example.org');
      expect(await mailboxOf(await to(`${role}@example.org`))).toBe(own.id);
    });

    it('is refused for an unknown domain', async () => {
      expect(await envelope(await service.session(), `${role}@example.com`)).toEqual([
        '550 5.1.1 No mailbox here has this address',
      ]);
    });

    it('goes to a mailbox of that name first', async () => {
      const own = await addMailbox(service.app, service.caller, `${role}@sandbox.test`);
      expect(await mailboxOf(await to(`${role}@sandbox.test`))).toBe(own.id);
    });
  });
});

describe('a message received', () => {
  let service: SmtpService;
  beforeEach(async () => {
    service = await smtpService();
  });
  afterEach(() => service.close());

  const roundTrip = async (message: string | Buffer) => {
    const reply = await deliver(await service.session(), 'inbox@sandbox.test', message);
    return (await stored(service.app, idIn(reply))).raw;
  };

  it.each([
    ['leading dots', 'Subject: dots\r\n\r\n.\r\n..\r\n.a\r\n...b\r\n.\r\n.\r\n'],
    ['a dot as its first byte', '.Subject: x\r\n\r\nbody\r\n'],
    ['nothing but a dot', '.\r\n'],
    ['8-bit text', 'Subject: Grüße\r\n\r\nÄÖÜ \u{1f600}\r\n'],
    ['empty lines at its end', 'Subject: x\r\n\r\nbody\r\n\r\n\r\n\r\n'],
    ['a line of 100,000 characters', `Subject: x\r\n\r\n${'y'.repeat(100_000)}\r\n`],
    ['no body', 'Subject: x\r\n\r\n'],
  ])('is kept byte for byte with %s', async (_, message) => {
    expect((await roundTrip(message)).toString()).toBe(message);
  });

  it('is kept byte for byte when every byte value occurs in it', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).filter(
      (byte) => byte !== 0x0d && byte !== 0x0a,
    );
    const message = Buffer.concat([Buffer.from('\r\n'), Buffer.from(bytes), Buffer.from('\r\n')]);
    expect((await roundTrip(message)).equals(message)).toBe(true);
  });

  it('is kept byte for byte at 10 MB', async () => {
    const body = randomBytes(7_500_000).toString('base64').replace(/.{76}/g, '$&\r\n');
    const message = Buffer.from(`Subject: large\r\n\r\n${body}\r\n`);
    expect(message.length).toBeGreaterThan(10_000_000);
    expect((await roundTrip(message)).equals(message)).toBe(true);
  });

  it('may be empty', async () => {
    expect((await roundTrip('')).toString()).toBe('');
  });

  it('begins with our Received field', async () => {
    const reply = await deliver(await service.session(), 'Inbox@sandbox.test', mail);
    const { received } = await stored(service.app, idIn(reply));
    expect(received).toMatch(
      new RegExp(
        [
          /^Received: from client\.example \(\[127\.0\.0\.1\]\)\r\n/,
          /\tby localhost \(svc\) with ESMTP\r\n/,
          /\tid [0-9a-z]{16}\.1\r\n\tfor <Inbox@sandbox\.test>;\r\n/,
          /\tMon, 12 Jan 2026 12:00:00 \+0000\r\n$/,
        ]
          .map(({ source }) => source)
          .join(''),
      ),
    );
  });

  it('has no text of the client in that field', async () => {
    const dialogue = await service.greeted();
    await dialogue.say('EHLO x(evil);by=mx"<>');
    const { received } = await stored(
      service.app,
      idIn(await deliver(dialogue, 'inbox@sandbox.test', mail)),
    );
    expect(received).toMatch(/^Received: from unknown \(\[127\.0\.0\.1\]\)\r\n\tby localhost/);
  });

  it('gets a Message-ID and a sender when they are missing', async () => {
    const { app, caller } = service;
    const dialogue = await service.session();
    const id = idIn(await deliver(dialogue, 'inbox@sandbox.test', 'X: y\r\n\r\nhi\r\n'));
    expect(await getEmailProjection(app, caller, id, {})).toMatchObject({
      messageIdHeader: `<${id}@received.invalid>`,
      fromEmail: 'ada@example.com',
      subject: null,
      toEmails: [],
      bccEmails: ['inbox@sandbox.test'],
    });
    const bounce = idIn(await deliver(dialogue, 'inbox@sandbox.test', 'X: y\r\n\r\nhi\r\n', ''));
    expect(await getMessage(app, caller, bounce)).toMatchObject({
      from: { email: 'unknown@invalid', name: null },
    });
  });

  it('may have the null return path', async () => {
    const dialogue = await service.session();
    expect(await dialogue.say('MAIL FROM:<>')).toBe('250 2.1.0 Accepted');
    expect(await dialogue.say('RCPT TO:<inbox@sandbox.test>')).toBe('250 2.1.5 Accepted');
    const { row } = await stored(service.app, idIn(await data(dialogue, mail)));
    expect(JSON.parse(row.inbound_envelope ?? '')).toMatchObject({ mailFrom: '' });
  });

  it('may be pipelined with others on one connection', async () => {
    const dialogue = await service.session();
    const one = 'MAIL FROM:<a@example.com>\r\nRCPT TO:<inbox@sandbox.test>\r\nDATA\r\n';
    for (let round = 0; round < 50; round++) {
      dialogue.write(`${one}Subject: ${round}\r\n\r\nhi\r\n.\r\n`);
    }
    for (let round = 0; round < 50; round++) {
      const replies = [await dialogue.reply(), await dialogue.reply(), await dialogue.reply()];
      expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['250', '250', '354']);
      expect((await stored(service.app, idIn(await dialogue.reply()))).row.subject).toBe(
        String(round),
      );
    }
  });

  it('is not stored when the client leaves before its end', async () => {
    const { app, caller } = service;
    const dialogue = await service.session();
    await envelope(dialogue, 'inbox@sandbox.test');
    await dialogue.say('DATA');
    dialogue.write(mail);
    dialogue.end();
    await deliver(await service.session(), 'inbox@sandbox.test', 'Subject: whole\r\n\r\n');
    expect((await inbound(app, caller)).map(({ subject }) => subject)).toEqual(['whole']);
  });

  it('is counted in the metrics', async () => {
    await deliver(await service.session(), 'inbox@sandbox.test', mail);
    expect(await service.app.metrics.registry.metrics()).toContain(
      'svc_messages_accepted_total{direction="inbound"} 1',
    );
  });

  it('lists at most 500 recipients', async () => {
    const to = Array.from({ length: 600 }, (_, i) => `u${i}@example.com`);
    const id = idIn(
      await deliver(
        await service.session(),
        'inbox@sandbox.test',
        `To: ${to.slice(0, 300).join(',\r\n ')}\r\nCc: ${to.slice(300).join(',\r\n ')}\r\n\r\nx\r\n`,
      ),
    );
    const { recipients, bcc } = await getMessage(service.app, service.caller, id);
    expect(recipients).toHaveLength(500);
    expect(bcc).toMatchObject([{ email: 'inbox@sandbox.test' }]);
  });
});

describe('200 concurrent sessions', () => {
  it('deliver ten messages each without loss or mix-up', async () => {
    const service = await smtpService();
    try {
      const sessions = await Promise.all(Array.from({ length: 200 }, () => service.session()));
      const ids = await Promise.all(
        sessions.flatMap(async (dialogue, session) => {
          const own: string[] = [];
          for (let round = 0; round < 10; round++) {
            const message = `Subject: ${session}.${round}\r\n\r\n${'x'.repeat(2_000)}\r\n`;
            const reply = await deliver(dialogue, 'inbox@sandbox.test', message);
            own.push(`${idIn(reply)} ${session}.${round}`);
          }
          return own;
        }),
      );
      const found = await Promise.all(
        ids.flat().map(async (line) => {
          const [id = ''] = line.split(' ');
          return `${id} ${(await stored(service.app, id)).row.subject}`;
        }),
      );
      expect(found).toHaveLength(2_000);
      expect(found).toEqual(ids.flat());
    } finally {
      await service.close();
    }
  });
});
