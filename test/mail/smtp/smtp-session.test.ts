import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { SmtpSession } from '../../../src/mail/smtp/session/session.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from '../../support/smtp-sink.ts';
import { mailOf, rawServer, sessionTo, until } from './smtp-session-dialogue.ts';

let sink: SmtpSink;
let session: SmtpSession | undefined;
const servers: { close(): Promise<void> }[] = [];

async function connected(options: SmtpSinkOptions = {}): Promise<SmtpSession> {
  sink = await startSmtpSink(options);
  servers.push(sink);
  session = await sessionTo(sink.port);
  return session;
}

afterEach(async () => {
  session?.abort('test over');
  session = undefined;
  for (const server of servers.splice(0)) await server.close();
});

const lines = () => sink.commands.map(({ line }) => line);

describe('a delivered message', () => {
  it('arrives byte for byte, and its answer is the 250 to its dot', async () => {
    const open = await connected();
    const [answer] = await open.deliver(mailOf());
    expect(answer).toEqual({
      kind: 'replied',
      reply: { code: 250, enhancedCode: '2.0.0', text: 'queued at sink.test', verb: 'dot' },
    });
    const [message] = await sink.waitFor(1);
    expect(message?.raw.toString()).toBe('From: a@sender.test\r\nSubject: hello\r\n\r\nHi.\r\n');
    expect(message).toMatchObject({ from: 'a@sender.test', recipients: ['b@example.com'] });
  });

  it('has its dots stuffed at the begin of a chunk, after a line end and alone', async () => {
    const open = await connected();
    const text = '.first\r\n..two\r\n.\r\na.b\r\n';
    const chunks = ['Subject: x\r', '\n\r\n', text, '.', '\r\nend\r\n'];
    await open.deliver(mailOf({ data: chunks.map((chunk) => Buffer.from(chunk)) }));
    const [message] = await sink.waitFor(1);
    expect(message?.raw.toString()).toBe(chunks.join(''));
  });

  it('gets a final line break when it has none', async () => {
    const open = await connected();
    await open.deliver(mailOf({ data: [Buffer.from('Subject: x\r\n\r\nno end')] }));
    const [message] = await sink.waitFor(1);
    expect(message?.raw.toString()).toBe('Subject: x\r\n\r\nno end\r\n');
  });

  it('keeps a final line break that came in two chunks', async () => {
    const open = await connected();
    const chunks = ['Subject: x\r\n\r\nend\r', '\n'];
    await open.deliver(mailOf({ data: chunks.map((chunk) => Buffer.from(chunk)) }));
    const [message] = await sink.waitFor(1);
    expect(message?.raw.toString()).toBe(chunks.join(''));
  });

  it('may be empty', async () => {
    const open = await connected();
    const [answer] = await open.deliver(mailOf({ data: [] }));
    expect(answer?.reply).toMatchObject({ code: 250, verb: 'dot' });
  });

  it('of 10 MB arrives complete in one chunk and in 5,000', async () => {
    const open = await connected();
    const big = Buffer.alloc(10_000_000, 'line of text\r\n..dots\r\n');
    const chunk = Buffer.alloc(2_000, '.stuffed line here\r\n');
    await open.deliver(mailOf({ data: [big] }));
    await open.deliver(mailOf({ data: new Array<Buffer>(5_000).fill(chunk) }));
    const [one, two] = await sink.waitFor(2);
    expect(one?.raw.equals(Buffer.concat([big, Buffer.from('\r\n')]))).toBe(true);
    expect(two?.raw.equals(Buffer.concat(new Array<Buffer>(5_000).fill(chunk)))).toBe(true);
  });

  it.each(['\n.\n', '\n.\r\n', '\r.\r', '\r.\r\n', '\r\n.\n', '\r\n.\r', '\r\n\0.\r\n'])(
    'cannot smuggle a second one through %j',
    async (trick) => {
      const evil = `Subject: x\r\n\r\nhi${trick}MAIL FROM:<evil@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\n`;
      const server = await rawServer('220 hi\r\n', (heard, socket) => {
        if (heard.startsWith('EHLO')) socket.write('250-x\r\n250 PIPELINING\r\n');
        else if (heard.startsWith('MAIL')) socket.write('250 ok\r\n250 ok\r\n354 go\r\n');
        else if (heard.endsWith('\r\n.\r\n')) socket.write('250 ok\r\n');
      });
      servers.push(server);
      session = await sessionTo(server.port);
      await session.deliver(mailOf({ data: [Buffer.from(evil)] }));
      const block = server.heard.slice(server.heard.indexOf('Subject:'));
      // No line end of any kind is followed by a single dot except the last.
      expect(block.slice(0, -5).match(/[\r\n]\.(?:[\r\n])/)).toBeNull();
    },
  );
});

