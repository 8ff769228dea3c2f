// Output of commands: the API's object with --json, otherwise plain text that cannot steer the
// terminal.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { card, inWords, plainText, table } from '../../commands/base/output/format.ts';
import { type CliWorkspace, initializedWorkspace } from '../support/cli.ts';

interface Item {
  id: string;
  [field: string]: unknown;
}

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
});
afterAll(() => cli.close());

describe('--json', () => {
  it('prints the object of the API and nothing else', async () => {
    const result = await cli.run(['orgs', 'show', 'default', '--json']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(Object.keys(JSON.parse(result.stdout))).toEqual([
      'id',
      'name',
      'plan',
      'paymentMethodOnFile',
      'timezone',
      'sendingStatus',
      'pausedAt',
      'pauseReason',
      'onboarding',
      'tracking',
      'retention',
      'metadataKeys',
      'signIn',
      'createdAt',
    ]);
  });

  it('prints lists as items with pagination, and events as an array', async () => {
    expect(await cli.json(['domains', 'list', '--limit', '5'])).toMatchObject({
      items: [{ domain: 'sandbox.test', status: 'verified' }],
      pagination: { page: 1, limit: 5, total: 1, totalPages: 1 },
    });
    const args = ['--to', 'a@example.com', '--subject', 'Hi', '--text', 'Hi'];
    const { id } = await cli.json<Item>(['messages', 'send', ...args]);
    const events = await cli.json<Item[]>(['messages', 'events', id]);
    expect(events[0]).toMatchObject({ messageId: id, eventType: 'accepted' });
    expect(await cli.json(['messages', 'deliveries', id])).toHaveLength(1);
  });
});

describe('--columns', () => {
  it('chooses the fields of a list', async () => {
    const { stdout } = await cli.run(['domains', 'list', '--columns', 'domain, dkimKeys.selector']);
    expect(stdout.split('\n')[0]).toMatch(/^domain +dkimKeys\.selector$/);
    expect(stdout).toMatch(/^sandbox\.test +\S+/m);
    expect(stdout).not.toContain('verified');
  });

  it('refuses an unknown field with the nearest one', async () => {
    const { code, stderr } = await cli.run(['domains', 'list', '--columns', 'domian']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'svc: --columns: the list has no field "domian". Did you mean domain?\n',
    });
  });

  it('is refused beside --json', async () => {
    expect((await cli.run(['domains', 'list', '--columns', 'id', '--json'])).code).toBe(2);
  });
});

