// Every command with `--server`: a command that asks only routes asks the server, and each further
// command ends with exit code 2 before it does anything. No store is opened.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCommandIds } from '../../commands/base/input/typed.ts';
import { serverFor } from '../../commands/base/remote/server.ts';
import { commandClass } from '../docs/write.ts';
import { type CliWorkspace, cliWorkspace } from '../support/cli.ts';

/** Answers every request with 401, as a server does for an unknown key. */
let server: Server;
let url: string;
let asked: string[] = [];
/** Has no store. */
let cli: CliWorkspace;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ _tag: 'UnauthorizedError', message: 'Who is there?' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cli = cliWorkspace({ SVC_API_KEY: 'svc_test_unknown' });
  mkdirSync(join(cli.directory, 'welcome'));
  writeFileSync(join(cli.directory, 'welcome/body.html'), '<p>Hello</p>');
});
afterAll(() => {
  cli.close();
  server.closeAllConnections();
  server.close();
});

const run = 'run_06dq2k0qz8h3v5m1r9t4w7xy';

/** Words for commands whose examples have --org, a run by @last, a date or a folder. */
const words: Readonly<Record<string, string>> = {
  audit: 'svc audit',
  'orgs:reapply': 'svc orgs reapply',
  backup: 'svc backup copy.db',
  ...Object.fromEntries(
    ['cancel', 'pause', 'recipients', 'resume', 'retry'].map((verb) => [
      `campaigns:${verb}`,
      `svc campaigns ${verb} ${run}`,
    ]),
  ),
  'contacts:import': 'svc contacts import - --dry-run',
  'templates:create': 'svc templates create --from welcome/ --slug welcome',
  'templates:push': 'svc templates push welcome/ --slug welcome',
};

/** Commands that ask nothing before they have a terminal, with the words of their refusal. */
const withTerminal: Readonly<Record<string, string>> = {
  'mailboxes:review': 'a review needs a terminal',
};

function exampleOf(id: string, examples: readonly unknown[] = []): string[] {
  const name = `svc ${id.replaceAll(':', ' ')}`;
  const lines = (examples as readonly { command: string }[]).map(({ command }) => command);
  const line = words[id] ?? lines.find((text) => text.startsWith(name)) ?? name;
  const [typed = ''] = line.split(/ [|<>] /);
  const parts = typed.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return parts
    .slice(1)
    .map((word) => word.replace(/^(["'])(.*)\1$/, '$2').replace(/^@\w+\.\w+$/, '{}'));
}

const commands = await Promise.all(
  listCommandIds().map(async (id) => {
    const { asksServer, examples } = await commandClass(id);
    return { id, asksServer, args: exampleOf(id, examples) };
  }),
);

const ignoring = /^(?:daemon|init|config|openapi)\b/;

describe('a command', () => {
  it.each(commands.filter(({ asksServer }) => asksServer))(
    '$id asks the server, and reports its refusal',
    async ({ id, args }) => {
      asked = [];
      const { code, stdout, stderr } = await cli.run([...args, '--server', url]);
      const terminal = withTerminal[id];
      if (terminal !== undefined) {
        expect(stderr).toContain(terminal);
        return;
      }
      expect(stderr).toContain('Who is there? (the key is the value of SVC_API_KEY)');
      expect({ code, stdout, asked: asked.length }).toEqual({ code: 4, stdout: '', asked: 1 });
    },
  );

  it.each(commands.filter(({ asksServer }) => !asksServer))(
    '$id has no route, and says so',
    async ({ id, args }) => {
      asked = [];
      const isSendmail = id === 'sendmail';
      const { code, stdout, stderr } = isSendmail
        ? await cli.run(args, { env: { SVC_SERVER: url } })
        : await cli.run([...args, '--server', url]);
      const named = `svc: svc ${id.replaceAll(':', ' ')} has no route of the API, so it cannot ask ${url}.`;
      expect(stderr).toContain(named);
      expect({ code, stdout, asked }).toEqual({ code: isSendmail ? 64 : 2, stdout: '', asked: [] });
    },
  );

  it('obeys SVC_SERVER as its topic does', async () => {
    for (const { id, asksServer } of commands) {
      const asking = { id, asksServer, isTyped: false };
      const found = await serverFor({ server: url }, asking).catch(() => 'refused');
      expect(found, id).toBe(ignoring.test(id) ? undefined : asksServer ? url : 'refused');
    }
  });
});

describe('the commands of one machine', () => {
  it('work beside SVC_SERVER', async () => {
    const { code, stdout } = await cli.run(['config', 'show'], { env: { SVC_SERVER: url } });
    expect({ code, shown: stdout.includes('defaults') }).toEqual({ code: 0, shown: true });
  });
});

describe('the address', () => {
  it.each([
    ['http://mail.example.com', 'expected https://'],
    ['mail.example.com', 'expected an address such as https://mail.example.com'],
    ['ftp://mail.example.com', 'expected an address such as https://mail.example.com'],
    ['https://any:svc_live_1@mail.example.com', 'the key belongs in SVC_API_KEY'],
  ])('%s is refused with exit code 2', async (text, reason) => {
    const { code, stderr } = await cli.run(['keys', 'list', '--server', text]);
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain('svc_live_1');
  });

  it('without a listener ends with 7, and is named', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const at = `http://127.0.0.1:${port}`;
    const { code, stderr } = await cli.run(['keys', 'list'], { env: { SVC_SERVER: at } });
    expect(code).toBe(7);
    expect(stderr).toContain(`svc: ${at}: The server cannot be reached: connect ECONNREFUSED`);
    expect(stderr).toContain('SVC_SERVER');
  });

  it.each([
    ['--org acme', ['--org', 'acme'], {}],
    ['SVC_ORG', [], { SVC_ORG: 'acme' }],
  ])('beside %s ends with 2', async (_, args, env) => {
    const { code, stderr } = await cli.run(['keys', 'list', '--server', url, ...args], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('--org acme and SVC_ORG');
  });

  it('without SVC_API_KEY ends with 4, and names it', async () => {
    const env = { SVC_API_KEY: '' };
    const { code, stderr } = await cli.run(['keys', 'list', '--server', url], { env });
    expect(code).toBe(4);
    expect(stderr).toContain(`set SVC_API_KEY to a key of ${url}`);
  });
});
