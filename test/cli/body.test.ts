// Bodies on the command line: --data in its three forms, and flags laid over it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendPayloadFrom } from '../../commands/base/mail/send-payload.ts';
import { type CliWorkspace, initializedWorkspace } from '../support/cli.ts';

const message = {
  channel: 'email',
  to: [{ email: 'ada@example.com', name: 'Ada' }],
  email: { subject: 'From the body', text: 'Hello' },
};

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
  writeFileSync(join(cli.directory, 'message.json'), JSON.stringify(message));
  writeFileSync(join(cli.directory, 'page.html'), '<p>Grüße</p>');
});
afterAll(() => cli.close());

describe('--data', () => {
  it.each([
    ['a file', '@message.json', ''],
    ['standard input', '-', JSON.stringify(message)],
    ['the flag itself', JSON.stringify(message), ''],
  ])('is read from %s', async (_, data, input) => {
    const sent = await cli.json(['messages', 'send', '--data', data], { input });
    expect(sent).toMatchObject({
      subject: 'From the body',
      to: [{ email: 'ada@example.com', name: 'Ada' }],
    });
  });

  it('is overridden by flags, field by field', async () => {
    const flags = ['--subject', 'From the flag', '--to', 'bob@example.com'];
    const args = ['messages', 'send', '--data', '@message.json', ...flags];
    const { id } = await cli.json<{ id: string }>(args);
    expect(await cli.json(['messages', 'show', id, '--email'])).toMatchObject({
      subject: 'From the flag',
      toEmails: ['bob@example.com'],
      text: 'Hello',
    });
  });

  it.each([
    ['{"name": }', /--data: not valid JSON/],
    ['[]', /--data: must be a JSON object/],
    ['@nowhere.json', /nowhere\.json: cannot be read/],
    ['{"nmae": "ci"}', /^svc: nmae: unknown field; did you mean name\?$/m],
    ['{"description": "a\\u0000b"}', /^svc: description: must not contain NUL characters$/m],
  ])('is refused with 2 and the fault as %s', async (data, text) => {
    const { code, stderr } = await cli.run(['keys', 'create', '--data', data]);
    expect(code).toBe(2);
    expect(stderr).toMatch(text);
  });

  it('reports every problem when there are several', async () => {
    const { stderr } = await cli.run(['messages', 'send', '--to', 'nobody', '--text', 'x']);
    expect(stderr).toContain('\n  to.0.email: is not a valid email address');
    expect(stderr).toContain('\n  email.subject: is required for inline content');
  });
});

describe('the flags of messages send', () => {
  it('build the payload of the HTTP API', async () => {
    const page = join(cli.directory, 'page.html');
    const payload = await sendPayloadFrom(
      {},
      {
        to: ['Ada <ada@example.com>', '"Doe, Jo" <jo@example.com>', 'plain@example.com'],
        bcc: ['<b@example.com>'],
        from: 'Shop <shop@example.com>',
        'reply-to': ['office@example.com'],
        subject: 'S',
        html: `@${page}`,
        attach: [page],
        header: ['X-Campaign: spring: one'],
        tag: ['a', 'b'],
        metadata: ['order=7=7'],
        'track-opens': false,
        'track-clicks': true,
      },
    );
    expect(payload).toEqual({
      channel: 'email',
      to: [
        { email: 'ada@example.com', name: 'Ada' },
        { email: 'jo@example.com', name: 'Doe, Jo' },
        { email: 'plain@example.com' },
      ],
      bcc: [{ email: 'b@example.com' }],
      from: { email: 'shop@example.com', name: 'Shop' },
      email: {
        subject: 'S',
        html: '<p>Grüße</p>',
        replyTo: ['office@example.com'],
        headers: { 'X-Campaign': 'spring: one' },
        tracking: { opens: false, clicks: true },
        attachments: [
          { filename: 'page.html', content: Buffer.from('<p>Grüße</p>').toString('base64') },
        ],
      },
      tags: ['a', 'b'],
      metadata: { order: '7=7' },
    });
  });

  it('send one message for a repeated idempotency key', async () => {
    const args = ['messages', 'send', '--data', '@message.json', '--idempotency-key', 'k1'];
    const first = await cli.json<{ id: string }>(args);
    expect(await cli.json(args)).toEqual(first);
    expect((await cli.run([...args, '--subject', 'Other'])).code).toBe(5);
  });

  it.each([
    [['--header', 'X-Campaign'], /--header X-Campaign: expected NAME:VALUE/],
    [['--attach', 'nowhere.pdf'], /nowhere\.pdf: cannot be read/],
    [['--timeout', 'soon'], /--timeout soon: expected such as 90, 90s or 30m/],
  ])('are refused with 2 as %j', async (flags, text) => {
    const { code, stderr } = await cli.run([
      'messages',
      'send',
      '--data',
      '@message.json',
      ...flags,
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(text);
  });
});
