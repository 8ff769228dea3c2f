// Slow, numerous and hungry clients, a failing store, and the stop: over real sockets with a
// virtual clock.
import { connect } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { smtpDialogue } from '../support/smtp-dialogue.ts';
import {
  addMailbox,
  deliver,
  envelope,
  idIn,
  inbound,
  type SmtpService,
  smtpService,
} from './smtp-service.ts';

let service: SmtpService;
afterEach(() => service.close());

const minute = 60_000;
/**
 * A client in DATA without Nagle's algorithm, which would gather minutes of this clock in one
 * write.
 */
async function dripping(port: number) {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  let heard = '';
  socket.on('data', (chunk) => {
    heard += chunk;
  });
  await expect.poll(() => heard).toContain('220 ');
  const to = 'MAIL FROM:<a@example.com>\r\nRCPT TO:<inbox@sandbox.test>\r\n';
  socket.write(`EHLO client.example\r\n${to}DATA\r\n`);
  await expect.poll(() => heard).toContain('354 ');
  return {
    write: (bytes: string) => socket.write(bytes),
    lastLine: () => heard.split('\r\n').at(-2),
  };
}

const message = 'Subject: hi\r\n\r\nhi\r\n';

describe('a slow client', () => {
  it('is disconnected after five minutes of silence, at any point of the dialogue', async () => {
    service = await smtpService();
    const silent = await service.session();
    const inTransaction = await service.session();
    await envelope(inTransaction, 'inbox@sandbox.test');
    await service.clock.advance(6 * minute);
    const idle = '421 4.4.2 Nothing was received for too long, closing the connection';
    expect(await silent.reply()).toBe(idle);
    expect(await inTransaction.reply()).toBe(idle);
    expect(await inTransaction.closed()).toBe('');
  });

  it('is disconnected when its message brings less than 1 KB/s over 10 s', async () => {
    service = await smtpService();
    const drips = await dripping(service.port);
    for (let second = 0; second < 9; second++) {
      drips.write('x\r\n');
      await service.clock.advance(1_000);
    }
    expect(drips.lastLine()).toMatch(/^354 /);
    await service.clock.advance(1_000);
    const slow = '421 4.4.2 The message arrives slower than 1 KB a second: closing the connection';
    await expect.poll(() => drips.lastLine()).toBe(slow);
    expect(await inbound(service.app, service.caller)).toEqual([]);
  });

  it('is disconnected after fifteen minutes without a message', async () => {
    service = await smtpService();
    const chats = await service.session();
    const works = await service.session();
    for (let i = 0; i < 14; i++) {
      await chats.say('NOOP');
      expect(await deliver(works, 'inbox@sandbox.test', message)).toMatch(/^250 /);
      await service.clock.advance(minute);
    }
    await chats.say('NOOP');
    await service.clock.advance(2 * minute);
    const tooSlow = '421 4.4.2 No message was finished in time, closing the connection';
    expect(await chats.reply()).toBe(tooSlow);
    expect(await works.say('NOOP')).toMatch(/^250 /);
  });

  it('leaves no timer behind', async () => {
    service = await smtpService();
    const before = service.clock.nextTimerAt();
    const dialogue = await service.session();
    expect(service.clock.nextTimerAt()).toBeDefined();
    await dialogue.say('QUIT');
    await dialogue.closed();
    await service.clock.advance(minute);
    expect(service.clock.nextTimerAt()).toBe(before);
  });
});

describe('connections', () => {
  it('beyond smtp.inbound.maxConnections are refused until one is free', async () => {
    service = await smtpService({ config: { smtp: { inbound: { maxConnections: 3 } } } });
    const [first] = [await service.session(), await service.session(), await service.session()];
    const fourth = await smtpDialogue(service.port);
    expect(await fourth.reply()).toBe('421 4.7.0 Too many connections, try again in a moment');
    expect(await fourth.closed()).toBe('');
    await first.say('QUIT');
    await expect
      .poll(async () => (await smtpDialogue(service.port)).reply())
      .toBe('220 localhost ESMTP');
  });
});

