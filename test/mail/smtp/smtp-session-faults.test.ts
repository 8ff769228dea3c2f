import { connect, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Opening } from '../../../src/mail/smtp/session/open.ts';
import type { SmtpSession } from '../../../src/mail/smtp/session/session.ts';
import type { RecipientAnswer } from '../../../src/mail/smtp/session/transaction.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from '../../support/smtp-sink.ts';
import type { SinkReply, SinkVerb } from '../../support/smtp-sink-script.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { mailOf, openTo, rawServer, sessionTo, until } from './smtp-session-dialogue.ts';

const servers: { close(): Promise<void> }[] = [];
const sessions: SmtpSession[] = [];

afterEach(async () => {
  for (const session of sessions.splice(0)) session.abort('test over');
  for (const server of servers.splice(0)) await server.close();
});

async function startSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const sink = await startSmtpSink({ tls: false, ...options });
  servers.push(sink);
  return sink;
}

async function open(port: number, clock?: VirtualClock): Promise<SmtpSession> {
  const session = await sessionTo(port, clock ? { clock } : {});
  sessions.push(session);
  return session;
}

/** Advances until `pending` ends; returns the seconds. Fails when nothing ends it. */
async function secondsUntilEnd<T>(clock: VirtualClock, pending: Promise<T>): Promise<[number, T]> {
  const start = clock.now();
  let result: T | undefined;
  void pending.then((value) => {
    result = value;
  });
  while (result === undefined && clock.now() - start < 3_600_000) {
    const timerAt = clock.nextTimerAt();
    if (typeof timerAt !== 'number')
      await until(() => result !== undefined || clock.nextTimerAt() !== null);
    else await clock.advance(timerAt - clock.now());
  }
  if (result === undefined) throw new Error('nothing ended it within an hour');
  return [(clock.now() - start) / 1000, result];
}

/** Waits until the client waits for `verb`: its timer runs and the server has received the verb. */
function waitsFor(clock: VirtualClock, seconds: number): Promise<void> {
  return until(() => clock.nextTimerAt() === clock.now() + seconds * 1000);
}

const opened = (opening: Opening) => ({ fault: opening.fault?.kind, ...opening.fault?.reply });
const only = (answers: RecipientAnswer[]) => answers[0];

describe('a silent server', () => {
  it.each([
    { verb: 'connect', seconds: 60 },
    { verb: 'EHLO', seconds: 60 },
  ] as const)('at $verb is given up after $seconds s', async ({ verb, seconds }) => {
    const clock = virtualClock();
    const sink = await startSink();
    sink.on({ verb }, { hang: true });
    const opening = openTo(sink.port, { clock });
    const heard = () => verb === 'connect' || sink.commands.length === 1;
    await until(() => heard() && clock.nextTimerAt() === clock.now() + seconds * 1000);
    const [after, result] = await secondsUntilEnd(clock, opening);
    expect(after).toBe(seconds);
    expect(opened(result)).toMatchObject({ fault: 'connection', code: null, verb });
    await until(() => sink.connections.now === 0);
  });

  it.each([
    { verb: 'MAIL', seconds: 60, extensions: ['PIPELINING'] },
    { verb: 'RCPT', seconds: 60, extensions: ['PIPELINING'] },
    { verb: 'DATA', seconds: 120, extensions: ['PIPELINING'] },
    { verb: 'dot', seconds: 600, extensions: ['PIPELINING'] },
    { verb: 'MAIL', seconds: 60, extensions: [] },
    { verb: 'RCPT', seconds: 60, extensions: [] },
    { verb: 'DATA', seconds: 120, extensions: [] },
    { verb: 'dot', seconds: 600, extensions: [] },
  ] as const)('at $verb is given up after $seconds s (offers: $extensions)', async (given) => {
    const { verb, seconds, extensions } = given;
    const clock = virtualClock();
    const sink = await startSink({ extensions });
    const session = await open(sink.port, clock);
    sink.on({ verb }, { hang: true });
    const delivering = session.deliver(mailOf());
    const word = verb === 'dot' ? 'DATA' : verb;
    await until(() => sink.commands.some(({ line }) => line.startsWith(word)));
    await waitsFor(clock, seconds);
    const [after, answers] = await secondsUntilEnd(clock, delivering);
    expect(after).toBe(seconds);
    expect(only(answers)).toMatchObject({
      kind: 'fault',
      fault: 'connection',
      reply: { code: null, enhancedCode: '4.4.2', verb },
    });
    expect(session.isOpen).toBe(false);
    await until(() => sink.connections.now === 0);
  });

  it('that reads no byte of a large message is given up after 180 s', async () => {
    const clock = virtualClock();
    const server = await rawServer('220 hi\r\n', (heard, socket) => {
      if (heard.startsWith('EHLO')) socket.write('250-x\r\n250 PIPELINING\r\n');
      else if (heard.startsWith('MAIL')) {
        socket.write('250 ok\r\n250 ok\r\n354 go\r\n');
        socket.pause();
      }
    });
    servers.push(server);
    const session = await open(server.port, clock);
    const delivering = session.deliver(mailOf({ data: [Buffer.alloc(30_000_000, 'x')] }));
    await waitsFor(clock, 180);
    const [after, answers] = await secondsUntilEnd(clock, delivering);
    expect(after).toBe(180);
    expect(only(answers)).toMatchObject({ fault: 'connection', reply: { verb: 'DATA' } });
  });

  it('that completes no connection is given up after 30 s', async () => {
    const clock = virtualClock();
    const socket = new Socket();
    Object.defineProperty(socket, 'connecting', { value: true });
    const opening = openTo(1, { clock, connector: () => socket });
    const [after, result] = await secondsUntilEnd(clock, opening);
    expect(after).toBe(30);
    expect(opened(result)).toMatchObject({ fault: 'connection', verb: 'connect' });
    expect(socket.destroyed).toBe(true);
  });
});

