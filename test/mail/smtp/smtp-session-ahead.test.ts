import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { SmtpSession } from '../../../src/mail/smtp/session/session.ts';
import type { RecipientAnswer, SmtpMail } from '../../../src/mail/smtp/session/transaction.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from '../../support/smtp-sink.ts';
import type { SinkReply, SinkVerb } from '../../support/smtp-sink-script.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { mailOf, rawServer, sessionTo, until } from './smtp-session-dialogue.ts';

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

/** Opens a session and sends one message on it. */
async function provenSession(...request: Parameters<typeof sessionTo>): Promise<SmtpSession> {
  const session = await sessionTo(...request);
  sessions.push(session);
  await session.deliver(mailOf());
  return session;
}

const named = (name: string, changes: Partial<SmtpMail> = {}) =>
  mailOf({
    from: `${name}@sender.test`,
    data: [Buffer.from(`Subject: ${name}\r\n\r\n`)],
    ...changes,
  });

/** Delivers both, the second as early as allowed; returns the answers and transcripts. */
async function deliverTwo(session: SmtpSession, one = named('one'), two = named('two')) {
  let second: Promise<RecipientAnswer[]> | undefined;
  let wasAhead = false;
  const begin = () => {
    second = session.deliver(two);
    return session.transcript;
  };
  let secondSaid = session.transcript;
  const first = session.deliver(one, () => {
    wasAhead = true;
    secondSaid = begin();
  });
  const firstSaid = session.transcript;
  const [answer] = await first;
  if (!second) secondSaid = begin();
  const [next] = (await second) ?? [];
  const said = [firstSaid.text, secondSaid.text] as const;
  return { answers: [answer, next] as const, wasAhead, said };
}

const saysOk = { kind: 'replied', reply: { code: 250, verb: 'dot' } };

describe('the next message on a session', () => {
  it.each([false, {}] as const)(
    'leaves together with the end of the previous one (TLS: %j)',
    async (tls) => {
      const sink = await startSink({ tls });
      const session = await provenSession(sink.port, tls ? { tls: 'required' } : {});
      const { answers, wasAhead, said } = await deliverTwo(session);
      expect(answers).toMatchObject([saysOk, saysOk]);
      expect(wasAhead).toBe(true);
      expect(sink.messages.map(({ from }) => from.split('@')[0])).toEqual(['a', 'one', 'two']);
      expect(said[0]).toMatch(
        /message 2 on(?:(?!two@)[\s\S])*S: 250 2\.0\.0 queued at sink\.test\n$/,
      );
      expect(said[1]).toMatch(
        /^\* message 3 on an open connection\nC: MAIL FROM:<two@[\s\S]*S: 250 2\.0\.0/,
      );
    },
  );

  it('leaves in the same write', async () => {
    const writes: string[] = [];
    const server = await rawServer('220 hi\r\n', (heard, socket) => {
      writes.push(heard);
      if (heard.startsWith('EHLO')) socket.write('250-x\r\n250 PIPELINING\r\n');
      else if (heard.startsWith('MAIL')) socket.write('250 ok\r\n250 ok\r\n354 go\r\n');
      else if (heard.includes('MAIL')) socket.write('250 one\r\n250 ok\r\n250 ok\r\n354 go\r\n');
      else socket.write('250 ok\r\n');
    });
    servers.push(server);
    const session = await provenSession(server.port);
    await deliverTwo(session);
    expect(writes[4]).toMatch(
      /^Subject: one\r\n\r\n\.\r\nMAIL FROM:<two@[\s\S]*RCPT TO:[\s\S]*DATA\r\n$/,
    );
    expect(writes).toHaveLength(6);
  });

  it('waits behind the first of a session, behind a large one, and without PIPELINING', async () => {
    const sink = await startSink();
    const first = await sessionTo(sink.port);
    sessions.push(first);
    expect((await deliverTwo(first)).wasAhead).toBe(false);
    const large = named('large', { data: [Buffer.alloc(20_000, 'line\r\n')] });
    const { answers, wasAhead } = await deliverTwo(first, large);
    expect(answers).toMatchObject([saysOk, saysOk]);
    expect(wasAhead).toBe(false);
    const plain = await startSink({ extensions: [] });
    expect((await deliverTwo(await provenSession(plain.port))).wasAhead).toBe(false);
  });

  it.each([
    ['451 4.3.0 later', 451],
    ['554 5.7.1 spam', 554],
  ] as const)('is unaffected by %s for the previous one', async (line, code) => {
    const sink = await startSink();
    const session = await provenSession(sink.port);
    sink.on({ verb: 'dot', times: 1 }, line);
    const { answers, wasAhead } = await deliverTwo(session);
    expect(wasAhead).toBe(true);
    expect(answers).toMatchObject([{ kind: 'replied', reply: { code, verb: 'dot' } }, saysOk]);
    expect(sink.commands.map((command) => command.line)).not.toContain('RSET');
    const [third] = await session.deliver(named('three'));
    expect(third).toMatchObject(saysOk);
  });

  it.each([
    ['MAIL', '550 5.7.1 not you', 'MAIL'],
    ['RCPT', '550 5.1.1 no such user', 'RCPT'],
    ['DATA', '451 4.3.0 later', 'DATA'],
    ['dot', '554 5.7.1 spam', 'dot'],
  ] as const)('gets its own refusal at %s', async (verb, line, at) => {
    const sink = await startSink();
    const session = await provenSession(sink.port);
    const match = verb === 'MAIL' ? 'two@' : verb === 'dot' ? 'Subject: two' : undefined;
    const two = named('two', { recipients: ['two@example.com'] });
    if (match) sink.on({ verb, match }, line);
    else if (verb === 'RCPT') sink.on({ verb, match: 'two@' }, line);
    if (verb === 'DATA') {
      // The first DATA is that of the previous message.
      sink.on({ verb, times: 1 }, '354 go');
      sink.on({ verb, times: 1 }, line);
    }
    const { answers, wasAhead } = await deliverTwo(session, named('one'), two);
    expect(wasAhead).toBe(true);
    expect(answers).toMatchObject([saysOk, { kind: 'replied', reply: { verb: at } }]);
  });
});