describe('a silent client while all connections are taken', () => {
  const full = { config: { smtp: { inbound: { maxConnections: 3 } } } };
  const yields =
    '421 4.4.2 Nothing was received for too long, and other clients wait for a connection';
  const greeting = '220 localhost ESMTP';
  const newcomer = async () => (await smtpDialogue(service.port)).reply();

  it('yields to a new one after 30 s', async () => {
    service = await smtpService(full);
    const silent = await service.session();
    const talks = await service.session();
    await service.clock.advance(20_000);
    const newer = await service.session();
    await talks.say('NOOP');
    await service.clock.advance(9_000);
    expect(await newcomer()).toMatch(/^421 4\.7\.0 /);
    // Activity of a client is noticed within five seconds.
    await service.clock.advance(6_000);
    expect(await newcomer()).toBe(greeting);
    expect(await silent.reply()).toBe(yields);
    expect(await talks.say('NOOP')).toMatch(/^250 /);
    expect(await newer.say('NOOP')).toMatch(/^250 /);
  });

  it('yields first when it has been silent longest', async () => {
    service = await smtpService(full);
    const first = await service.session();
    await service.clock.advance(10_000);
    const second = await service.session();
    const talks = await service.session();
    await service.clock.advance(40_000);
    expect(await talks.say('NOOP')).toMatch(/^250 /);
    expect(await newcomer()).toBe(greeting);
    expect(await second.say('NOOP')).toMatch(/^250 /);
    expect(await first.reply()).toBe(yields);
  });

  it('yields at once when its site holds more connections', async () => {
    service = await smtpService({ config: { smtp: { inbound: { maxConnections: 4 } } } });
    const from = (address: string) => smtpDialogue(service.port, address);
    const large = [];
    for (const host of [1, 2, 3]) large.push(await from(`127.0.1.${host}`));
    const small = await from('127.0.2.1');
    for (const dialogue of [...large, small]) await dialogue.reply();
    const late = await from('127.0.3.1');
    expect(await late.reply()).toBe(greeting);
    expect(await large[0]?.reply()).toBe(yields);
    expect(await small.say('NOOP')).toMatch(/^250 /);
    for (const dialogue of [...large, small, late]) dialogue.end();
  });

  it('keeps its connection while another is free', async () => {
    service = await smtpService(full);
    const silent = await service.session();
    await service.clock.advance(60_000);
    expect(await newcomer()).toBe(greeting);
    expect(await silent.say('NOOP')).toMatch(/^250 /);
  });
});

describe('commands that move no mail', () => {
  const tooIdle = '421 4.7.0 Too many commands without a mail, closing the connection';
  const limits = { idleCommands: 5 };

  it('end the connection when they exceed the limit', async () => {
    service = await smtpService();
    const dialogue = await service.session();
    for (let count = 1; count < 100; count++) {
      expect(await dialogue.say('NOOP')).toBe('250 2.0.0 OK');
    }
    expect(await dialogue.say('NOOP')).toBe(tooIdle);
    expect(await dialogue.closed()).toBe('');
  });

  it.each(['NOOP', 'RSET', 'HELP', 'EHLO x', 'VRFY a', 'noop', 'MAIL FROM:<>x', 'NONSENSE'])(
    'include %s',
    async (command) => {
      service = await smtpService({}, limits);
      const dialogue = await service.session();
      for (let count = 1; count < limits.idleCommands; count++) await dialogue.say(command);
      expect(await dialogue.say(command)).toBe(tooIdle);
    },
  );

  it('end a connection whose commands arrive together, after the answers to the first', async () => {
    service = await smtpService({}, limits);
    const dialogue = await service.session();
    dialogue.write('NOOP\r\n'.repeat(1_000));
    const rest = await dialogue.closed();
    expect(rest.split('\r\n').filter(Boolean)).toEqual([
      ...Array(limits.idleCommands - 1).fill('250 2.0.0 OK'),
      tooIdle,
    ]);
  });

  it('are counted anew after an accepted MAIL', async () => {
    service = await smtpService({}, limits);
    const dialogue = await service.session();
    for (let mail = 0; mail < 20; mail++) {
      await dialogue.say('RSET');
      expect(await deliver(dialogue, 'inbox@sandbox.test', message)).toMatch(/^250 /);
      await dialogue.say('NOOP');
    }
  });

  it('do not include the recipients of a mail', async () => {
    service = await smtpService({}, limits);
    const dialogue = await service.session();
    const to = Array(100).fill('inbox@sandbox.test');
    expect(new Set(await envelope(dialogue, to))).toEqual(new Set(['250 2.1.5 Accepted']));
    expect(await dialogue.say('RSET')).toMatch(/^250 /);
  });

  it('are counted on after a MAIL that is refused', async () => {
    service = await smtpService({}, limits);
    const dialogue = await service.session();
    await dialogue.say('MAIL FROM:<a@example.com>');
    for (let count = 1; count <= limits.idleCommands; count++) {
      expect(await dialogue.say('MAIL FROM:<a@example.com>')).toMatch(/^503 /);
    }
    expect(await dialogue.say('MAIL FROM:<a@example.com>')).toBe(tooIdle);
  });
});

