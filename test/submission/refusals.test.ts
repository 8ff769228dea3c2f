// Refusals of a submitted mail: the errors of the API in its order of checks, as SMTP replies; and
// mail that is never accepted. A refusal is one line of the log and one of the metrics.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSubmissionListener } from '../../daemon/smtp/submission.ts';
import { replyOf } from '../../daemon/smtp/submission-replies.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { revokeKey, updateKey } from '../../src/access/keys/keys.ts';
import {
  CapacityError,
  ConflictError,
  ForbiddenError,
  InternalError,
  MalformedRequestError,
  PaymentRequiredError,
  RateLimitedError,
  ResourceNotFoundError,
  TimeoutError,
  UnauthorizedError,
  ValidationError,
} from '../../src/platform/errors.ts';
import { onPlan } from '../access/admission/fixtures.ts';
import { checkedWorld, from } from '../outbound/sending/checked-world.ts';
import { refusalLadder } from '../outbound/sending/refusal-ladder.ts';
import { smtpDialogue } from '../support/smtp-dialogue.ts';
import {
  idIn,
  logIn,
  mail,
  outbound,
  type SubmissionService,
  submissionService,
  submit,
} from './submission-service.ts';

const replyOfStatus: Record<number, RegExp> = {
  402: /^452 4\.7\.1 /,
  403: /^550 5\.7\.1 /,
  404: /^550 5\.1\.1 /,
  409: /^554 5\.7\.0 /,
  422: /^554 5\.6\.0 /,
};

describe('the reply for an error', () => {
  const usage = { resource: 'daily-emails', currentUsage: 100, limit: 100, operation: 'send' };
  it.each([
    [new MalformedRequestError('x'), '554 5.6.0'],
    [new UnauthorizedError('x'), '535 5.7.8'],
    [new PaymentRequiredError(usage), '452 4.7.1'],
    [new ForbiddenError('x'), '550 5.7.1'],
    [new ResourceNotFoundError('message', 'x'), '550 5.1.1'],
    [new ConflictError('message', 'x'), '554 5.7.0'],
    [new MalformedRequestError('x', 413), '552 5.3.4'],
    [ValidationError.of('From', 'x'), '554 5.6.0'],
    [new RateLimitedError('send', 7), '451 4.7.1'],
    [new InternalError('x'), '451 4.3.0'],
    [new CapacityError('x', 3), '451 4.3.0'],
    [new TimeoutError('x'), '451 4.3.0'],
    [new TypeError('a fault'), '451 4.3.0'],
  ])('for %s is %s', (error, expected) => {
    const { code, enhancedCode } = replyOf(error);
    expect(`${code} ${enhancedCode}`).toBe(expected);
  });

  it('gives the time to wait on one line and hides a fault of ours', () => {
    expect(replyOf(new RateLimitedError('send', 7)).text).toContain('7 s');
    expect(replyOf(new TypeError('a secret')).text).not.toContain('secret');
    expect(replyOf(new ForbiddenError('\r\na\u2028b \n')).text).toBe('a b');
    const long = replyOf(new ForbiddenError(`a\r\nb${'\u{1f600}'.repeat(2_000)}`)).text;
    expect(long.startsWith('a b')).toBe(true);
    expect(Buffer.byteLength(long)).toBeLessThan(500);
  });
});

it('submission runs the checks of a send in the order of HTTP', async () => {
  const world = await checkedWorld('sqlite');
  const { app } = world.test;
  const listener = createSubmissionListener(app, createAuthenticator(app));
  const { port } = await listener.listen();
  const { request, steps } = await refusalLadder(world);
  const answer = async () => {
    const dialogue = await smtpDialogue(port);
    await dialogue.reply();
    await dialogue.say('EHLO client.example');
    await logIn(dialogue, request.apiKey);
    const { scheduledFor } = request.top;
    const at = scheduledFor === undefined ? null : String(scheduledFor);
    const reply = await submit(dialogue, mail({ From: from, 'X-Service-Scheduled-For': at }));
    dialogue.end();
    return reply;
  };
  for (const { status, words, isHttpOnly, lift } of steps) {
    if (!isHttpOnly) {
      const reply = await answer();
      expect(reply).toMatch(words);
      expect(reply).toMatch(replyOfStatus[status] ?? /^no reply of this status/);
    }
    await lift();
  }
  expect(idIn(await answer())).toMatch(/^msg_/);
  await listener.close(0);
  await world.close();
});

