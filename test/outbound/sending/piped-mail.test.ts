// Mail that programs pipe to sendmail, read as if it came by SMTP, and the command lines of such
// programs.
import { describe, expect, it } from 'vitest';
import { readSendmailWords } from '../../../commands/base/mail/sendmail-words.ts';
import {
  type PipeOptions,
  readPipedMail,
} from '../../../src/outbound/sending/hand-in/piped-mail.ts';

const sender = { email: 'hello@sandbox.test', name: 'Sandbox' };

function read(text: string, options: Partial<PipeOptions> = {}, withSender = true) {
  const all = {
    endsAtDot: false,
    readsRecipients: false,
    recipients: [],
    from: null,
    name: null,
    machineNames: ['web1', 'web1.example.com'],
    ...options,
  };
  const { raw, recipients } = readPipedMail(Buffer.from(text), all, withSender ? sender : null);
  return { raw: raw.toString(), recipients };
}

describe('a piped mail', () => {
  it('gets CRLF line ends and a final one', () => {
    expect(read('From: a@b.example\nSubject: x\n\none\r\ntwo').raw).toBe(
      'From: a@b.example\r\nSubject: x\r\n\r\none\r\ntwo\r\n',
    );
  });

  it.each([
    ['no header', 'hello\nworld\n', '\r\nhello\r\nworld\r\n'],
    [
      'no empty line behind the header',
      'To: a@b.example\nhello\n',
      'To: a@b.example\r\n\r\nhello\r\n',
    ],
    [
      'a folded field',
      'To: a@b.example,\n c@d.example\n\nx\n',
      'To: a@b.example,\r\n c@d.example\r\n\r\nx\r\n',
    ],
    [
      'field names of more than letters',
      'X-Mailer_2.0: cron\nX-Id : 7\n\nx\n',
      'X-Mailer_2.0: cron\r\nX-Id : 7\r\n\r\nx\r\n',
    ],
    [
      'the separator of a mailbox file',
      'From root Mon Jan  5\nTo: a@b.example\n\nx\n',
      'To: a@b.example\r\n\r\nx\r\n',
    ],
    ['nothing', '', '\r\n'],
  ])('may have %s', (_what, text, expected) => {
    const added = 'From: Sandbox <hello@sandbox.test>\r\n';
    expect(read(text).raw).toBe(added + expected);
  });

  it('ends at a single dot by default only', () => {
    const text = 'From: a@b.example\n\none\n.\ntwo\n';
    expect(read(text, { endsAtDot: true }).raw).toBe('From: a@b.example\r\n\r\none\r\n');
    expect(read(text).raw).toContain('\r\n.\r\ntwo\r\n');
  });

  it.each([
    ['From: root (Cron Daemon)', {}, 'Cron Daemon <hello@sandbox.test>'],
    ['From: "(Cron Daemon)" <root>', {}, '"(Cron Daemon)" <hello@sandbox.test>'],
    ['From: root', {}, 'root <hello@sandbox.test>'],
    ['From: root', { name: 'CronDaemon' }, 'CronDaemon <hello@sandbox.test>'],
    ['From: Ada <ada@b.example>', { from: 'other@b.example' }, 'Ada <ada@b.example>'],
    ['Subject: x', {}, 'Sandbox <hello@sandbox.test>'],
    ['Subject: x', { name: 'Web' }, 'Web <hello@sandbox.test>'],
    ['Subject: x', { from: 'www@b.example' }, 'www@b.example'],
    ['Subject: x', { from: 'www@b.example', name: 'Web' }, 'Web <www@b.example>'],
    ['Subject: x', { from: 'www-data' }, '"www-data" <hello@sandbox.test>'],
    ['From: root@localhost', {}, 'root <hello@sandbox.test>'],
    ['From: Cron <root@localhost.localdomain>', {}, 'Cron <hello@sandbox.test>'],
    ['From: root@web1', { name: 'Web' }, 'Web <hello@sandbox.test>'],
    ['From: Root <root@WEB1.example.com>', {}, 'Root <hello@sandbox.test>'],
    ['Subject: x', { from: 'root@web1' }, 'root <hello@sandbox.test>'],
    ['From: a@web2.example.com', {}, 'a@web2.example.com'],
    ['From: a@web1.example.com', { machineNames: ['web1'] }, 'a@web1.example.com'],
  ])('%s with %j is from %s', (line, options, expected) => {
    const { raw } = read(`${line}\n\nx\n`, options);
    expect(raw.match(/^From: .*$/gm)).toEqual([`From: ${expected}`]);
  });

  it('needs a From without a default sender', () => {
    expect(() => read('From: root\n\nx\n', {}, false)).toThrow('There is no default sender');
    expect(
      read('From: a@b.example\n\nx\n', { recipients: ['c@d.example'] }, false).recipients,
    ).toEqual(['c@d.example']);
  });

  it('goes to the recipients of the command line, and with -t to those of its header', () => {
    const text =
      'From: a@b.example\nTo: root, Bob <bob@b.example>\nCc: c@d.example\nBcc: e@f.example\n\nx\n';
    const recipients = ['ada@b.example', 'BOB@b.example, "Eve, E." <eve@b.example>'];
    expect(read(text, { recipients }).recipients).toEqual([
      'ada@b.example',
      'BOB@b.example',
      'eve@b.example',
    ]);
    expect(read(text, { readsRecipients: true, recipients: ['ada@b.example'] }).recipients).toEqual(
      ['ada@b.example', 'root@sandbox.test', 'bob@b.example', 'c@d.example', 'e@f.example'],
    );
  });

  it('goes with -t beside Resent-To to the Resent-* recipients alone', () => {
    const text =
      'Resent-To: bob@b.example\nResent-Cc: c@d.example\nResent-Bcc: e@f.example\n' +
      'From: a@b.example\nTo: old@b.example\nCc: older@b.example\n\nx\n';
    const { recipients } = read(text, { readsRecipients: true });
    expect(recipients).toEqual(['bob@b.example', 'c@d.example', 'e@f.example']);
  });

  it.each(['a@@b', 'a b', '<>', 'x@', 'a@b, c d'])(
    'is refused for the recipient %j',
    (recipient) => {
      expect(() => read('From: a@b.example\n\nx\n', { recipients: [recipient] })).toThrow(
        /^recipient: /,
      );
    },
  );

  it('is read in linear time for hostile content', () => {
    const started = performance.now();
    read(`${'x'.repeat(2_000_000)}\n`, { readsRecipients: true });
    read(`To: ${'(,'.repeat(100_000)}\n\nx\n`, { recipients: ['a@b.example'] });
    read('\n.'.repeat(200_000), { endsAtDot: true });
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});

describe('the command line of sendmail', () => {
  const words = (line: string) => {
    const { endsAtDot, readsRecipients, recipients, from, name, asksUpkeep } = readSendmailWords(
      line.split(' ').filter((word) => word !== ''),
      'default',
    );
    return { endsAtDot, readsRecipients, recipients, from, name, asksUpkeep };
  };
  const plain = {
    endsAtDot: true,
    readsRecipients: false,
    recipients: [],
    from: null,
    name: null,
    asksUpkeep: false,
  };

  it.each([
    ['', {}],
    ['-t -i', { readsRecipients: true, endsAtDot: false }],
    ['-ti', { readsRecipients: true, endsAtDot: false }],
    ['-oi -oem -odq root', { endsAtDot: false, recipients: ['root'] }],
    [
      '-i -FCronDaemon -B8BITMIME -oem root',
      { endsAtDot: false, name: 'CronDaemon', recipients: ['root'] },
    ],
    [
      '-FCronDaemon -i -odi -oem -oi -t -f root',
      { endsAtDot: false, readsRecipients: true, name: 'CronDaemon', from: 'root' },
    ],
    ['-t -i -fwww@b.example', { readsRecipients: true, endsAtDot: false, from: 'www@b.example' }],
    [
      '-if a@b.example c@d.example',
      { endsAtDot: false, from: 'a@b.example', recipients: ['c@d.example'] },
    ],
    [
      '-r a@b.example -N never -R hdrs -V id -bm x@y.example',
      { from: 'a@b.example', recipients: ['x@y.example'] },
    ],
    ['-v -- -odd@b.example', { recipients: ['-odd@b.example'] }],
    ['-h 5 a@b.example', { recipients: ['a@b.example'] }],
    ['-Ac -c -w -x -E -n -s -T -G -U -em -ep a@b.example', { recipients: ['a@b.example'] }],
    ['-d a@b.example', { recipients: ['a@b.example'] }],
    ['-d0.1 -Qreason a@b.example', { recipients: ['a@b.example'] }],
    ['-f <> -t', { readsRecipients: true }],
    ['-f<> a@b.example', { recipients: ['a@b.example'] }],
    ['-q', { asksUpkeep: true }],
    ['-q30m -v a@b.example', { asksUpkeep: true, recipients: ['a@b.example'] }],
    ['-I', { asksUpkeep: true }],
    ['-bi', { asksUpkeep: true }],
  ])('%j is understood', (line, expected) => {
    expect(words(line)).toEqual({ ...plain, ...expected });
  });

  it.each([
    ['-bs', /-bs is not supported: have the program use SMTP/],
    ['-bp', /-bp is not supported/],
    ['-z', /-z: unknown option/],
    ['--nope', /--nope: unknown option/],
    ['-f', /-f needs a value/],
  ])('refuses %s', (line, problem) => {
    expect(() => words(line)).toThrow(problem);
  });
});