describe('a silent server, with callers waiting for a place,', () => {
  let isPressed = true;
  const options = (clock: VirtualClock) => ({ clock, isPressed: () => isPressed });

  it.each([
    ['connect', 30],
    ['EHLO', 30],
  ] as const)('is given up at %s after %d s', async (verb, seconds) => {
    isPressed = true;
    const clock = virtualClock();
    const sink = await startSink();
    sink.on({ verb }, { hang: true });
    const opening = openTo(sink.port, options(clock));
    await until(() => verb === 'connect' || sink.commands.length === 1);
    await waitsFor(clock, seconds);
    const [after, result] = await secondsUntilEnd(clock, opening);
    expect(after).toBe(seconds);
    expect(opened(result)).toMatchObject({ fault: 'connection', code: null, verb });
  });

  it.each([
    ['MAIL', true, 30],
    ['RCPT', true, 30],
    ['DATA', true, 30],
    ['dot', true, 600],
    ['MAIL', false, 60],
  ] as const)('is given up at %s (callers wait: %s) after %d s', async (verb, waits, seconds) => {
    isPressed = waits;
    const clock = virtualClock();
    const sink = await startSink();
    const session = await sessionTo(sink.port, options(clock));
    sessions.push(session);
    sink.on({ verb }, { hang: true });
    const delivering = session.deliver(mailOf());
    const word = verb === 'dot' ? 'DATA' : verb;
    await until(() => sink.commands.some(({ line }) => line.startsWith(word)));
    await waitsFor(clock, verb === 'dot' ? 600 : 30);
    const [after, answers] = await secondsUntilEnd(clock, delivering);
    expect(after).toBe(seconds);
    expect(only(answers)).toMatchObject({ kind: 'fault', fault: 'connection', reply: { verb } });
  });

  it('is given up soon after the first caller waits', async () => {
    isPressed = false;
    const clock = virtualClock();
    const sink = await startSink();
    sink.on({ verb: 'connect' }, { hang: true });
    const opening = openTo(sink.port, options(clock));
    await waitsFor(clock, 30);
    clock.after(42_000, () => {
      isPressed = true;
    });
    const [after] = await secondsUntilEnd(clock, opening);
    expect(after).toBe(45);
  });
});