describe('the fixed forms', () => {
  it('orgs create, keys create and senders create print the created object', async () => {
    const organization = await cli.json<Item>([
      ...['orgs', 'create', '--name', 'acme', '--plan', 'free', '--payment-method'],
      ...['--created-at', '2025-01-02T03:04:05Z'],
    ]);
    expect(organization).toMatchObject({
      name: 'acme',
      plan: 'free',
      paymentMethodOnFile: true,
      createdAt: '2025-01-02T03:04:05.000Z',
    });
    const key = await cli.json<Item>([
      ...['keys', 'create', '--org', 'acme', '--name', 'ci', '--owner', 'person'],
      ...['--permission', 'messages:send', 'messages:read', '--permission', 'domains:read'],
      ...['--expires-at', '2036-01-01T00:00:00Z'],
    ]);
    expect(key).toMatchObject({
      name: 'ci',
      key: expect.stringMatching(/^svc_live_[0-9A-Za-z]{38}$/),
      permissions: { messages: ['send', 'read'], domains: ['read'] },
      owner: 'person',
      expiresAt: '2036-01-01T00:00:00.000Z',
    });
    const sender = ['--email', 'a@sandbox.test', '--name', 'A', '--default'];
    expect(await cli.json(['senders', 'create', ...sender])).toMatchObject({
      email: 'a@sandbox.test',
      name: 'A',
      isDefault: true,
    });
  });

  it('keys show, update, rotate and revoke take an id', async () => {
    const made = await cli.json<Item>(['keys', 'create', '--name', 'x', '--role', 'viewer']);
    expect(await cli.json(['keys', 'update', made.id, '--name', 'y'])).toMatchObject({
      name: 'y',
      key: null,
    });
    const rotated = await cli.json<Item>(['keys', 'rotate', made.id]);
    expect(rotated).toMatchObject({ name: 'y', roleName: 'viewer', key: expect.any(String) });
    expect(await cli.json(['keys', 'show', made.id])).toMatchObject({ isActive: false });
    const revoked = await cli.json(['keys', 'revoke', rotated.id, '--yes']);
    expect(revoked).toMatchObject({ success: true });
    expect((await cli.run(['keys', 'rotate', rotated.id])).code).toBe(5);
  });

  it('domains add, show, verify --force and delete take a name', async () => {
    const domain = await cli.json<Item>(['domains', 'add', 'Example.COM', '--dkim', 'ed25519']);
    expect(domain).toMatchObject({ domain: 'example.com', status: 'pending' });
    const dns = await cli.json<{ items: Item[] }>(['domains', 'dns', domain.id]);
    expect(dns.items.map(({ purpose }) => purpose)).toContain('dkim');
    expect(await cli.json(['domains', 'show', 'example.com'])).toMatchObject({ id: domain.id });
    const verified = await cli.json(['domains', 'verify', domain.id, '--force']);
    expect(verified).toMatchObject({ status: 'verified' });
    expect((await cli.run(['domains', 'delete', 'example.com'])).code).toBe(2);
    await cli.json(['domains', 'delete', 'example.com', '--yes']);
    expect((await cli.run(['domains', 'show', 'example.com'])).code).toBe(3);
  });

  it('domains verify ends with 8 and prints the domain when it is not verified', async () => {
    const env = { SVC_DNS_SERVERS: '["127.0.0.1:1"]' };
    await cli.json(['domains', 'add', 'example.org', '--dkim', 'ed25519']);
    const result = await cli.run(['domains', 'verify', 'example.org', '--json'], { env });
    expect(result.code).toBe(8);
    expect(JSON.parse(result.stdout)).toMatchObject({ domain: 'example.org' });
    expect(JSON.parse(result.stderr)).toMatchObject({ _tag: 'ExpectationError' });
  });

  it('messages show prints a message, --email its text, and messages delete removes it', async () => {
    const args = ['--to', 'Ada <ada@example.com>', '--cc', 'b@example.com', '--subject', 'Hä?'];
    const { id } = await cli.json<Item>(['messages', 'send', ...args, '--text', 'Body\nof two']);
    const shown = await cli.run(['messages', 'show', id]);
    expect(shown.stdout).toMatch(/^to +Ada <ada@example\.com>$/m);
    expect(shown.stdout).toMatch(/^cc +b@example\.com +pending$/m);
    const email = await cli.run(['messages', 'show', id, '--email']);
    expect(email.stdout).toMatch(/^subject +Hä\?$/m);
    expect(email.stdout).toContain('\n\nBody\nof two\n');
    await cli.json(['messages', 'delete', id, '--yes']);
    expect((await cli.run(['messages', 'show', id])).code).toBe(3);
  });
});

describe('messages show --email', () => {
  it('prints the text of a mail that is HTML alone', async () => {
    const fields = 'To: ada@example.com\nSubject: H\nMIME-Version: 1.0\nContent-Type: text/html\n';
    const input = `${fields}\n<p>Dear <b>Ada</b>,</p><p>Yours &amp; ours</p>\n`;
    expect(await cli.run(['sendmail', '-t'], { input })).toMatchObject({ code: 0 });
    const { stdout } = await cli.run(['messages', 'show', '@last', '--email']);
    expect(stdout).toContain('\n\nDear Ada,\n\nYours & ours\n');
    expect(stdout).not.toContain('<p>');
  });
});

describe('cards', () => {
  it('name a resource within another one by its address, without its id', async () => {
    const { stdout } = await cli.run(['contacts', 'create', 'ada@example.com']);
    expect(stdout).toMatch(/^identities +ada@example\.com$/m);
    expect(stdout).not.toContain('id:');
    expect(inWords([{ id: 'x_1', name: null }])).toBe('x_1');
  });
});

