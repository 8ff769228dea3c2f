import { afterEach, describe, expect, it } from 'vitest';
import type { SmtpSession } from '../../../src/mail/smtp/session/session.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from '../../support/smtp-sink.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { mailOf, openTo, rawServer, sessionTo, until } from './smtp-session-dialogue.ts';

const servers: { close(): Promise<void> }[] = [];
const sessions: SmtpSession[] = [];

afterEach(async () => {
  for (const session of sessions.splice(0)) session.abort('test over');
  for (const server of servers.splice(0)) await server.close();
});

async function startSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const sink = await startSmtpSink(options);
  servers.push(sink);
  return sink;
}

async function open(...request: Parameters<typeof sessionTo>): Promise<SmtpSession> {
  const session = await sessionTo(...request);
  sessions.push(session);
  return session;
}

/** Starts a server that offers STARTTLS and answers `220`, then `afterStartTls`. */
async function startTlsServer(afterStartTls: string, isHanging = false) {
  const server = await rawServer('220 hi\r\n', (heard, socket) => {
    if (heard.startsWith('EHLO')) socket.write('250-x\r\n250 STARTTLS\r\n');
    else if (heard.startsWith('STARTTLS')) socket.write(`220 go\r\n${afterStartTls}`);
    else if (heard.startsWith('MAIL') || heard.startsWith('RCPT')) socket.write('250 ok\r\n');
    else if (heard.startsWith('DATA')) socket.write('354 go\r\n');
    else if (heard.endsWith('\r\n.\r\n')) socket.write('250 ok\r\n');
    else if (!isHanging) socket.destroy();
  });
  servers.push(server);
  return server;
}

describe('opportunistic TLS', () => {
  it('encrypts where STARTTLS is offered, with any certificate', async () => {
    const sink = await startSink();
    const session = await open(sink.port, { tls: 'opportunistic' });
    expect(session.tls).toMatch(/^TLSv1\.3 TLS_/);
    const [answer] = await session.deliver(mailOf());
    expect(answer?.reply.code).toBe(250);
    expect(sink.messages[0]).toMatchObject({ tls: true, helo: 'client.test' });
    // The client asks again for extensions offered in plaintext.
    expect(sink.commands.map(({ line }) => line).slice(0, 3)).toEqual([
      'EHLO client.test',
      'STARTTLS',
      'EHLO client.test',
    ]);
    expect(session.transcript.text).toContain('* TLSv1.3');
  });

  it('carries a large message', async () => {
    const sink = await startSink();
    const session = await open(sink.port, { tls: 'opportunistic' });
    const data = [Buffer.alloc(5_000_000, 'some text\r\n.dot\r\n')];
    for (let count = 0; count < 3; count += 1) await session.deliver(mailOf({ data }));
    expect(sink.received).toBe(3);
  });

  it('falls back to plaintext where it is not offered', async () => {
    const sink = await startSink({ tls: false });
    const session = await open(sink.port, { tls: 'opportunistic' });
    expect(session.tls).toBeNull();
    expect(sink.connections.total).toBe(1);
  });

  it.each([
    ['refused', '454 4.7.0 not now'],
    ['answered by 421', '421 4.7.0 not now'],
    ['answered by a closed connection', { drop: true }],
  ] as const)(
    'falls back to plaintext on a new connection when STARTTLS is %s',
    async (_name, reply) => {
      const sink = await startSink();
      sink.on({ verb: 'STARTTLS' }, reply);
      const session = await open(sink.port, { tls: 'opportunistic' });
      expect(session.tls).toBeNull();
      expect(sink.connections.total).toBe(2);
      const [answer] = await session.deliver(mailOf());
      expect(answer?.reply.code).toBe(250);
      expect(session.transcript.text).toContain('once more in plain text');
    },
  );

  it.each([
    ['the server closes during the handshake', ''],
    ['something else than TLS comes', undefined],
  ])('falls back to plaintext when %s', async (_name, afterStartTls) => {
    const isSsh = afterStartTls === undefined;
    const server = await rawServer('220 hi\r\n', (heard, socket) => {
      if (heard.startsWith('EHLO')) socket.write('250-x\r\n250 STARTTLS\r\n');
      else if (heard.startsWith('STARTTLS')) socket.write('220 go\r\n');
      else if (isSsh) socket.write('SSH-2.0-OpenSSH_9.6\r\n');
      else socket.destroy();
    });
    servers.push(server);
    const session = await open(server.port, { tls: 'opportunistic' });
    expect(session.tls).toBeNull();
    expect(session.transcript.text).toContain('TLS failed');
  });

  it('falls back to plaintext when the handshake hangs for 30 s', async () => {
    const clock = virtualClock();
    const server = await startTlsServer('', true);
    const opening = open(server.port, { tls: 'opportunistic', clock });
    await until(() => server.heard.includes('\x16\x03'));
    await clock.advance(30_000);
    expect((await opening).tls).toBeNull();
  });

  it('treats replies injected before the handshake as an attack and stops', async () => {
    const server = await startTlsServer('250 injected\r\n');
    const { fault, session } = await openTo(server.port, { tls: 'opportunistic' });
    expect(session).toBeNull();
    expect(fault).toMatchObject({ kind: 'protocol', reply: { verb: 'STARTTLS' } });
    expect(server.heard.match(/STARTTLS/g)).toHaveLength(1);
  });
});

