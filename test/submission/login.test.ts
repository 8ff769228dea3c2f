// Login with an API key (RFC 4954): accepted forms, refusals and their count, and the session
// before it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getMessage } from '../../src/outbound/messages/messages.ts';
import {
  base64,
  elsewhere,
  idIn,
  logIn,
  mail,
  type SubmissionService,
  submissionService,
  submit,
} from './submission-service.ts';

let service: SubmissionService;
beforeEach(async () => {
  service = await submissionService();
});
afterEach(() => service.close());

const failed = '535 5.7.8 The API key is not valid: use one as the password, with any user name';

describe('a login with a valid key', () => {
  it('works by PLAIN, with the command or after it', async () => {
    const token = base64(`\0anybody\0${service.apiKey}`);
    const first = await service.session();
    expect(await first.say(`AUTH PLAIN ${token}`)).toBe('235 2.7.0 Logged in');
    const second = await service.session();
    expect(await second.say('auth plain')).toBe('334');
    expect(await second.say(token)).toBe('235 2.7.0 Logged in');
    expect(idIn(await submit(second, mail()))).toMatch(/^msg_/);
  });

  it.each([
    ['boss\0wordpress', 'wordpress'],
    ['boss\0', 'boss'],
  ])('by PLAIN with the names %j is of user %s', async (names, user) => {
    const dialogue = await service.session();
    await dialogue.say(`AUTH PLAIN ${base64(`${names}\0${service.apiKey}`)}`);
    const id = idIn(await submit(dialogue, mail()));
    expect(await getMessage(service.app, service.caller, id)).toMatchObject({ origin: { user } });
  });

  it('works by LOGIN, with the user name in the command or after it', async () => {
    const first = await service.session();
    expect(await first.say('AUTH LOGIN')).toBe(`334 ${base64('Username:')}`);
    expect(await first.say(base64('anybody'))).toBe(`334 ${base64('Password:')}`);
    expect(await first.say(base64(service.apiKey))).toBe('235 2.7.0 Logged in');
    const second = await service.session();
    expect(await second.say(`AUTH LOGIN ${base64('anybody')}`)).toBe(`334 ${base64('Password:')}`);
    expect(await second.say(base64(service.apiKey))).toBe('235 2.7.0 Logged in');
  });

  it('works once: the second answers 503', async () => {
    const dialogue = await service.loggedIn();
    expect(await logIn(dialogue, service.apiKey)).toMatch(/^503 5\.5\.1 /);
  });
});

describe('the commands before a login', () => {
  const limits = { idleCommands: 5 };

  it('end the connection when they exceed the limit, lines of a login left out', async () => {
    await service.close();
    service = await submissionService({}, { limits });
    const dialogue = await service.session();
    for (let count = 1; count < limits.idleCommands; count++) {
      expect(await dialogue.say('AUTH LOGIN')).toMatch(/^334 /);
      expect(await dialogue.say('*')).toMatch(/^501 /);
    }
    expect(await dialogue.say('AUTH LOGIN')).toMatch(/^421 4\.7\.0 /);
  });

  it('are counted anew after it', async () => {
    await service.close();
    service = await submissionService({}, { limits });
    const dialogue = await service.session();
    for (let count = 2; count < limits.idleCommands; count++) await dialogue.say('NOOP');
    expect(await logIn(dialogue, service.apiKey)).toMatch(/^235 /);
    for (let count = 0; count < limits.idleCommands; count++) {
      expect(await dialogue.say('NOOP')).toMatch(/^250 /);
    }
    expect(await dialogue.say('NOOP')).toMatch(/^421 4\.7\.0 /);
  });
});