describe('the next step', () => {
  it('is printed for a created organization, not with --json', async () => {
    const args = ['orgs', 'create', '--plan', 'free', '--name'];
    const { stdout } = await cli.run([...args, 'stepping']);
    expect(stdout).toContain('svc keys create --org stepping --name first --role owner\n');
    expect(await cli.json([...args, 'stepping2'])).toMatchObject({ name: 'stepping2' });
  });
});

it('domains verify warns when bounces cannot come back', async () => {
  const env = { SVC_DELIVERY_MODE: 'direct', SVC_DNS_SERVERS: '["127.0.0.1:1"]' };
  await cli.json(['domains', 'add', 'bounces.example', '--dkim', 'ed25519']);
  const direct = await cli.run(['domains', 'verify', 'bounces.example', '--force'], { env });
  expect(direct.stderr).toMatch(/^warning: bounces cannot come back/);
  const captured = await cli.run(['domains', 'verify', 'bounces.example', '--force']);
  expect(captured.stderr).toBe('');
});

describe('text output', () => {
  it("is a table with the API's field names, without colours in a pipe", async () => {
    const { stdout } = await cli.run(['senders', 'list']);
    const [head] = stdout.split('\n');
    expect(head?.split(/ +/)).toEqual([
      'id',
      'email',
      'name',
      'verificationStatus',
      'isDefault',
      'createdAt',
    ]);
    expect(stdout).not.toContain('\u001b');
  });

  it('names the command that creates the first item of an empty list', async () => {
    await cli.run(['orgs', 'create', '--name', 'empty', '--plan', 'free']);
    const { stdout } = await cli.run(['keys', 'list', '--org', 'empty']);
    expect(stdout).toBe('No keys found. Create one: svc keys create --name NAME\n');
  });

  it('counts the pages when there are several', async () => {
    const { stdout } = await cli.run(['orgs', 'list', '--limit', '1', '--page', '2']);
    expect(stdout).toMatch(/\n\nPage 2 of \d+, \d+ in all\.\n$/);
  });

  it('replaces characters that steer the terminal', () => {
    const hostile = 'a\u001b]0;x\u0007b\u009b31mc\u202Ed\r\ne';
    expect(inWords(hostile)).toBe('a\uFFFD]0;x\uFFFDb\uFFFD31mc\uFFFDd\uFFFD\uFFFDe');
    expect(plainText(hostile)).toBe('a\uFFFD]0;x\uFFFDb\uFFFD31mc\uFFFDd\ne');
    const rows = [{ subject: hostile, tags: [hostile], metadata: { [hostile]: hostile } }];
    const fields = ['subject', 'tags', 'metadata'];
    for (const text of [table(rows, fields), card(rows[0] ?? {}, fields)]) {
      expect(
        [...text].filter((character) => '\u001b\u0007\u009b\u202E\r'.includes(character)),
      ).toEqual([]);
    }
  });

  it('prints null, lists, maps and people in one line', () => {
    expect([null, '', [], undefined].map(inWords)).toEqual(['-', '-', '-', '-']);
    expect(inWords(['a', 'b'])).toBe('a, b');
    expect(inWords({ messages: ['send', 'read'], order: 7 })).toBe(
      'messages:send, messages:read, order:7',
    );
    expect(inWords({ email: 'a@b.test', name: 'Ada', contactId: null })).toBe('Ada <a@b.test>');
    expect(card({ from: { email: 'a@b.test' } }, ['from.email', 'to'])).toBe(
      'from.email  a@b.test',
    );
  });
});

it('text from outside keeps its lines, and cannot turn the writing direction', () => {
  for (const steering of ['\u0007', '\u001b', '\u202a', '\u202e', '\u2066', '\u2069']) {
    expect(plainText(`a${steering}b\r\n\tc`)).toBe('a\uFFFDb\n\tc');
    expect(inWords(`a${steering}b`)).toBe('a\uFFFDb');
  }
});