describe('required TLS', () => {
  it('refuses a server without STARTTLS', async () => {
    const sink = await startSink({ tls: false });
    const { fault } = await openTo(sink.port, { tls: 'required' });
    expect(fault).toMatchObject({ kind: 'tls', reply: { verb: 'STARTTLS' } });
    expect(sink.connections.total).toBe(1);
  });

  it('refuses a server with a broken STARTTLS', async () => {
    const sink = await startSink();
    sink.on({ verb: 'STARTTLS' }, '454 4.7.0 not now');
    const { fault } = await openTo(sink.port, { tls: 'required' });
    expect(fault).toMatchObject({ kind: 'tls', reply: { code: 454, text: 'not now' } });
    expect(sink.connections.total).toBe(1);
  });

  it('refuses a server without EHLO', async () => {
    const sink = await startSink();
    sink.on({ verb: 'EHLO' }, '502 5.5.1 what?');
    const { fault } = await openTo(sink.port, { tls: 'required' });
    expect(fault?.kind).toBe('tls');
  });

  it('refuses an unproven certificate where it must be verified', async () => {
    const sink = await startSink();
    const { fault, ...rest } = await openTo(sink.port, {
      tls: 'required',
      verifyCertificate: true,
    });
    expect(fault).toMatchObject({ kind: 'tls' });
    expect(fault?.message).toMatch(/self-signed/);
    expect(rest.session).toBeNull();
    expect(sink.received).toBe(0);
  });
});

describe('implicit TLS', () => {
  it('encrypts from the first byte', async () => {
    const sink = await startSink({ implicitTls: true });
    const session = await open(sink.port, { tls: 'implicit' });
    expect(session.tls).toMatch(/^TLSv1\.3/);
    await session.deliver(mailOf());
    expect(sink.messages[0]?.tls).toBe(true);
    expect(sink.commands.map(({ line }) => line)).not.toContain('STARTTLS');
  });

  it('fails on a plaintext server without a fallback', async () => {
    const sink = await startSink({ tls: false });
    const { fault } = await openTo(sink.port, { tls: 'implicit' });
    expect(fault).toMatchObject({ kind: 'connection', reply: { enhancedCode: '4.7.5' } });
    expect(sink.commands).toEqual([]);
  });
});

