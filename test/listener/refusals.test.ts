// Refusals of the listener: the codes of the RFC at the earliest moment, and nothing stored.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tables } from '../../src/platform/store/db.ts';
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

describe('the listener', () => {
  let service: SmtpService;
  beforeEach(async () => {
    service = await smtpService({ config: { smtp: { inbound: { maxMessageBytes: 100_000 } } } });
  });
  afterEach(() => service.close());

  it('offers its extensions, without AUTH and STARTTLS', async () => {
    const dialogue = await service.greeted();
    expect((await dialogue.say('EHLO client.example')).split('\n')).toEqual([
      '250-localhost greets you',
      '250-PIPELINING',
      '250-8BITMIME',
      '250-SMTPUTF8',
      '250-ENHANCEDSTATUSCODES',
      '250 SIZE 100000',
    ]);
    expect(await dialogue.say('AUTH PLAIN AGEAYg==')).toMatch(/^500 /);
    expect(await dialogue.say('STARTTLS')).toMatch(/^500 /);
    expect(await dialogue.say('WIZ please')).toMatch(/^500 /);
    expect(await dialogue.say('XCLIENT ADDR=10.0.0.1')).toMatch(/^500 /);
    expect(await dialogue.say('QUIT')).toMatch(/^221 /);
  });

  it('refuses unknown addresses with 550 5.1.1', async () => {
    expect(await envelope(await service.session(), 'nobody@sandbox.test')).toEqual([
      '550 5.1.1 No mailbox here has this address',
    ]);
  });

  it.each([
    ['another domain', 'victim@example.com', 550],
    ['the percent hack', 'victim%example.com@sandbox.test', 550],
    ['the percent hack around a mailbox', 'inbox%sandbox.test@example.com', 550],
    ['a bang path', 'example.com!victim@sandbox.test', 550],
    ['a bang path without a domain', 'example.com!victim', 501],
    ['a source route', '@sandbox.test:victim@example.com', 550],
    ['a source route of two', '@sandbox.test,@example.org:victim@example.com', 550],
    ['a quoted address', '"victim@example.com"@sandbox.test', 501],
    ['a quoted address without a domain', '"victim@example.com"', 501],
    ['two at signs', 'victim@example.com@sandbox.test', 501],
    ['an IPv4 literal', 'inbox@[127.0.0.1]', 553],
    ['an IPv6 literal', 'inbox@[IPv6:::1]', 553],
    ['a number as domain', 'inbox@2130706433', 553],
    ['a host without dots', 'inbox@localhost', 553],
    ['a subdomain', 'inbox@www.sandbox.test', 550],
    ['a domain that ends alike', 'inbox@evil-sandbox.test', 550],
    ['a longer domain', 'inbox@sandbox.test.example.com', 550],
    ['a trailing dot', 'inbox@sandbox.test.', 501],
    ['a NUL', 'inbox\0@sandbox.test', 501],
    ['two recipients', 'inbox@sandbox.test,victim@example.com', 501],
    ['postmaster without a mailbox', 'postmaster', 553],
    ['a look-alike at sign', 'inbox\uff20sandbox.test', 501],
  ])('never relays: %s', async (_, address, code) => {
    const dialogue = await service.session();
    const [reply = ''] = await envelope(dialogue, address);
    expect(reply).toMatch(new RegExp(`^${code} 5\\.`));
    expect(reply).not.toContain('victim');
    expect(await dialogue.say('DATA')).toMatch(/^503 /);
    expect(await inbound(service.app, service.caller)).toEqual([]);
  });

  it('ignores a source route that ends in a mailbox, as RFC 5321 asks', async () => {
    const dialogue = await service.session();
    expect(await envelope(dialogue, '@example.org:inbox@sandbox.test')).toEqual([
      '250 2.1.5 Accepted',
    ]);
  });

  it('requires SMTPUTF8 for an address outside ASCII', async () => {
    const dialogue = await service.session();
    const needed = '553 5.6.7 An address that is not ASCII needs SMTPUTF8';
    expect(await dialogue.say('MAIL FROM:<jürgen@example.com>')).toBe(needed);
    expect(await dialogue.say('MAIL FROM:<jürgen@example.com> SMTPUTF8')).toMatch(/^250 /);
    expect(await dialogue.say('RCPT TO:<jürgen@sandbox.test>')).toMatch(/^550 5\.1\.1 /);
    await dialogue.say('RCPT TO:<inbox@sandbox.test>');
    const { row, received } = await stored(service.app, idIn(await data(dialogue, 'X: y\r\n\r\n')));
    expect(row.from_email).toBe('jürgen@example.com');
    expect(received).toContain('with UTF8SMTP\r\n');
    expect(await envelope(dialogue, 'jürgen@sandbox.test')).toEqual([needed]);
  });

  it.each(['MAIL FROM:ada@example.com', 'MAIL FROM:<a b@example.com>', 'MAIL FROM:<@>', 'MAIL'])(
    'refuses the malformed sender %s',
    async (line) => {
      expect(await (await service.session()).say(line)).toMatch(/^501 5\.1\.7 /);
    },
  );

  it('defers mail for a paused mailbox', async () => {
    await service.app.store.write((trx) =>
      tables<{ mailboxes: { status: string } }>(trx)
        .updateTable('mailboxes')
        .set({ status: 'paused' })
        .execute(),
    );
    expect(await envelope(await service.session(), 'inbox@sandbox.test')).toEqual([
      '450 4.2.1 This mailbox accepts no mail at the moment',
    ]);
  });

  it('refuses a message announced as too large at MAIL', async () => {
    const dialogue = await service.session();
    expect(await dialogue.say('MAIL FROM:<a@example.com> SIZE=100001')).toMatch(/^552 5\.3\.4 /);
    expect(await dialogue.say('MAIL FROM:<a@example.com> SIZE=100000')).toMatch(/^250 /);
    expect(await dialogue.say('RSET')).toMatch(/^250 /);
    expect(await dialogue.say('MAIL FROM:<a@example.com> SIZE=-1')).toMatch(/^501 /);
  });

  it('refuses a message that grows too large, and takes the next one', async () => {
    const dialogue = await service.session();
    const message = (bytes: number) => `${'x'.repeat(bytes - 2)}\r\n`;
    expect(await deliver(dialogue, 'inbox@sandbox.test', message(100_001))).toBe(
      '552 5.3.4 The message is larger than this server accepts',
    );
    const id = idIn(await deliver(dialogue, 'inbox@sandbox.test', message(100_000)));
    expect((await stored(service.app, id)).raw).toHaveLength(100_000);
    expect(await inbound(service.app, service.caller)).toHaveLength(1);
  });

  it('hangs up on an endless message', async () => {
    const dialogue = await service.session();
    await envelope(dialogue, 'inbox@sandbox.test');
    await dialogue.say('DATA');
    dialogue.write('x'.repeat(1_500_000));
    expect(await dialogue.closed()).toMatch(/^552 5\.3\.4 |^reset$/);
  });

  it('accepts 100 recipients in a transaction', async () => {
    const dialogue = await service.session();
    const { app, caller } = service;
    const names = Array.from({ length: 101 }, (_, i) => `box${i}@sandbox.test`);
    for (const name of names) await addMailbox(app, caller, name);
    const replies = await envelope(dialogue, names);
    expect(new Set(replies.slice(0, 100))).toEqual(new Set(['250 2.1.5 Accepted']));
    expect(replies[100]).toMatch(/^452 4\.5\.3 /);
    expect(await data(dialogue, 'Subject: all\r\n\r\n')).toMatch(/^250 /);
    expect(await inbound(app, caller)).toHaveLength(100);
  });

  it('hangs up after 1000 refused commands or recipients', async () => {
    const dialogue = await service.session();
    await dialogue.say('MAIL FROM:<a@example.com>');
    dialogue.write('RCPT TO:<nobody@sandbox.test>\r\n'.repeat(1_001));
    for (let i = 0; i < 1_000; i++) expect(await dialogue.reply()).toMatch(/^550 /);
    expect(await dialogue.reply()).toBe('421 4.7.0 Too many errors, closing the connection');
    expect(await dialogue.closed()).toBe('');
  });

  it('hangs up on an endless command line', async () => {
    const dialogue = await service.session();
    dialogue.write('x'.repeat(5_000));
    expect(await dialogue.reply()).toMatch(/^421 /);
  });

  it('refuses a message that passed 50 servers', async () => {
    const { app, caller } = service;
    const hops = (count: number) =>
      `${'Received: from a by b; Mon, 12 Jan 2026 12:00:00 +0000\r\n'.repeat(count)}\r\nx\r\n`;
    const dialogue = await service.session();
    expect(await deliver(dialogue, 'inbox@sandbox.test', hops(51))).toBe(
      '554 5.4.6 Too many hops: this message is in a loop',
    );
    expect(await inbound(app, caller)).toEqual([]);
    expect(await deliver(dialogue, 'inbox@sandbox.test', hops(50))).toMatch(/^250 /);
  });
});