describe('a mail before the checks of a send', () => {
  let service: SubmissionService;
  beforeEach(async () => {
    service = await submissionService();
  });
  afterEach(() => service.close());

  it('is checked for its key, address and fields each time', async () => {
    const { app, operator } = service;
    await onPlan(service, 'free');
    const { id, plaintext } = await service.key({ permissions: { messages: ['send'] } });
    const dialogue = await service.loggedIn(plaintext);
    const bad = mail({ 'X-Service-Metadata': 'none' });
    const ladder: [RegExp, () => unknown][] = [
      [
        /^550 5\.7\.1 This key may not be used from the address 127\.0\.0\.1/,
        () => updateKey(app, operator, id, { constraints: null }),
      ],
      [/^554 5\.6\.0 .*X-Service-Metadata/, () => {}],
    ];
    await updateKey(app, operator, id, {
      constraints: { ipRanges: ['192.0.2.0/24'] },
    });
    for (const [words, lift] of ladder) {
      expect(await submit(dialogue, bad)).toMatch(words);
      await lift();
    }
    await revokeKey(app, operator, id);
    expect(await submit(dialogue, bad)).toMatch(/^535 5\.7\.8 /);
  });

  it.each(['Sender', 'Resent-From', 'Resent-Sender'])(
    'refuses a %s beyond the constraints of the key with 550',
    async (field) => {
      const own = 'hello@sandbox.test';
      const key = await service.key({ role: 'sender', constraints: { senders: [own] } });
      const dialogue = await service.loggedIn(key.plaintext);
      const naming = (value: string) => submit(dialogue, mail({ From: own, [field]: value }));
      expect(idIn(await naming(`Ada <${own}>`))).toMatch(/^msg_/);
      for (const value of ['ceo@acme.example', `${own}, ceo@acme.example`, 'nobody', '']) {
        expect(await naming(value)).toMatch(/^550 5\.7\.1 This key may not send with /);
      }
    },
  );

  it.each(['Sender', 'Resent-From', 'Resent-Sender'])(
    'refuses a %s from which the organization may not send with 550',
    async (field) => {
      const dialogue = await service.loggedIn();
      const naming = (value: string) => submit(dialogue, mail({ [field]: value }));
      for (const value of ['ceo@acme.example', 'Ada <hello@sandbox.test>, ceo@acme.example']) {
        expect(await naming(value)).toMatch(
          new RegExp(`^550 5\\.7\\.1 ${field}: ceo@acme.example may not send: `),
        );
      }
      for (const value of ['nobody', '']) {
        expect(await naming(value)).toMatch(
          new RegExp(`^550 5\\.7\\.1 ${field}: it names no valid address`),
        );
      }
      expect(await outbound(service.app, service.caller)).toEqual([]);
      expect(idIn(await naming('Ada <hello@sandbox.test>'))).toMatch(/^msg_/);
    },
  );

  it('draws on the rate before its fields are read, except when scheduled', async () => {
    await onPlan(service, 'free');
    const dialogue = await service.loggedIn();
    const replies: string[] = [];
    for (let count = 0; count < 30; count += 1) {
      replies.push(await submit(dialogue, mail({ From: null })));
    }
    const limited = replies.filter((reply) => /^451 4\.7\.1 .*retry after \d+ s/.test(reply));
    expect(limited.length).toBeGreaterThan(0);
    expect(replies.filter((reply) => /^554 5\.6\.0 From: /.test(reply)).length).toBe(
      30 - limited.length,
    );
    const later = mail({ 'X-Service-Scheduled-For': '2026-01-06T12:00:00Z' });
    expect(idIn(await submit(dialogue, later))).toMatch(/^msg_/);
  });

  it('is logged and counted once when refused, with key, address and reason', async () => {
    const dialogue = await service.loggedIn();
    service.logged();
    await submit(dialogue, mail({ From: 'me@stranger.example' }));
    expect(service.logged()).toEqual([
      expect.objectContaining({
        msg: 'submission refused',
        keyId: service.caller.keyId,
        address: '127.0.0.1',
        reason: 'forbidden',
        message: expect.stringContaining('me@stranger.example may not send'),
      }),
    ]);
    const metrics = await service.app.metrics.registry.metrics();
    expect(metrics).toContain('svc_submissions_refused_total{reason="forbidden"} 1');
  });

  it('is logged up to a hundred refusals a second, and never without the mail log', async () => {
    const refuse = async (times: number) => {
      const dialogue = await service.loggedIn();
      for (let time = 0; time < times; time += 1) {
        await submit(dialogue, mail({ From: 'me@stranger.example' }));
      }
      dialogue.end();
    };
    service.logged();
    // A session with too many refusals ends.
    for (let session = 0; session < 11; session += 1) await refuse(10);
    expect(service.logged()).toHaveLength(100);
    await service.clock.advance(1_000);
    await refuse(1);
    expect(service.logged()).toMatchObject([{ msg: 'submission refused', leftOut: 10 }]);
    Object.assign(service.app.config.log, { mail: false });
    await refuse(1);
    expect(service.logged()).toEqual([]);
  });
});