describe('the memory for messages', () => {
  it('is shared by sites: a site that asks for all is refused', async () => {
    const config = { smtp: { inbound: { maxMessageBytes: 1_000_000 } } };
    service = await smtpService({ config }, { bufferedBytes: 2_000_000 });
    const noMemory = '452 4.3.1 Too much mail is arriving, try again in a moment';
    const line = `${'x'.repeat(498)}\r\n`;
    const large = line.repeat(1_900);
    const hungry = await service.session();
    await envelope(hungry, 'inbox@sandbox.test');
    await hungry.say('DATA');
    hungry.write(line.repeat(1_000));
    const same = await service.session();
    // The reply to the next command follows once the bytes before it were read: two sessions, one
    // loop.
    await expect
      .poll(async () => {
        const reply = await same.say('MAIL FROM:<a@example.com> SIZE=999999');
        await same.say('RSET');
        return reply;
      })
      .toBe(noMemory);
    expect(await deliver(same, 'inbox@sandbox.test', large)).toBe(noMemory);
    const elsewhere = await smtpDialogue(service.port, '127.0.1.1');
    await elsewhere.reply();
    await elsewhere.say('EHLO elsewhere.example');
    expect(await deliver(elsewhere, 'inbox@sandbox.test', message)).toMatch(/^250 /);
    elsewhere.end();
    hungry.write('.\r\n');
    expect(await hungry.reply()).toMatch(/^250 /);
    expect(await deliver(same, 'inbox@sandbox.test', message)).toMatch(/^250 /);
  });

  it('is released by clients that leave in the middle', async () => {
    const config = { smtp: { inbound: { maxMessageBytes: 1_000_000 } } };
    service = await smtpService({ config }, { bufferedBytes: 1_000_000 });
    for (let round = 0; round < 10; round++) {
      const leaves = await service.session();
      await envelope(leaves, 'inbox@sandbox.test');
      await leaves.say('DATA');
      leaves.write('x'.repeat(200_000));
      leaves.end();
    }
    const stays = await service.session();
    const almostAll = 'MAIL FROM:<a@example.com> SIZE=999999';
    await expect
      .poll(async () => {
        const reply = await stays.say(almostAll);
        await stays.say('RSET');
        return reply;
      })
      .toMatch(/^250 /);
  });

  it('limits the number of mailboxes that a large message is copied to at once', async () => {
    const config = { smtp: { inbound: { maxMessageBytes: 100_000 } } };
    service = await smtpService({ config }, { copiedBytes: 200_000 });
    const { app, caller } = service;
    const names = ['a@sandbox.test', 'b@sandbox.test', 'c@sandbox.test'];
    for (const name of names) await addMailbox(app, caller, name);
    const dialogue = await service.session();
    await dialogue.say('MAIL FROM:<a@example.com> SIZE=80000');
    const replies = [];
    for (const name of names) replies.push(await dialogue.say(`RCPT TO:<${name}>`));
    const accepted = '250 2.1.5 Accepted';
    const tooMany = '452 4.5.3 Too many recipients for a message of this size';
    expect(replies).toEqual([accepted, accepted, tooMany]);
    await dialogue.say('RSET');
    const large = `${'x'.repeat(79_998)}\r\n`;
    expect(await deliver(dialogue, names, large)).toMatch(/^552 5\.3\.4 /);
    expect(await deliver(dialogue, names.slice(1), large)).toMatch(/^250 /);
    expect(await inbound(app, caller)).toHaveLength(2);
  });
});