describe('the end of a message', () => {
  let service: SmtpService;
  beforeEach(async () => {
    service = await smtpService();
  });
  afterEach(() => service.close());

  const smuggled = 'MAIL FROM:<root@sandbox.test>\r\nRCPT TO:<inbox@sandbox.test>\r\nDATA\r\n';

  it.each([
    ['\n.\n'],
    ['\n.\r\n'],
    ['\r\n.\n'],
    ['\r.\r'],
    ['\r.\r\n'],
    ['\r\n.\r'],
    ['\r.\n'],
    ['\n.\r'],
    ['\r\n.\r.\r\n'],
    ['\r\n\0.\r\n'],
    ['\r\n.\0\r\n'],
    ['\r\n. \r\n'],
    ['\r\r\n.\r\r\n'],
    ['\r\n\t.\r\n'],
  ])('is not %j, which stays in the message', async (ending) => {
    const { app, caller } = service;
    const dialogue = await service.session();
    await envelope(dialogue, 'inbox@sandbox.test');
    await dialogue.say('DATA');
    dialogue.write(
      `Subject: first\r\n\r\nhi${ending}${smuggled}Subject: second\r\n\r\nhi\r\n.\r\n`,
    );
    const { raw } = await stored(app, idIn(await dialogue.reply()));
    expect(await dialogue.say('NOOP')).toBe('250 2.0.0 OK');
    expect(await inbound(app, caller)).toHaveLength(1);
    expect(raw.toString('latin1')).toContain(smuggled);
    expect(raw.toString('latin1')).not.toMatch(/\r(?!\n)|(?<!\r)\n/);
  });
});