describe('a session that breaks at the dot', () => {
  const breaks: [string, SinkReply, string, string][] = [
    ['by a closed connection', { drop: true }, 'connection', 'connection'],
    ['by a reset', { reset: true }, 'connection', 'connection'],
    ['by 421', '421 4.7.0 enough', 'refused', 'refused'],
    ['by nonsense', '999 what', 'protocol', 'protocol'],
    ['by NUL', { raw: '250 o\0k\r\n' }, 'protocol', 'protocol'],
  ];

  it.each(breaks)('%s leaves the next message unanswered', async (_name, reply, first, second) => {
    const sink = await startSink();
    const session = await provenSession(sink.port);
    sink.on({ verb: 'dot' }, reply);
    const { answers, wasAhead } = await deliverTwo(session);
    expect(wasAhead).toBe(true);
    expect(answers).toMatchObject([
      { kind: 'fault', fault: first, reply: { verb: 'dot' } },
      { kind: 'fault', fault: second, reply: { verb: 'MAIL' } },
    ]);
  });

  it('is given up after ten silent minutes, with both messages', async () => {
    const clock = virtualClock();
    const sink = await startSink();
    const session = await provenSession(sink.port, { clock });
    sink.on({ verb: 'dot' }, { hang: true });
    const pending = deliverTwo(session);
    await until(() => sink.commands.filter(({ line }) => line === 'DATA').length === 2);
    await clock.advance(599_999);
    expect(session.isOpen).toBe(true);
    await clock.advance(1);
    expect((await pending).answers).toMatchObject([
      { kind: 'fault', reply: { verb: 'dot' } },
      { kind: 'fault', reply: { verb: 'MAIL' } },
    ]);
  });

  it('leaves the previous message sent after its 250', async () => {
    const sink = await startSink();
    const session = await provenSession(sink.port);
    sink.on({ verb: 'dot', times: 1 }, { raw: '250 ok\r\n421 4.7.0 enough for today\r\n' });
    const { answers } = await deliverTwo(session);
    expect(answers).toMatchObject([
      saysOk,
      { kind: 'fault', fault: 'refused', reply: { verb: 'MAIL' } },
    ]);
  });
});

