// Envelopes of the real world: return paths that no grammar has, and parameters that nobody
// offered.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMailPath, readReturnPath } from '../../daemon/smtp/command-path.ts';
import {
  mail,
  type SubmissionService,
  submissionService,
  submit,
} from '../submission/submission-service.ts';
import { startWork, workedMs } from '../support/work-time.ts';
import { data, idIn, type SmtpService, smtpService, stored } from './smtp-service.ts';

const pathOf = (command: string) => {
  const path = readMailPath(command);
  return path && readReturnPath(path);
};

describe('a return path', () => {
  it.each([
    ['<>', ''],
    ['<ada@example.com>', 'ada@example.com'],
    [' <ada@example.com>', 'ada@example.com'],
    ['<a..b@docomo.ne.jp>', 'a..b@docomo.ne.jp'],
    ['<a.@ezweb.ne.jp>', 'a.@ezweb.ne.jp'],
    ['<.a@docomo.ne.jp>', '.a@docomo.ne.jp'],
    ['<root@web_1>', 'root@web_1'],
    ['<root@_dmarc.example.com>', 'root@_dmarc.example.com'],
    ['<root@localhost>', 'root@localhost'],
    ['<SRS0=ab=cd=example.org=joe@fwd.example>', 'SRS0=ab=cd=example.org=joe@fwd.example'],
    ['<b+joe=example.org@list.example>', 'b+joe=example.org@list.example'],
    [`<${'v'.repeat(120)}@list.example>`, `${'v'.repeat(120)}@list.example`],
    ['<@relay.example:joe@example.com>', 'joe@example.com'],
    ['<"joe doe"@example.com>', '"joe doe"@example.com'],
    ['<"a>b@c"@example.com>', '"a>b@c"@example.com'],
    ['<a"b@example.com>', 'a"b@example.com'],
    ['<joe@[192.0.2.1]>', 'joe@[192.0.2.1]'],
    ['<joe@[IPv6:2001:db8::1]>', 'joe@[IPv6:2001:db8::1]'],
    ['<jürgen@bücher.example>', 'jürgen@bücher.example'],
    ['<a@b\u200dc.example>', 'a@b\u200dc.example'],
  ])('%s is read', (path, expected) => {
    expect(pathOf(`MAIL FROM:${path} SIZE=10`)).toBe(expected);
    expect(pathOf(`mail from:${path}`)).toBe(expected);
  });

  it.each([
    '',
    'ada@example.com',
    '<@>',
    '<ada@>',
    '<@example.com>',
    '<ada>',
    '<a b@example.com>',
    '<a@b@example.com>',
    '<ada@example..com>',
    '<ada@.example.com>',
    '<ada@example.com.>',
    '<ada@exa mple.com>',
    '<ada@-example.com>',
    '<ada@example.com>x',
    '<<ada@example.com>>',
    '<ada@example.com',
    '<a\u200bb@example.com>',
    '<a\u202eb@example.com>',
    '<a\u00a0b@example.com>',
    '<a\0b@example.com>',
    '<a\x7fb@example.com>',
    '<joe@[192.0.2.999]>',
    '<joe@[x]>',
    '<joe@a,b>',
    `<${'a'.repeat(250)}@example.com>`,
    `<a@${'b'.repeat(64)}.example>`,
  ])('%j is refused', (path) => {
    expect(pathOf(`MAIL FROM:${path}`)).toBeNull();
  });

  it('is read in linear time', () => {
    const before = startWork();
    for (const text of ['"', '\\', '<', '>', '@', '.', '-', ' ', '"\\', ',@a', '_-']) {
      pathOf(`MAIL FROM:<${text.repeat(20_000)}>`);
      pathOf(`MAIL FROM:<@${text.repeat(100)}@b.example>`);
    }
    expect(workedMs(before)).toBeLessThan(500);
  });
});