describe('a server that drips one byte at a time', () => {
  it.each([
    { verb: 'MAIL', seconds: 60 },
    { verb: 'dot', seconds: 600 },
  ] as const)('does not move the deadline at $verb', async ({ verb, seconds }) => {
    const clock = virtualClock();
    const sink = await startSink({ clock });
    const session = await open(sink.port, clock);
    sink.on({ verb }, { dripMsPerByte: 20_000, text: `250-${'x'.repeat(200)}\r\n250 ok\r\n` });
    const [after, answers] = await secondsUntilEnd(clock, session.deliver(mailOf()));
    expect(after).toBe(seconds);
    expect(only(answers)).toMatchObject({ kind: 'fault', fault: 'connection', reply: { verb } });
  });

  it('is understood in time', async () => {
    const clock = virtualClock();
    const sink = await startSink({ clock });
    const session = await open(sink.port, clock);
    sink.on({ verb: 'dot' }, { dripMsPerByte: 1_000, text: '250-2.0.0 it\r\n250 2.0.0 took\r\n' });
    const [, answers] = await secondsUntilEnd(clock, session.deliver(mailOf()));
    expect(only(answers)?.reply).toMatchObject({ code: 250, text: 'it took' });
  });

  it('has its own time for the next envelope after a slow dot', async () => {
    const clock = virtualClock();
    const sink = await startSink({ clock });
    const session = await open(sink.port, clock);
    await session.deliver(mailOf());
    sink.on({ verb: 'dot', times: 1 }, { dripMsPerByte: 20_000, text: '250 took it.\r\n' });
    let next: Promise<RecipientAnswer[]> | undefined;
    const first = session.deliver(mailOf(), () => {
      next = session.deliver(mailOf());
    });
    await secondsUntilEnd(clock, first);
    const [, answers] = await secondsUntilEnd(clock, next ?? Promise.resolve([]));
    expect([only(await first)?.reply.code, only(answers)?.reply]).toMatchObject([
      250,
      { code: 250, verb: 'dot' },
    ]);
  });

  it('has 2 minutes and 5 s each for 50 recipients', async () => {
    const clock = virtualClock();
    const sink = await startSink({ clock });
    const session = await open(sink.port, clock);
    sink.on({ verb: 'RCPT' }, { dripMsPerByte: 5_000, text: '250 ok...\r\n' });
    const recipients = Array.from({ length: 50 }, (_, index) => `b${index}@x.test`);
    const [after, answers] = await secondsUntilEnd(clock, session.deliver(mailOf({ recipients })));
    expect(after).toBe(120 + 50 * 5);
    expect(answers).toHaveLength(50);
    expect(answers.every(({ kind }) => kind === 'fault')).toBe(true);
  });
});

describe('a malformed reply', () => {
  const nonsense: [string, SinkReply][] = [
    ['999', '999 what'],
    ['199', '199 what'],
    ['a code of two digits', '25 ok'],
    ['a code without a separator', '2500 ok'],
    ['text', 'HTTP/1.1 400 Bad Request'],
    ['an empty line', ''],
    ['NUL', { raw: '250 o\0k\r\n' }],
    ['a code that changes', ['250-one', '251 two']],
    ['a reply of 101 lines', [...new Array<string>(100).fill('250-x'), '250 x']],
    ['10 MB of lines without an end', { flood: 10_000_000 }],
    ['10 MB of one line', { raw: Buffer.alloc(10_000_000, '2') }],
  ];
  const verbs: SinkVerb[] = ['connect', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'dot'];
  const cases = nonsense.flatMap(([name, reply]) => verbs.map((verb) => ({ name, reply, verb })));

  it.each(cases)('closes the connection: $name at $verb', async ({ reply, verb }) => {
    const sink = await startSink();
    sink.on({ verb }, reply);
    const opening = await openTo(sink.port);
    if (verb === 'connect' || verb === 'EHLO') {
      expect(opened(opening)).toMatchObject({ fault: 'protocol', verb });
    } else {
      if (!opening.session) throw new Error(opening.fault.message);
      const [answer] = await opening.session.deliver(mailOf());
      expect(answer).toMatchObject({ kind: 'fault', fault: 'protocol', reply: { verb } });
      expect(opening.session.isOpen).toBe(false);
    }
    await until(() => sink.connections.now === 0);
  });

  it('of 100 lines is accepted', async () => {
    const sink = await startSink();
    sink.on({ verb: 'dot' }, [...new Array<string>(99).fill('250-x'), '250 x']);
    const [answer] = await (await open(sink.port)).deliver(mailOf());
    expect(answer?.reply).toMatchObject({ code: 250, verb: 'dot' });
  });

  it('with lines that end in LF alone and bare codes is accepted', async () => {
    const sink = await startSink();
    sink.on({ verb: 'MAIL' }, { raw: '250-2.1.0 a\n250\n' });
    const [answer] = await (await open(sink.port)).deliver(mailOf());
    expect(answer?.reply).toMatchObject({ code: 250, verb: 'dot' });
  });

  it('in UTF-8 is read as such', async () => {
    const sink = await startSink();
    sink.on({ verb: 'RCPT' }, '550 5.1.1 Empfänger ungültig');
    const [answer] = await (await open(sink.port)).deliver(mailOf());
    expect(answer?.reply.text).toBe('Empfänger ungültig');
  });
});