describe('a refused login', () => {
  it.each([
    ['an unknown key', `svc_live_${'A'.repeat(38)}`],
    ['an empty key', ''],
    ['a malformed key', 'secret'],
    ['a very long key', 'k'.repeat(1_000)],
  ])('has the same reply for %s', async (_what, key) => {
    const dialogue = await service.session();
    expect(await logIn(dialogue, key)).toBe(failed);
    expect(await dialogue.say('MAIL FROM:<>')).toMatch(/^530 5\.7\.0 Log in first/);
  });

  it.each([
    ['AUTH PLAIN not!base64', 501],
    ['AUTH PLAIN YQ', 501],
    [`AUTH PLAIN ${base64('user and key')}`, 501],
    ['AUTH PLAIN a b', 501],
    ['AUTH LOGIN %%%', 501],
    ['AUTH CRAM-MD5', 504],
    ['AUTH XOAUTH2 YQ==', 504],
    ['AUTH', 504],
  ])('leaves the session usable: %s is %i', async (line, code) => {
    const dialogue = await service.session();
    expect(await dialogue.say(line)).toMatch(new RegExp(`^${code} 5\\.`));
    expect(await logIn(dialogue, service.apiKey)).toMatch(/^235 /);
  });

  it('follows an aborted dialogue or a key outside base64', async () => {
    const dialogue = await service.session();
    await dialogue.say('AUTH PLAIN');
    expect(await dialogue.say('*')).toMatch(/^501 5\.7\.0 Login aborted/);
    await dialogue.say('AUTH LOGIN');
    await dialogue.say(base64('anybody'));
    expect(await dialogue.say('?')).toMatch(/^501 5\.5\.2 /);
  });

  it('has a reason for a key without the permission and for a foreign address', async () => {
    const reader = await service.key({ role: 'viewer' });
    const distant = await service.key({
      role: 'sender',
      constraints: { ipRanges: ['192.0.2.0/24'] },
    });
    const dialogue = await service.session();
    expect(await logIn(dialogue, reader.plaintext)).toBe(
      '550 5.7.1 This key lacks the permission messages:send',
    );
    expect(await logIn(dialogue, distant.plaintext)).toMatch(
      /^550 5\.7\.1 This key may not be used from the address 127\.0\.0\.1/,
    );
  });

  it('a test key reaches the simulator alone', async () => {
    const { plaintext } = await service.key({ role: 'sender', mode: 'test' });
    const dialogue = await service.loggedIn(plaintext);
    expect(await submit(dialogue, mail())).toMatch(/^550 5\.7\.1 A test key sends only/);
    const simulated = await submit(dialogue, mail(), 'delivered@simulator.test');
    expect(idIn(simulated)).toMatch(/^msg_/);
  });
});

describe('failed logins of an address', () => {
  it('are limited to 20 a minute: the next is 421, and a valid key is still accepted', async () => {
    const replies: string[] = [];
    for (let count = 0; count < 21; count += 1) {
      const dialogue = await service.session();
      replies.push(await logIn(dialogue, 'wrong'));
      if (count === 20) expect(await dialogue.closed()).toBe('');
    }
    expect(new Set(replies.slice(0, 20))).toEqual(new Set([failed]));
    expect(replies[20]).toMatch(/^421 4\.7\.0 Too many failed logins/);
    await service.loggedIn();
    expect(await logIn(await service.session(), 'wrong')).toMatch(/^421 /);
    await service.clock.advance(61_000);
    expect(await logIn(await service.session(), 'wrong')).toBe(failed);
  });

  it('end their connection at the limit', async () => {
    const dialogue = await service.session();
    for (let count = 0; count < 20; count += 1) await logIn(dialogue, 'wrong');
    expect(await logIn(dialogue, 'wrong')).toMatch(/^421 /);
    expect(await dialogue.closed()).toBe('');
  });

  it('are logged by address and reason, without the given text', async () => {
    service.logged();
    await logIn(await service.session(), 'not-a-key-but-a-password');
    const lines = service.logged();
    expect(lines).toEqual([
      expect.objectContaining({
        msg: 'submission refused',
        keyId: null,
        address: '127.0.0.1',
        reason: 'unauthorized',
      }),
    ]);
    expect(JSON.stringify(lines)).not.toContain('not-a-key');
  });
});

describe('a plaintext session from another machine', () => {
  it('has no AUTH, and its mail needs a login', async () => {
    const dialogue = await service.session(elsewhere);
    expect(await dialogue.say('EHLO client.example')).not.toContain('AUTH');
    expect(await logIn(dialogue, service.apiKey)).toMatch(/^538 5\.7\.11 .*has no certificate/);
    expect(await dialogue.say('MAIL FROM:<>')).toMatch(/^530 5\.7\.0 /);
    const here = await service.session();
    expect(await here.say('EHLO client.example')).toContain('AUTH PLAIN LOGIN');
  });
});

it('a session ends by its idle limit and by the stop', async () => {
  const dialogue = await service.loggedIn();
  await service.clock.advance(310_000);
  expect(await dialogue.reply()).toMatch(/^421 4\.4\.2 Nothing was received/);
  const other = await service.loggedIn();
  const stopped = service.stop(1_000);
  expect(await other.reply()).toMatch(/^421 4\.3\.2 /);
  await stopped;
});