describe('the inbound listener', () => {
  let service: SmtpService;
  beforeAll(async () => {
    service = await smtpService();
  });
  afterAll(() => service.close());

  it.each(['a..b@docomo.ne.jp', 'a.@ezweb.ne.jp', '.a@b_c.example', 'root@web_1'])(
    'takes mail of %s and keeps its return path',
    async (path) => {
      const dialogue = await service.session();
      expect(await dialogue.say(`MAIL FROM:<${path}> BODY=8BITMIME SIZE=20`)).toMatch(/^250 /);
      expect(await dialogue.say('RCPT TO:<inbox@sandbox.test>')).toMatch(/^250 /);
      const { row } = await stored(service.app, idIn(await data(dialogue, 'X: y\r\n\r\n')));
      expect(row.from_email).toBe(path);
    },
  );

  it.each([
    'MAIL FROM:<a@example.com> FOO',
    'MAIL FROM:<a@example.com> FOO=bar',
    'MAIL FROM:<> SIZE=1 X-FOO=bar',
    'MAIL FROM:<a@example.com> RET=FULL',
    'MAIL FROM:<a@example.com> ENVID=1',
    'MAIL FROM:<a@example.com> REQUIRETLS',
    'MAIL FROM:<a@example.com> HOLDFOR=60',
    'MAIL FROM:<a@example.com> BY=120;R',
    'MAIL FROM:<a@example.com> MT-PRIORITY=3',
    'MAIL FROM:<a@example.com> AUTH=<>',
    'MAIL FROM:<a@example.com> XVERP',
    'MAIL FROM:<a@example.com> TRANSID=<1@a>',
    'MAIL FROM:<a@example.com> BODY=BINARYMIME',
    'mail from:<a@example.com> notify=never',
  ])('refuses %s with 555', async (line) => {
    const dialogue = await service.session();
    expect(await dialogue.say(line)).toMatch(/^555 5\.5\.4 /);
    expect(await dialogue.say('RCPT TO:<inbox@sandbox.test>')).toMatch(/^503 /);
    expect(await dialogue.say('MAIL FROM:<a@example.com> SIZE=1 BODY=8BITMIME')).toMatch(/^250 /);
  });

  it.each([
    'NOTIFY=NEVER',
    'ORCPT=rfc822;a@b.example',
    'FOO',
    'SIZE=1',
    'RRVS=2026-01-01',
    'SMTPUTF8',
  ])('refuses RCPT with %s with 555', async (parameter) => {
    const dialogue = await service.session();
    await dialogue.say('MAIL FROM:<a@example.com>');
    const line = `RCPT TO:<inbox@sandbox.test> ${parameter}`;
    expect(await dialogue.say(line)).toMatch(/^555 5\.5\.4 /);
    expect(await dialogue.say('RCPT TO:<inbox@sandbox.test>')).toMatch(/^250 /);
  });
});

describe('the submission listener', () => {
  let service: SubmissionService;
  beforeAll(async () => {
    service = await submissionService();
  });
  afterAll(() => service.close());

  it.each([
    '<root@web_1>',
    '<www-data>',
    '<ilo.@>',
    '<ilo.@example.com>',
    '<@>',
    '<a@b@c>',
    '<a b@example.com>',
    '<"a b"@example.com>',
    '<root@host..example>',
    '<jürgen@büro>',
    '<>',
    ' <a@example.com>',
    'root@web_1',
    'www-data',
    `<${'a'.repeat(300)}@example.com>`,
  ])('takes the return path %s, which ours replaces', async (path) => {
    const dialogue = await service.loggedIn();
    expect(await dialogue.say(`MAIL FROM:${path} SIZE=100 BODY=8BITMIME`)).toMatch(/^250 /);
    expect(await dialogue.say('RCPT TO:<bob@example.com>')).toMatch(/^250 /);
    await dialogue.say('DATA');
    dialogue.write(`${mail()}.\r\n`);
    expect(await dialogue.reply()).toMatch(/^250 2\.0\.0 accepted as msg_/);
    dialogue.end();
  });

  it.each(['<a\0b@example.com>', '<a\x01@example.com>', `<${'a'.repeat(600)}>`, '<a>b', '<a', ''])(
    'refuses the return path %j',
    async (path) => {
      const dialogue = await service.loggedIn();
      expect(await dialogue.say(`MAIL FROM:${path}`)).toMatch(/^501 /);
      dialogue.end();
    },
  );

  it.each([' HOLDFOR=3600', ' RET=HDRS', ' FOO', ' BODY=BINARYMIME'])(
    'refuses MAIL with%s with 555',
    async (parameters) => {
      const dialogue = await service.loggedIn();
      const reply = await submit(dialogue, mail(), 'bob@example.com', parameters);
      expect(reply).toMatch(/^555 5\.5\.4 /);
      dialogue.end();
    },
  );

  it('offers AUTH and takes its parameter', async () => {
    const dialogue = await service.loggedIn();
    const reply = await submit(dialogue, mail(), 'bob@example.com', ' AUTH=<>');
    expect(reply).toMatch(/^250 /);
    dialogue.end();
  });
});