describe('an unsolicited reply', () => {
  it.each([
    ['a second greeting', 'connect', '220 hi\r\n220 again\r\n'],
    ['a second reply to EHLO', 'EHLO', '250 x\r\n250 x\r\n'],
    ['250 together with the 354', 'DATA', '354 go\r\n250 queued\r\n'],
    ['half a reply together with the 354', 'DATA', '354 go\r\n25'],
    ['a second reply to MAIL, so that 250 comes for DATA', 'MAIL', '250 ok\r\n250 ok\r\n'],
    ['two replies to the dot', 'dot', '250 ok\r\n550 rejected\r\n'],
    ['250 twice to the dot', 'dot', '250 ok\r\n250 ok\r\n'],
    ['250 for DATA', 'DATA', '250 ok\r\n'],
    ['354 for MAIL', 'MAIL', '354 go\r\n'],
    ['354 for the dot', 'dot', '354 go\r\n'],
    ['221 for the dot', 'dot', '221 bye\r\n'],
    ['220 for a recipient', 'RCPT', '220 hi\r\n'],
  ] as const)('is never an answer: %s', async (_name, verb, raw) => {
    for (const extensions of [['PIPELINING'], []]) {
      const sink = await startSink({ extensions });
      sink.on({ verb, times: 1 }, { raw });
      const opening = await openTo(sink.port);
      if (opening.session) {
        sessions.push(opening.session);
        const [answer] = await opening.session.deliver(mailOf());
        expect(answer).toMatchObject({ kind: 'fault', fault: 'protocol' });
        expect(opening.session.isOpen).toBe(false);
      } else {
        expect(opening.fault.kind).toBe('protocol');
      }
    }
  });

  it('out of step refuses no recipient, because it may belong to another one', async () => {
    const server = await rawServer('220 hi\r\n', (heard, socket) => {
      if (heard.startsWith('EHLO')) socket.write('250-x\r\n250 PIPELINING\r\n');
      else socket.write('250 ok\r\n250 ok\r\n550 first\r\n250 second\r\n354 go\r\n');
    });
    servers.push(server);
    const session = await open(server.port);
    const answers = await session.deliver(mailOf({ recipients: ['one@x.test', 'two@x.test'] }));
    expect(answers.map(({ kind }) => kind)).toEqual(['fault', 'fault']);
  });

  it('of 250 is ignored while most of a large message is unsent', async () => {
    let sockets = 0;
    const server = await rawServer('220 hi\r\n', (heard, socket) => {
      if (heard.startsWith('EHLO')) socket.write('250-x\r\n250 PIPELINING\r\n');
      else if (heard.startsWith('MAIL')) socket.write('250 ok\r\n250 ok\r\n354 go\r\n');
      else if (sockets === 0) {
        sockets = 1;
        socket.pause();
        socket.write('250 2.0.0 queued\r\n');
      }
    });
    servers.push(server);
    const session = await open(server.port);
    const [answer] = await session.deliver(mailOf({ data: [Buffer.alloc(30_000_000, 'x')] }));
    expect(answer).toMatchObject({ kind: 'fault', fault: 'protocol', reply: { code: null } });
  });

  it.each([
    ['250 before the last bytes are sent is a fault', [7, 7, 7], 'fault'],
    ['bytes that only seem unsent, as over TLS, are ignored', [7, 0, 0], 'replied'],
  ] as const)('is judged by the unsent bytes: %s', async (_name, unsent, kind) => {
    const sink = await startSink();
    let reads = 0;
    let isReading = false;
    const session = await sessionTo(sink.port, {
      connector: (target) => {
        const socket = connect(target);
        const real = () => Object.getPrototypeOf(socket).writableLength ?? 0;
        const fake = () => unsent[Math.min(reads++, 2)];
        Object.defineProperty(socket, 'writableLength', {
          get: () => (isReading ? fake() : real()),
        });
        return socket;
      },
    });
    sessions.push(session);
    isReading = true;
    const [answer] = await session.deliver(mailOf());
    expect(reads).toBeGreaterThan(1);
    expect(answer?.kind).toBe(kind);
  });

  it('of 421 while idle ends the session quietly', async () => {
    let say = (_text: string) => {};
    const server = await rawServer('220 hi\r\n', (_heard, socket) => {
      socket.write('250 x\r\n');
      say = (text) => socket.write(text);
    });
    servers.push(server);
    const session = await open(server.port);
    say('421 4.4.2 idle too long\r\n');
    await until(() => !session.isOpen);
    const [answer] = await session.deliver(mailOf());
    expect(answer).toMatchObject({ kind: 'fault', fault: 'refused' });
  });
});

