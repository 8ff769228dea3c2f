import { afterEach, describe, expect, it } from 'vitest';
import { type Dialogue, smtpDialogue } from './smtp-dialogue.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from './smtp-sink.ts';
import { testCert } from './test-cert.ts';
import { virtualClock } from './virtual-clock.ts';

let sink: SmtpSink;
const clients: Dialogue[] = [];

async function start(options?: SmtpSinkOptions): Promise<SmtpSink> {
  sink = await startSmtpSink(options);
  return sink;
}

async function client(): Promise<Dialogue> {
  const opened = await smtpDialogue(sink.port);
  clients.push(opened);
  return opened;
}

/** Opens a session after greeting and EHLO. */
async function greeted(): Promise<Dialogue> {
  const opened = await client();
  await opened.reply();
  await opened.say('EHLO client.test');
  return opened;
}

afterEach(async () => {
  for (const opened of clients.splice(0)) opened.end();
  await sink.close();
});

describe('the SMTP sink as a plain server', () => {
  it('keeps a message with its envelope, parameters and exact bytes', async () => {
    await start();
    const smtp = await client();
    expect(await smtp.reply()).toBe('220 sink.test ESMTP');
    expect(await smtp.say('EHLO client.test')).toBe(
      '250-sink.test\n250-PIPELINING\n250-8BITMIME\n250-SMTPUTF8\n250-CHUNKING\n250-DSN\n' +
        '250-ENHANCEDSTATUSCODES\n250-SIZE 52428800\n250 STARTTLS',
    );
    await smtp.say('MAIL FROM:<a@x.test> SIZE=20 BODY=8BITMIME');
    await smtp.say('RCPT TO:<"odd>one"@y.test> NOTIFY=NEVER');
    await smtp.say('RCPT TO:<grüße@y.test>');
    await smtp.say('DATA');
    expect(await smtp.say('..dot\r\nbody ü\r\n..\r\n.')).toMatch(/^250 2\.0\.0/);
    expect(await sink.waitFor(1)).toEqual([
      {
        from: 'a@x.test',
        mailParams: ['SIZE=20', 'BODY=8BITMIME'],
        recipients: ['"odd>one"@y.test', 'grüße@y.test'],
        recipientParams: [['NOTIFY=NEVER'], []],
        raw: Buffer.from('.dot\r\nbody ü\r\n.\r\n'),
        tls: false,
        serverName: null,
        sessionId: 1,
        helo: 'client.test',
        user: undefined,
      },
    ]);
  });

  it('answers pipelined commands in order, and several messages in one write', async () => {
    await start();
    const smtp = await greeted();
    const one = (n: number) =>
      `MAIL FROM:<a@x.test>\r\nRCPT TO:<n${n}@y.test>\r\nDATA\r\nmessage ${n}\r\n.\r\n`;
    smtp.write(`${one(1)}${one(2)}QUIT\r\n`);
    const codes: string[] = [];
    for (let i = 0; i < 9; i++) codes.push((await smtp.reply()).slice(0, 3));
    expect(codes.join(' ')).toBe('250 250 354 250 250 250 354 250 221');
    expect(await smtp.closed()).toBe('');
    expect(sink.messages.map(({ raw }) => raw.toString())).toEqual([
      'message 1\r\n',
      'message 2\r\n',
    ]);
  });

  it('finds the end of a message wherever the reads are cut', async () => {
    await start();
    const smtp = await greeted();
    const text = 'line\r\n..\r\n.. x\r\n\r\n';
    await smtp.say('MAIL FROM:<>');
    await smtp.say('RCPT TO:<b@y.test>');
    await smtp.say('DATA');
    for (const byte of `${text}.\r\n`) {
      smtp.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await smtp.reply();
    expect(sink.messages[0]?.raw.toString()).toBe('line\r\n.\r\n. x\r\n\r\n');
    expect(sink.messages[0]?.from).toBe('');
  });

  it('accepts an empty message', async () => {
    await start();
    const smtp = await greeted();
    smtp.write('MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n.\r\n');
    await sink.waitFor(1);
    expect(sink.messages[0]?.raw.length).toBe(0);
  });

  it('accepts a message in chunks, dots included', async () => {
    await start();
    const smtp = await greeted();
    smtp.write(
      'MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nBDAT 6\r\n.one\r\nBDAT 5 LAST\r\n.\r\n.x',
    );
    await sink.waitFor(1);
    expect(sink.messages[0]?.raw.toString()).toBe('.one\r\n.\r\n.x');
    for (let i = 0; i < 4; i++) await smtp.reply();
    expect(await smtp.say('BDAT 5 LAST\r\nNOOP\r')).toMatch(/^503/);
  });

  it('refuses commands out of sequence and messages above its size', async () => {
    await start({ maxBytes: 10 });
    const smtp = await client();
    await smtp.reply();
    expect(await smtp.say('MAIL FROM:<a@x.test>')).toMatch(/^503/);
    await smtp.say('EHLO client.test');
    expect(await smtp.say('RCPT TO:<a@x.test>')).toMatch(/^503/);
    expect(await smtp.say('DATA')).toMatch(/^503/);
    expect(await smtp.say('MAIL FROM:a@x.test')).toMatch(/^501/);
    expect(await smtp.say('MAIL FROM:<a@x.test> SIZE=11')).toMatch(/^552/);
    await smtp.say('MAIL FROM:<a@x.test>');
    expect(await smtp.say('MAIL FROM:<a@x.test>')).toMatch(/^503/);
    expect(await smtp.say('DATA')).toMatch(/^554/);
    await smtp.say('RCPT TO:<b@y.test>');
    await smtp.say('DATA');
    expect(await smtp.say('0123456789\r\n.')).toMatch(/^552/);
    expect(sink.received).toBe(0);
  });

  it('changes to TLS and drops all earlier commands', async () => {
    await start();
    const smtp = await greeted();
    expect(await smtp.say('STARTTLS')).toMatch(/^220/);
    await smtp.secure({ ca: testCert, servername: 'mx.sink.test', rejectUnauthorized: true });
    expect(await smtp.say('MAIL FROM:<a@x.test>')).toMatch(/^503/);
    expect(await smtp.say('EHLO again.test')).not.toContain('STARTTLS');
    smtp.write('MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nDATA\r\nhidden\r\n.\r\n');
    const [message] = await sink.waitFor(1);
    expect(message).toMatchObject({ tls: true, serverName: 'mx.sink.test', helo: 'again.test' });
  });

  it.each([
    ['AUTH PLAIN with the credentials at once', [`AUTH PLAIN ${btoa('\0me\0secret')}`]],
    ['AUTH PLAIN in two steps', ['AUTH PLAIN', btoa('\0me\0secret')]],
    ['AUTH LOGIN', ['AUTH LOGIN', btoa('me'), btoa('secret')]],
  ])('accepts a login by %s', async (_, lines) => {
    await start({ auth: { user: 'me', pass: 'secret' } });
    const smtp = await greeted();
    expect(await smtp.say('MAIL FROM:<a@x.test>')).toMatch(/^530/);
    const replies: string[] = [];
    for (const line of lines) replies.push(await smtp.say(line));
    expect(replies.at(-1)).toMatch(/^235/);
    smtp.write('MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nDATA\r\nx\r\n.\r\n');
    expect((await sink.waitFor(1))[0]?.user).toBe('me');
  });

  it('refuses wrong credentials', async () => {
    await start({ auth: { user: 'me', pass: 'secret' } });
    const smtp = await greeted();
    expect(await smtp.say(`AUTH PLAIN ${btoa('\0me\0guess')}`)).toMatch(/^535/);
    expect(await smtp.say('MAIL FROM:<a@x.test>')).toMatch(/^530/);
  });

  it('counts without keeping when configured so', async () => {
    await start({ keep: false });
    const smtp = await greeted();
    smtp.write('MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nDATA\r\nx\r\n.\r\n');
    expect(await sink.waitFor(1)).toEqual([]);
    expect(sink.received).toBe(1);
    expect(sink.commands).toEqual([]);
  });

  it('counts present, most and all connections', async () => {
    await start();
    const [one, two] = [await greeted(), await greeted()];
    expect(sink.connections).toEqual({ now: 2, peak: 2, total: 2 });
    await one.say('QUIT');
    await two.say('QUIT');
    await Promise.all([one.closed(), two.closed()]);
    await greeted();
    expect(sink.connections).toMatchObject({ peak: 2, total: 3 });
  });

  it('lists the received messages when the expected ones did not come', async () => {
    await start();
    await greeted();
    await expect(sink.waitFor(1, 1)).rejects.toThrow(/0 of 1 messages[\s\S]*EHLO client\.test/);
  });
});

describe('the SMTP sink with a script', () => {
  it('gives the configured answers to matching commands, and skips refused mail', async () => {
    await start();
    sink.on({ verb: 'RCPT', match: /bob@/ }, '550 5.1.1 no such user');
    sink.on({ verb: 'MAIL', match: 'SIZE=9' }, ['452-4.3.1 full', '452 4.3.1 later']);
    const smtp = await greeted();
    expect(await smtp.say('MAIL FROM:<a@x.test> SIZE=9')).toBe('452-4.3.1 full\n452 4.3.1 later');
    await smtp.say('MAIL FROM:<a@x.test>');
    expect(await smtp.say('RCPT TO:<bob@y.test>')).toBe('550 5.1.1 no such user');
    await smtp.say('RCPT TO:<eve@y.test>');
    await smtp.say('DATA');
    await smtp.say('x\r\n.');
    expect(sink.messages[0]?.recipients).toEqual(['eve@y.test']);
  });

  it('applies rules in order, each as often as configured', async () => {
    await start();
    sink.on({ verb: 'NOOP', times: 2 }, '451 first');
    sink.on({ verb: 'NOOP', times: 1 }, '452 second');
    const smtp = await greeted();
    const replies: string[] = [];
    for (let i = 0; i < 4; i++) replies.push(await smtp.say('NOOP'));
    expect(replies).toEqual(['451 first', '451 first', '452 second', '250 2.0.0 ok']);
  });

  it('answers the end of a message by its content', async () => {
    await start();
    const remove = sink.on({ verb: 'dot', match: 'viagra' }, '554 5.7.1 spam');
    const smtp = await greeted();
    const send = async () => {
      await smtp.say('MAIL FROM:<a@x.test>');
      await smtp.say('RCPT TO:<b@y.test>');
      await smtp.say('DATA');
      return smtp.say('buy viagra\r\n.');
    };
    expect(await send()).toBe('554 5.7.1 spam');
    expect(sink.received).toBe(0);
    remove();
    expect(await send()).toMatch(/^250/);
  });

  it('greets with the configured text', async () => {
    await start();
    sink.on({ verb: 'connect' }, '421 4.3.2 too busy');
    expect(await (await client()).reply()).toBe('421 4.3.2 too busy');
  });

  it.each([
    ['drops', { drop: true } as const, ''],
    ['resets', { reset: true } as const, 'reset'],
  ])('%s the connection', async (_, action, seen) => {
    await start();
    sink.on({ verb: 'DATA' }, action);
    const smtp = await greeted();
    await smtp.say('MAIL FROM:<a@x.test>');
    await smtp.say('RCPT TO:<b@y.test>');
    smtp.write('DATA\r\n');
    expect(await smtp.closed()).toBe(seen);
  });

  it('resets a TLS connection too', async () => {
    await start();
    sink.on({ verb: 'NOOP' }, { reset: true });
    const smtp = await greeted();
    await smtp.say('STARTTLS');
    await smtp.secure();
    smtp.write('NOOP\r\n');
    expect(await smtp.closed()).toBe('reset');
  });

  it('falls silent for good on that connection alone', async () => {
    await start();
    sink.on({ verb: 'NOOP', times: 1 }, { hang: true });
    const silent = await greeted();
    silent.write('NOOP\r\nNOOP\r\nQUIT\r\n');
    const other = await greeted();
    await other.say('NOOP');
    expect(sink.connections.now).toBe(2);
    expect(sink.commands.filter(({ sessionId }) => sessionId === 1).at(-1)?.line).toBe('NOOP');
  });

  it('drips a reply byte by byte and then continues', async () => {
    const clock = virtualClock();
    await start({ clock });
    sink.on({ verb: 'NOOP', times: 1 }, { dripMsPerByte: 1_000, text: '250 slow\r\n' });
    const smtp = await greeted();
    smtp.write('NOOP\r\nNOOP\r\n');
    const replies = Promise.all([smtp.reply(), smtp.reply()]);
    while (clock.nextTimerAt() === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await clock.advance(9_000);
    expect(clock.nextTimerAt()).toBeDefined();
    await clock.advance(1_000);
    expect(await replies).toEqual(['250 slow', '250 2.0.0 ok']);
  });

  it('sends raw bytes and floods', async () => {
    await start();
    sink.on({ verb: 'NOOP' }, { raw: '250 a\r\n250 injected\r\n' });
    sink.on({ verb: 'RSET' }, { flood: 200_000 });
    const smtp = await greeted();
    expect(await smtp.say('NOOP')).toBe('250 a');
    expect(await smtp.reply()).toBe('250 injected');
    smtp.write('RSET\r\n');
    await smtp.swallow(200_000);
    expect(sink.connections.now).toBe(1);
  });
});