describe('a failing store', () => {
  it('answers a message with 451, and takes the next try', async () => {
    service = await smtpService();
    const { app, caller } = service;
    const dialogue = await service.session();
    await envelope(dialogue, 'inbox@sandbox.test');
    await dialogue.say('DATA');
    const other = new Database(join(app.config.dataDir, 'svc.db'));
    other.exec('begin immediate');
    dialogue.write(`${message}.\r\n`);
    expect(await dialogue.reply()).toBe(
      '451 4.3.0 The message cannot be stored now, try again later',
    );
    other.exec('rollback');
    other.close();
    expect(await inbound(app, caller)).toEqual([]);
    expect(await deliver(dialogue, 'inbox@sandbox.test', message)).toMatch(/^250 /);
    expect(await inbound(app, caller)).toHaveLength(1);
  });

  it('answers RCPT with 451', async () => {
    service = await smtpService();
    const dialogue = await service.session();
    await service.app.store.close();
    expect(await envelope(dialogue, 'inbox@sandbox.test')).toEqual([
      '451 4.3.0 The message cannot be stored now, try again later',
    ]);
  });
});

describe('the stop', () => {
  const closing = '421 4.3.2 The service is stopping, try again in a moment';

  it('finishes a message under way and closes the other sessions at once', async () => {
    service = await smtpService();
    const idle = await service.session();
    const inTransaction = await service.session();
    await envelope(inTransaction, 'inbox@sandbox.test');
    const inData = await service.session();
    await envelope(inData, 'inbox@sandbox.test');
    await inData.say('DATA');
    inData.write('Subject: last\r\n\r\n');
    const stopped = service.stop(10_000);
    expect(await idle.reply()).toBe(closing);
    expect(await inTransaction.reply()).toBe(closing);
    await expect(smtpDialogue(service.port)).rejects.toThrow('ECONNREFUSED');
    inData.write('hi\r\n.\r\n');
    const id = idIn(await inData.reply());
    expect(await inData.reply()).toBe(closing);
    await stopped;
    expect((await inbound(service.app, service.caller)).map((one) => one.id)).toEqual([id]);
  });

  it('answers a message that is being stored before closing its session', async () => {
    service = await smtpService();
    const dialogue = await service.session();
    await envelope(dialogue, 'inbox@sandbox.test');
    await dialogue.say('DATA');
    dialogue.write(`${message}.\r\nNOOP\r\n`);
    const answered = dialogue.reply();
    await service.stop(10_000);
    idIn(await answered);
    expect(await inbound(service.app, service.caller)).toHaveLength(1);
  });

  it('cuts an unfinished message at the end of the grace', async () => {
    service = await smtpService();
    const dialogue = await service.session();
    await envelope(dialogue, 'inbox@sandbox.test');
    await dialogue.say('DATA');
    dialogue.write('Subject: half');
    const stopped = service.stop(9_000);
    await service.clock.advance(9_000);
    await stopped;
    expect(await dialogue.closed()).toMatch(/^$|^reset$/);
    expect(await inbound(service.app, service.caller)).toEqual([]);
  });
});

describe('the greeting', () => {
  it('is immediate for a client on this machine', async () => {
    service = await smtpService();
    const begun = performance.now();
    for (let i = 0; i < 20; i++) await service.greeted();
    expect(performance.now() - begun).toBeLessThan(20 * 100);
  });

  it('comes once', async () => {
    service = await smtpService();
    const dialogue = await service.session();
    // The library has a timer of its own, 100 ms after the connection, in real time.
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(await dialogue.say('NOOP')).toBe('250 2.0.0 OK');
  });
});

it('a port in use is reported in one line', async () => {
  service = await smtpService();
  const { port } = service;
  const config = { smtp: { inbound: { port } } };
  await expect(smtpService({ config })).rejects.toThrow(
    `Cannot listen for SMTP on 127.0.0.1:${port}: another program listens there`,
  );
});