describe('an unacceptable mail', () => {
  let service: SubmissionService;
  beforeEach(async () => {
    service = await submissionService({}, { limits: { messageBytes: 300_000 } });
  });
  afterEach(async () => {
    expect(await outbound(service.app, service.caller)).toEqual([]);
    await service.close();
  });

  it.each([
    ['a missing From', mail({ From: null }), /^554 5\.6\.0 From: is missing/],
    [
      'two From fields',
      mail({ From: 'a@sandbox.test\r\nFrom: b@sandbox.test' }),
      /From: is given twice/,
    ],
    ['two authors', mail({ From: 'a@sandbox.test, b@sandbox.test' }), /From: must name one/],
    [
      'a From without an address',
      mail({ From: 'Ada Lovelace' }),
      /^554 5\.6\.0 From: is not a valid/,
    ],
    [
      'a From of a foreign domain',
      mail({ From: 'me@stranger.example' }),
      /^550 5\.7\.1 me@stranger/,
    ],
    ['8 bits in an address', mail({ From: 'gr\u00fc\u00dfe@sandbox.test' }), /^554 5\.6\.0 From: /],
    ['NUL in a field', mail({ Subject: 'a\0b' }), /^554 5\.6\.0 header: has a NUL/],
    ['a malformed line in the header', `nonsense\r\n${mail()}`, /^554 5\.6\.0 header: has lines/],
    ['too many tags', mail({ 'X-Service-Tags': 'a,b,c,d,e,f,g,h,i,j,k' }), /X-Service-Tags/],
    ['metadata other than JSON', mail({ 'X-Service-Metadata': '{' }), /X-Service-Metadata/],
    ['a malformed time', mail({ 'X-Service-Scheduled-For': 'soon' }), /X-Service-Scheduled-For/],
    [
      'a long idempotency key',
      mail({ 'X-Service-Idempotency-Key': 'k'.repeat(256) }),
      /Idempotency-Key/,
    ],
  ])('is refused: %s', async (_what, message, words) => {
    const dialogue = await service.loggedIn();
    const reply = await submit(dialogue, message);
    expect(reply).toMatch(words);
    expect(reply).toMatch(/^55[04] /);
  });

  it('is refused with a header of more than 256 KB, or when larger than the bound', async () => {
    const dialogue = await service.loggedIn();
    const line = `X-Long: ${'x'.repeat(900)}\r\n`;
    const longHeader = `${line.repeat(300)}${mail()}`;
    expect(await submit(dialogue, longHeader)).toMatch(
      /^554 5\.6\.0 header: is larger than 256 KB/,
    );
    const large = mail({}, `${'x'.repeat(70)}\r\n`.repeat(5_000));
    expect(await submit(dialogue, large)).toMatch(/^552 5\.3\.4 /);
    const told = service.logged().map(({ reason }) => reason);
    expect(told).toEqual(['validation', 'malformed']);
    const declared = await dialogue.say('MAIL FROM:<a@client.example> SIZE=300001');
    expect(declared).toMatch(/^552 /);
  });

  it.each(['one\ntwo\r\n', 'one\r\n\n.\r\nDATA\r\n', 'one\rtwo\r\n'])(
    'is refused with line ends other than CRLF (%j)',
    async (text) => {
      const dialogue = await service.loggedIn();
      expect(await submit(dialogue, mail({}, text))).toMatch(/^554 5\.6\.0 .*CRLF/);
      expect(await dialogue.say('NOOP')).toMatch(/^250 /);
    },
  );
});

describe('the recipients of a mail', () => {
  let service: SubmissionService;
  beforeEach(async () => {
    service = await submissionService();
  });
  afterEach(() => service.close());

  it('are limited to 50: the 51st is refused, and the others get the mail', async () => {
    const dialogue = await service.loggedIn();
    await dialogue.say('MAIL FROM:<>');
    const replies: string[] = [];
    for (let count = 0; count < 51; count += 1) {
      replies.push(await dialogue.say(`RCPT TO:<r${count}@example.com>`));
    }
    expect(replies.slice(0, 50).every((reply) => reply.startsWith('250 '))).toBe(true);
    expect(replies[50]).toMatch(/^452 4\.5\.3 /);
    await dialogue.say('DATA');
    dialogue.write(`${mail()}.\r\n`);
    idIn(await dialogue.reply());
    const [message] = await outbound(service.app, service.caller);
    expect(message?.recipients).toHaveLength(50);
  });

  it('end the connection in bounded time when there are thousands', async () => {
    const dialogue = await service.loggedIn();
    await dialogue.say('MAIL FROM:<>');
    const lines = Array.from({ length: 50_000 }, (_, index) => `RCPT TO:<r${index}@example.com>`);
    dialogue.write(`${lines.join('\r\n')}\r\n`);
    expect(await dialogue.closed()).toMatch(/421 4\.7\.0 Too many errors|^reset$/);
  });

  it('are refused at once when malformed', async () => {
    const dialogue = await service.loggedIn();
    await dialogue.say('MAIL FROM:<>');
    expect(await dialogue.say('RCPT TO:<postmaster>')).toMatch(/^553 5\.1\.3 /);
    expect(await dialogue.say('RCPT TO:<a@b..c>')).toMatch(/^5\d\d /);
    expect(await dialogue.say('DATA')).toMatch(/^503 /);
  });
});