describe('a server out of step', () => {
  const replies: [string, SinkVerb, SinkReply][] = [
    ['answers a dot twice with 250', 'dot', { raw: '250 ok\r\n250 ok\r\n' }],
    ['answers a dot twice with 550', 'dot', { raw: '550 no\r\n550 no\r\n' }],
    ['answers a dot by 250 and then 550', 'dot', { raw: '250 ok\r\n550 no\r\n' }],
    ['says 503 to MAIL behind an accepted message', 'MAIL', '503 5.5.1 a message is under way'],
  ];

  it.each(replies)('that %s neither accepts nor refuses the next message', async (...given) => {
    const [, verb, reply] = given;
    const sink = await startSink();
    const session = await provenSession(sink.port);
    const isMail = verb === 'MAIL';
    sink.on(isMail ? { verb, match: 'two@' } : { verb, times: 1 }, reply);
    const { answers } = await deliverTwo(session);
    expect(answers[1]).toMatchObject({ kind: 'fault', fault: 'protocol' });
    expect(session.isOpen).toBe(false);
  });

  it('is asked again when it refuses MAIL behind a refused message', async () => {
    const sink = await startSink();
    const session = await provenSession(sink.port);
    sink.on({ verb: 'dot' }, '554 5.7.1 spam');
    sink.on({ verb: 'MAIL', match: 'two@' }, '550 5.5.1 nested');
    const { answers } = await deliverTwo(session);
    expect(answers).toMatchObject([
      { kind: 'replied', reply: { code: 554, verb: 'dot' } },
      { kind: 'fault', fault: 'protocol', reply: { verb: 'MAIL' } },
    ]);
  });
});

it('random repeats and refusals of a server never blur accepted and refused mail (seed 11)', async () => {
  const random = seededRandom(11);
  const chance = (share: number) => random.float() < share;
  const taken = new Set<string>();
  const refused = new Set<string>();

  /** Makes a server that at times refuses, repeats a reply, or hangs up. */
  function clumsyServer(): (heard: string, socket: Socket) => void {
    let buffered = '';
    let from = '';
    let isData = false;
    return (heard, socket) => {
      if (heard.startsWith('EHLO')) {
        [buffered, isData] = ['', false];
        socket.write('250-x\r\n250 PIPELINING\r\n');
        return;
      }
      buffered += heard;
      const say = (code: number) => {
        if (chance(0.02)) socket.end();
        else socket.write(`${code} x\r\n`.repeat(chance(0.05) ? 2 : 1));
      };
      for (;;) {
        const end = buffered.indexOf(isData ? '.\r\n' : '\r\n');
        if (end === -1) return;
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + (isData ? 3 : 2));
        const isRefused = chance(0.05);
        if (isRefused) refused.add(from);
        if (isData) {
          isData = false;
          if (!isRefused) taken.add(from);
          say(isRefused ? 554 : 250);
        } else if (line.startsWith('MAIL')) {
          from = /<(.*)@/.exec(line)?.[1] ?? '';
          if (isRefused) refused.add(from);
          say(isRefused ? 550 : 250);
        } else if (line.startsWith('DATA')) {
          isData = !isRefused;
          say(isRefused ? 554 : 354);
        } else {
          say(isRefused ? 550 : 250);
        }
      }
    };
  }

  const server = await rawServer('220 hi\r\n', clumsyServer());
  servers.push(server);
  const ends = { sent: 0, bounced: 0, fault: 0 };
  const judge = (name: string, [answer]: readonly RecipientAnswer[]) => {
    if (answer?.kind !== 'replied') {
      ends.fault += 1;
    } else if (answer.reply.code === 250) {
      ends.sent += 1;
      expect(taken, `${name} was sent`).toContain(name);
    } else {
      ends.bounced += 1;
      expect(refused, `${name} was refused`).toContain(name);
    }
  };
  for (let round = 0; round < 150; round += 1) {
    const session = await sessionTo(server.port);
    const chain = async (index: number): Promise<void> => {
      if (index === 12 || !session.isOpen) return;
      const name = `m${round}x${index}`;
      let next: Promise<void> | undefined;
      const answers = await session.deliver(named(name), () => {
        next = chain(index + 1);
      });
      judge(name, answers);
      await (next ?? chain(index + 1));
    };
    await chain(0);
    session.abort('next round');
  }
  expect(ends.sent).toBeGreaterThan(300);
  expect(ends.bounced).toBeGreaterThan(30);
  expect(ends.fault).toBeGreaterThan(30);
});