describe('AUTH', () => {
  const auth = { username: 'user', password: 's3cret-päss' };
  const credentials = { user: auth.username, pass: auth.password };
  const secrets = [
    auth.password,
    Buffer.from(auth.password).toString('base64'),
    Buffer.from(`\0${auth.username}\0${auth.password}`).toString('base64'),
  ];

  it.each(['PLAIN', 'LOGIN'])(
    'logs in by %s over TLS, hidden from the transcript',
    async (method) => {
      const sink = await startSink({ auth: credentials });
      if (method === 'LOGIN')
        sink.on({ verb: 'EHLO' }, ['250-x', '250-STARTTLS', '250 AUTH LOGIN']);
      const session = await open(sink.port, { tls: 'required', auth });
      await session.deliver(mailOf());
      expect(sink.messages[0]).toMatchObject({ user: 'user', tls: true });
      expect(sink.commands.some(({ line }) => line.startsWith(`AUTH ${method}`))).toBe(true);
      for (const secret of secrets) expect(session.transcript.text).not.toContain(secret);
      expect(session.transcript.text).toContain('hidden');
    },
  );

  it('is hidden from the transcripts and answers of all later messages', async () => {
    const sink = await startSink({ auth: credentials });
    const session = await open(sink.port, { tls: 'required', auth });
    await session.deliver(mailOf());
    sink.on({ verb: 'RCPT' }, `550 5.7.1 not for ${secrets.join(' ')}`);
    for (const message of [2, 3]) {
      const [answer] = await session.deliver(mailOf());
      expect(session.deliveries).toBe(message);
      expect(session.transcript.text).toContain(`message ${message} on an open connection`);
      expect(session.transcript.text).toContain('S: 550 5.7.1 not for (hidden) (hidden) (hidden)');
      expect(answer?.reply.text).toContain('not for (hidden) (hidden) (hidden)');
      for (const secret of secrets) {
        expect(session.transcript.text).not.toContain(secret);
        expect(answer?.reply.text).not.toContain(secret);
      }
    }
  });

  it('keeps the text of a refusal without the credentials in it', async () => {
    const sink = await startSink({ auth: credentials });
    sink.on({ verb: 'AUTH' }, `535 5.7.8 no: ${secrets.join(' ')}`);
    const opening = await openTo(sink.port, { tls: 'required', auth });
    expect(opening.fault).toMatchObject({
      kind: 'auth',
      reply: { code: 535, enhancedCode: '5.7.8', verb: 'AUTH' },
    });
    if (opening.session) throw new Error('logged in');
    for (const secret of secrets) {
      expect(opening.transcript).not.toContain(secret);
      expect(opening.fault.reply.text).not.toContain(secret);
    }
  });

  it('fails with the wrong password', async () => {
    const sink = await startSink({ auth: { user: 'user', pass: 'other' } });
    const { fault } = await openTo(sink.port, { tls: 'required', auth });
    expect(fault).toMatchObject({ kind: 'auth', reply: { code: 535 } });
  });

  it('fails without an offered method of ours', async () => {
    const sink = await startSink({ extensions: ['AUTH CRAM-MD5'] });
    const { fault } = await openTo(sink.port, { tls: 'required', auth });
    expect(fault).toMatchObject({ kind: 'auth', reply: { code: null } });
  });

  it('never sends credentials in plaintext', async () => {
    const sink = await startSink({ auth: credentials, tls: false });
    const { fault } = await openTo(sink.port, { tls: 'opportunistic', auth });
    expect(fault).toMatchObject({ kind: 'tls', reply: { verb: 'AUTH' } });
    expect(sink.commands.map(({ line }) => line)).toEqual(['EHLO client.test']);
  });

  it('sends credentials in plaintext where allowed', async () => {
    const sink = await startSink({ auth: credentials, tls: false });
    const session = await open(sink.port, { tls: 'none', auth, allowClearAuth: true });
    await session.deliver(mailOf());
    expect(sink.messages[0]?.user).toBe('user');
  });
});

describe('a shutdown', () => {
  it('ends an opening session at once', async () => {
    const sink = await startSink();
    sink.on({ verb: 'EHLO' }, { hang: true });
    const shutdown = new AbortController();
    const opening = openTo(sink.port, { tls: 'opportunistic', signal: shutdown.signal });
    await until(() => sink.commands.length === 1);
    shutdown.abort();
    expect((await opening).fault).toMatchObject({ kind: 'connection' });
    await until(() => sink.connections.now === 0);
  });

  it('opens no further session', async () => {
    const sink = await startSink();
    const { fault } = await openTo(sink.port, { signal: AbortSignal.abort() });
    expect(fault?.kind).toBe('connection');
    await until(() => sink.connections.now === 0);
    expect(sink.commands).toEqual([]);
  });
});