describe('the envelope', () => {
  it('is sent in one write with PIPELINING', async () => {
    const writes: string[] = [];
    const server = await rawServer('220 hi\r\n', (heard, socket) => {
      writes.push(heard);
      if (heard.startsWith('EHLO')) socket.write('250-x\r\n250 PIPELINING\r\n');
      else if (heard.startsWith('MAIL')) socket.write('250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n');
      else socket.write('250 ok\r\n');
    });
    servers.push(server);
    session = await sessionTo(server.port);
    await session.deliver(mailOf({ recipients: ['b@example.com', 'c@example.com'] }));
    expect(writes[1]).toBe(
      'MAIL FROM:<a@sender.test>\r\nRCPT TO:<b@example.com>\r\nRCPT TO:<c@example.com>\r\nDATA\r\n',
    );
    expect(writes).toHaveLength(3);
  });

  it('is sent command by command without PIPELINING', async () => {
    const open = await connected({ extensions: [] });
    sink.on({ verb: 'RCPT', match: 'bad@' }, '550 5.1.1 unknown');
    const answers = await open.deliver(mailOf({ recipients: ['bad@x.test', 'b@example.com'] }));
    expect(answers.map(({ reply }) => [reply.code, reply.verb])).toEqual([
      [550, 'RCPT'],
      [250, 'dot'],
    ]);
    const before = sink.commands.length;
    await open.deliver(mailOf({ recipients: ['bad@x.test'] }));
    expect(lines().slice(before)).toEqual(['MAIL FROM:<a@sender.test>', 'RCPT TO:<bad@x.test>']);
  });

  it('uses SIZE, 8BITMIME, SMTPUTF8 and DSN where they are offered', async () => {
    const open = await connected();
    await open.deliver(
      mailOf({
        from: '',
        recipients: ['ü@example.com', 'b+c@example.com'],
        smtpUtf8: true,
        eightBit: true,
        dsn: { envelopeId: 'msg=1', returnContent: 'headers', notify: ['success', 'failure'] },
      }),
    );
    expect(sink.messages[0]).toMatchObject({
      from: '',
      mailParams: ['SIZE=44', 'BODY=8BITMIME', 'SMTPUTF8', 'RET=HDRS', 'ENVID=msg+3D1'],
      recipients: ['ü@example.com', 'b+c@example.com'],
      recipientParams: [
        ['NOTIFY=SUCCESS,FAILURE'],
        ['NOTIFY=SUCCESS,FAILURE', 'ORCPT=rfc822;b+2Bc@example.com'],
      ],
    });
  });

  it('uses no extension that is not offered', async () => {
    const open = await connected({ extensions: [] });
    await open.deliver(
      mailOf({
        eightBit: true,
        dsn: { envelopeId: '1', returnContent: 'full', notify: ['success'] },
      }),
    );
    expect(sink.messages[0]).toMatchObject({ mailParams: [], recipientParams: [[]] });
  });

  it('is not begun for a message larger than the server accepts', async () => {
    const open = await connected({ extensions: ['SIZE 40'], maxBytes: 40 });
    const [answer] = await open.deliver(mailOf());
    expect(answer).toMatchObject({
      kind: 'refused-here',
      errorCode: 'message-too-large',
      reply: { code: null, enhancedCode: '5.3.4' },
    });
    expect(lines()).toEqual(['EHLO client.test']);
    expect(open.isOpen).toBe(true);
  });

  it('is not begun for a message that needs SMTPUTF8 without its offer', async () => {
    const open = await connected({ extensions: ['PIPELINING'] });
    const [answer] = await open.deliver(mailOf({ smtpUtf8: true }));
    expect(answer).toMatchObject({ kind: 'refused-here', reply: { enhancedCode: '5.6.7' } });
  });

  it('asks for SMTPUTF8 for its own addresses, as for a blind copy', async () => {
    const open = await connected();
    await open.deliver(mailOf({ recipients: ['ünï@example.com'] }));
    await open.deliver(mailOf({ from: 'ünï@sender.test', recipients: ['b@example.com'] }));
    await open.deliver(mailOf({ recipients: ['b@example.com'] }));
    expect(sink.messages.map(({ mailParams }) => mailParams.includes('SMTPUTF8'))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('leaves out addresses that need SMTPUTF8 without its offer', async () => {
    const open = await connected({ extensions: ['PIPELINING'] });
    const answers = await open.deliver(
      mailOf({ recipients: ['ünï@example.com', 'b@example.com'] }),
    );
    expect(answers[0]).toMatchObject({ kind: 'refused-here', reply: { enhancedCode: '5.6.7' } });
    expect(answers[1]?.reply.code).toBe(250);
    expect(sink.messages[0]).toMatchObject({ mailParams: [], recipients: ['b@example.com'] });
    const [refused] = await open.deliver(mailOf({ from: 'ünï@sender.test' }));
    expect(refused).toMatchObject({ kind: 'refused-here', reply: { enhancedCode: '5.6.7' } });
  });

  it.each(['b@x.test>\r\nRCPT TO:<evil@x.test', 'b\n@x.test', 'b>c@x.test', 'b c@x.test', ''])(
    'leaves out the unsafe recipient %j and keeps the others',
    async (unsafe) => {
      const open = await connected();
      const answers = await open.deliver(mailOf({ recipients: [unsafe, 'b@example.com'] }));
      expect(answers[0]).toMatchObject({ kind: 'refused-here', reply: { enhancedCode: '5.1.3' } });
      expect(answers[1]?.reply.code).toBe(250);
      expect(sink.messages[0]?.recipients).toEqual(['b@example.com']);
    },
  );

  it('is not begun with an unsafe return path', async () => {
    const open = await connected();
    const [answer] = await open.deliver(mailOf({ from: 'a@x.test> BODY=8BITMIME' }));
    expect(answer).toMatchObject({ kind: 'refused-here', reply: { enhancedCode: '5.1.7' } });
    expect(lines()).toEqual(['EHLO client.test']);
  });
});

describe('refusals', () => {
  it('affect their recipient alone, and the others get the message', async () => {
    const open = await connected();
    sink.on({ verb: 'RCPT', match: 'full@' }, '452 4.2.2 mailbox full');
    sink.on({ verb: 'RCPT', match: 'gone@' }, ['550-5.1.1 no such user', '550 5.1.1 see you']);
    const recipients = ['b@x.test', 'full@x.test', 'c@x.test', 'gone@x.test'];
    const answers = await open.deliver(mailOf({ recipients }));
    expect(answers.map(({ reply }) => reply)).toEqual([
      { code: 250, enhancedCode: '2.0.0', text: 'queued at sink.test', verb: 'dot' },
      { code: 452, enhancedCode: '4.2.2', text: 'mailbox full', verb: 'RCPT' },
      { code: 250, enhancedCode: '2.0.0', text: 'queued at sink.test', verb: 'dot' },
      { code: 550, enhancedCode: '5.1.1', text: 'no such user see you', verb: 'RCPT' },
    ]);
    expect(sink.messages[0]?.recipients).toEqual(['b@x.test', 'c@x.test']);
  });

  it('of the sender answer every recipient', async () => {
    const open = await connected();
    sink.on({ verb: 'MAIL', times: 1 }, '550 5.7.1 not you');
    const answers = await open.deliver(mailOf({ recipients: ['b@x.test', 'c@x.test'] }));
    expect(answers.map(({ reply }) => [reply.code, reply.verb])).toEqual([
      [550, 'MAIL'],
      [550, 'MAIL'],
    ]);
    const [again] = await open.deliver(mailOf());
    expect(again?.reply).toMatchObject({ code: 250, verb: 'dot' });
  });

  it('of the message answer the accepted recipients', async () => {
    const open = await connected();
    sink.on({ verb: 'RCPT', match: 'gone@' }, '550 5.1.1 no');
    sink.on({ verb: 'dot' }, '554 5.7.1 spam');
    const answers = await open.deliver(mailOf({ recipients: ['gone@x.test', 'b@x.test'] }));
    expect(answers.map(({ reply }) => [reply.code, reply.verb])).toEqual([
      [550, 'RCPT'],
      [554, 'dot'],
    ]);
  });

  it('of DATA answer the accepted recipients, and RSET prepares the next message', async () => {
    const open = await connected();
    sink.on({ verb: 'DATA', times: 1 }, '451 4.3.0 later');
    const [answer] = await open.deliver(mailOf());
    expect(answer?.reply).toMatchObject({ code: 451, verb: 'DATA' });
    const [next] = await open.deliver(mailOf());
    expect(next?.reply).toMatchObject({ code: 250, verb: 'dot' });
    expect(lines().filter((line) => line === 'RSET')).toHaveLength(1);
  });

  it('of all recipients before a 354 are completed by a single dot', async () => {
    const open = await connected();
    sink.on({ verb: 'RCPT', times: 1 }, '550 5.1.1 no');
    sink.on({ verb: 'DATA', times: 1 }, '354 go ahead');
    sink.on({ verb: 'dot', times: 1 }, '554 5.5.1 no valid recipients');
    const [answer] = await open.deliver(mailOf());
    expect(answer?.reply).toMatchObject({ code: 550, verb: 'RCPT' });
    const [next] = await open.deliver(mailOf({ data: [Buffer.from('Subject: next\r\n\r\n')] }));
    expect(next?.reply).toMatchObject({ code: 250, verb: 'dot' });
    expect(sink.messages.map(({ raw }) => raw.toString())).toEqual(['Subject: next\r\n\r\n']);
  });

  it('stay when the server accepts the empty message after them', async () => {
    const open = await connected();
    sink.on({ verb: 'RCPT' }, '550 5.1.1 no');
    sink.on({ verb: 'DATA' }, '354 go ahead');
    const [answer] = await open.deliver(mailOf());
    expect(answer?.reply).toMatchObject({ code: 550, verb: 'RCPT' });
    expect(open.isOpen).toBe(false);
  });

  it('before a broken connection stay, and the rest is a fault', async () => {
    const open = await connected();
    sink.on({ verb: 'RCPT', match: 'gone@' }, '550 5.1.1 no');
    sink.on({ verb: 'RCPT', match: 'last@' }, { drop: true });
    const recipients = ['gone@x.test', 'b@x.test', 'last@x.test'];
    const answers = await open.deliver(mailOf({ recipients }));
    expect(answers.map(({ kind, reply }) => [kind, reply.code])).toEqual([
      ['replied', 550],
      ['fault', null],
      ['fault', null],
    ]);
    expect(open.isOpen).toBe(false);
  });
});

describe('a session', () => {
  it('carries several messages without RSET between them', async () => {
    const open = await connected();
    for (let count = 0; count < 20; count += 1) await open.deliver(mailOf());
    expect(sink.connections.total).toBe(1);
    expect(sink.received).toBe(20);
    expect(lines()).not.toContain('RSET');
  });

  it('ends by QUIT', async () => {
    const open = await connected();
    await open.quit();
    expect(lines().at(-1)).toBe('QUIT');
    expect(open.isOpen).toBe(false);
    await until(() => sink.connections.now === 0);
  });

  it('notices a hang-up of the server', async () => {
    sink = await startSmtpSink();
    const sockets: ReturnType<typeof connect>[] = [];
    session = await sessionTo(sink.port, {
      connector: (target) => {
        const socket = connect(target);
        sockets.push(socket);
        return socket;
      },
    });
    let closed = 0;
    session.onClosed(() => {
      closed += 1;
    });
    await sink.close();
    await until(() => session?.isOpen === false);
    expect(closed).toBe(1);
    const [answer] = await session.deliver(mailOf());
    expect(answer).toMatchObject({ kind: 'fault', fault: 'connection' });
    expect(sockets).toHaveLength(1);
  });

  it('can be cut during a message', async () => {
    const open = await connected();
    sink.on({ verb: 'dot' }, { hang: true });
    const delivering = open.deliver(mailOf());
    await until(() => lines().includes('DATA'));
    open.abort('enough');
    const [answer] = await delivering;
    expect(answer).toMatchObject({ kind: 'fault', fault: 'connection', reply: { text: 'enough' } });
  });

  it('lists the offered extensions', async () => {
    const open = await connected({
      extensions: [
        'PIPELINING',
        'SIZE 1000',
        'DSN',
        'REQUIRETLS',
        'CHUNKING',
        'X-ODD',
        'AUTH=LOGIN',
      ],
      tls: false,
    });
    expect(open.capabilities).toEqual({
      pipelining: true,
      size: 1000,
      eightBitMime: false,
      smtpUtf8: false,
      startTls: false,
      auth: ['LOGIN'],
      chunking: true,
      dsn: true,
      requireTls: true,
    });
  });

  it('falls back to HELO without EHLO', async () => {
    sink = await startSmtpSink();
    servers.push(sink);
    sink.on({ verb: 'EHLO' }, '502 5.5.1 what?');
    session = await sessionTo(sink.port);
    expect(lines()).toEqual(['EHLO client.test', 'HELO client.test']);
    const [answer] = await session.deliver(mailOf());
    expect(answer?.reply.code).toBe(250);
    expect(sink.messages[0]?.mailParams).toEqual([]);
  });
});

describe('the transcript', () => {
  it('shows the dialogue without the message', async () => {
    const open = await connected({ extensions: ['PIPELINING'], tls: false });
    await open.deliver(mailOf());
    expect(open.transcript.text).toBe(
      [
        `* connecting to sink.test [127.0.0.1]:${sink.port}`,
        'S: 220 sink.test ESMTP',
        'C: EHLO client.test',
        'S: 250-sink.test',
        'S: 250 PIPELINING',
        'C: MAIL FROM:<a@sender.test>',
        'C: RCPT TO:<b@example.com>',
        'C: DATA',
        'S: 250 2.1.0 ok',
        'S: 250 2.1.5 ok',
        'S: 354 go ahead',
        'C: (message of 44 bytes)',
        'S: 250 2.0.0 queued at sink.test',
        '',
      ].join('\n'),
    );
    await open.deliver(mailOf());
    expect(open.transcript.text).toMatch(/^\* message 2 on an open connection\nC: MAIL/);
  });

  it('stays within 4 KB, without characters that steer a terminal', async () => {
    const open = await connected();
    sink.on({ verb: 'RCPT' }, [
      ...new Array<string>(90).fill(`550-5.1.1 \u001b[31mred ${'x'.repeat(300)}`),
      '550 5.1.1 end',
    ]);
    const [answer] = await open.deliver(mailOf());
    expect(Buffer.byteLength(open.transcript.text)).toBeLessThanOrEqual(4096);
    expect(open.transcript.text).not.toContain('\u001b');
    expect(answer?.reply.text).not.toContain('\u001b');
    expect(answer?.reply.text.length).toBeLessThanOrEqual(1000);
  });
});