describe('the reply 421', () => {
  it.each(['MAIL', 'RCPT', 'DATA', 'dot'] as const)('at %s ends the session', async (verb) => {
    const sink = await startSink();
    sink.on({ verb }, '421 4.7.0 too busy');
    const session = await open(sink.port);
    const [answer] = await session.deliver(mailOf());
    expect(answer).toMatchObject({ kind: 'fault', fault: 'refused', reply: { code: 421, verb } });
    expect(session.isOpen).toBe(false);
  });

  it.each([
    ['connect', '421 4.3.2 busy'],
    ['connect', '450 4.3.2 busy'],
    ['connect', '554 5.7.1 not you'],
    ['EHLO', '421 4.3.2 busy'],
    ['EHLO', '451 4.3.2 busy'],
  ] as const)('and other refusals at %s (%s) keep their text', async (verb, line) => {
    const sink = await startSink();
    sink.on({ verb }, line);
    const opening = await openTo(sink.port);
    const [code, enhancedCode] = [Number(line.slice(0, 3)), line.slice(4, 9)];
    expect(opened(opening)).toMatchObject({ fault: 'refused', code, enhancedCode, verb });
  });

  it('together with the 250 to the dot does not undo it', async () => {
    const sink = await startSink();
    sink.on({ verb: 'dot' }, { raw: '250 2.0.0 queued\r\n421 4.7.0 enough for today\r\n' });
    const session = await open(sink.port);
    const [answer] = await session.deliver(mailOf());
    expect(answer).toMatchObject({ kind: 'replied', reply: { code: 250, verb: 'dot' } });
    expect(session.isOpen).toBe(false);
  });
});

describe('a broken connection', () => {
  const breaks: [string, SinkReply][] = [
    ['closed', { drop: true }],
    ['reset', { reset: true }],
    ['closed in the middle of a reply', { raw: '250-half' }],
  ];
  const verbs: SinkVerb[] = ['MAIL', 'RCPT', 'DATA', 'dot'];
  const cases = breaks.flatMap(([name, reply]) => verbs.map((verb) => ({ name, reply, verb })));

  it.each(cases)('is a fault at $verb: $name', async ({ name, reply, verb }) => {
    const sink = await startSink({ extensions: [] });
    sink.on({ verb }, reply);
    const session = await open(sink.port);
    const delivering = session.deliver(mailOf());
    if (name.includes('middle')) {
      const word = verb === 'dot' ? 'DATA' : verb;
      await until(() => sink.commands.some(({ line }) => line.startsWith(word)));
      await until(() => sink.received > 0 || verb !== 'dot');
      await sink.close();
    }
    const [answer] = await delivering;
    expect(answer).toMatchObject({
      kind: 'fault',
      fault: 'connection',
      reply: { code: null, verb },
    });
  });

  it('is a fault before it is made', async () => {
    const sink = await startSink();
    await sink.close();
    const opening = await openTo(sink.port);
    expect(opened(opening)).toMatchObject({
      fault: 'connection',
      enhancedCode: '4.4.1',
      verb: 'connect',
    });
  });
});

it('no stream of replies makes a message sent without a 250 to its dot (seed 7)', async () => {
  const random = seededRandom(7);
  const tokens = ['250 ok\r\n', '354 go\r\n', '550 no\r\n', '451 later\r\n', '250-x\r\n'].concat(
    '220 hi\r\n',
    '2',
    '\r\n',
    '999 x\r\n',
    '421 x\r\n',
    '250 ok\r\n',
    '250 ok\r\n',
  );
  const anything = () => {
    const chosen = () => tokens[Math.floor(random.float() * tokens.length)] ?? '';
    return Array.from({ length: 1 + Math.floor(random.float() * 4) }, chosen).join('');
  };
  let afterDot = '';
  const server = await rawServer('220 hi\r\n', (heard, socket) => {
    if (heard.startsWith('EHLO')) socket.write('250-x\r\n250 PIPELINING\r\n');
    else if (heard.endsWith('\r\n.\r\n')) {
      afterDot = anything();
      socket.end(afterDot);
    } else if (random.float() < 0.7) socket.write('250 a\r\n250 b\r\n354 c\r\n');
    else socket.end(anything());
  });
  servers.push(server);
  let sent = 0;
  for (let round = 0; round < 400; round += 1) {
    afterDot = '';
    const session = await open(server.port);
    const [answer] = await session.deliver(mailOf());
    session.abort('next');
    if (answer?.kind !== 'replied' || answer.reply.code !== 250) continue;
    sent += 1;
    expect(afterDot).toMatch(/^(?:250-x\r\n)*250 ok\r\n(?:421 x\r\n)?$/);
  }
  expect(sent).toBeGreaterThan(20);
});
