// README.md and the pages for users are followed: every block with the mark "run" (blocks.ts) is
// typed as printed, in order, in one home with a daemon. The ids that a reader would fill in are
// filled in (reader.ts); "json save NAME": the block is saved. Features that the pages list as
// missing are requested, too. Commands that end by Ctrl-C are processes of their own, like the
// daemon; the others share one (svc-typed.ts).
// Slow: 300 commands, one after the other, beside a daemon.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { svc } from '../support/cli.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/postgres.ts';
import { type TypedSvc, typedSvc } from '../support/svc-typed.ts';
import { allFences } from './blocks.ts';
import { codeSpans, readMarkdown, section, tableRows } from './markdown.ts';
import { type Reader, readerOf } from './reader.ts';

const missing = readMarkdown('docs/missing.md');
const shownUrl = 'http://127.0.0.1:4025';
const shownKey = 'svc_live_…';

let dns: DnsServer;
let home: DaemonHome;
let daemon: DaemonProcess;
let typedHere: TypedSvc;
let isRunning = false;
let reader: Reader;
/** The environment of the reader's shell, with its exported variables. */
let environment: Record<string, string>;

beforeAll(async () => {
  dns = await startDnsServer();
  const env = {
    SVC_DNS_SERVERS: JSON.stringify([dns.address]),
    SVC_SMTP_SUBMISSION_ENABLED: 'true',
    SVC_SMTP_SUBMISSION_PORT: '0',
  };
  home = daemonHome(env, { isEmpty: true });
  typedHere = await typedSvc(home.cli);
  environment = { ...home.cli.env, ...typedHere.env };
  daemon = await home.start();
  isRunning = true;
  reader = readerOf(home.cli, JSON.parse(await sh(home.curl)).id);
});
afterAll(async () => {
  typedHere.close();
  await home.close();
  await dns.close();
});

async function sh(script: string): Promise<string> {
  const options = { cwd: home.cli.directory, env: environment };
  const shell = promisify(execFile)('sh', ['-eu', '-c', script], options);
  shell.child.stdin?.end();
  return (await shell).stdout;
}

/** Fills the reader's values, and the addresses of this daemon, into a line. */
async function typed(line: string): Promise<string> {
  return (await reader.fill(line))
    .replaceAll(shownUrl, daemon.httpUrl)
    .replaceAll(shownUrl.replace('http://', ''), daemon.httpUrl.replace('http://', ''))
    .replaceAll('127.0.0.1:2587', `127.0.0.1:${daemon.submissionPort}`)
    .replaceAll(shownKey, home.apiKey);
}

async function exportAsTyped(command: string): Promise<void> {
  const variables = (await sh(`${command}\nenv -0`)).split('\0').slice(0, -1);
  environment = Object.fromEntries(
    variables.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  );
}

/** Saves a block marked "save NAME" as the reader does. */
function save(name: string, text: string): void {
  const path = join(home.cli.directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function run(text: string): Promise<void> {
  for (const line of text.split(/(?<!\\)\n/)) {
    const command = await typed(line);
    if (command.startsWith('export ')) await exportAsTyped(command);
    else await sh(command);
  }
}

/** Starts the verifying receiver of docs/webhooks.md in a process, with the secret of `listen`. */
async function startReceiver(): Promise<{ url: string; close(): void }> {
  const [script] = readMarkdown('docs/webhooks.md').fences.filter(
    ({ language }) => language === 'js',
  );
  const file = join(home.cli.directory, 'receive.mjs');
  writeFileSync(file, script?.text ?? '');
  const { stdout } = await home.cli.run(['webhooks', 'listen', '--print-secret']);
  const port = await freePort();
  const env = { WEBHOOK_SECRET: stdout.trim(), PORT: String(port) };
  const receiver = spawn(process.execPath, [file], { env, stdio: 'ignore' });
  const url = `http://localhost:${port}`;
  while (!(await fetch(url).catch(() => null)));
  return { url, close: () => void receiver.kill() };
}

/** Runs a command that only Ctrl-C ends until its first line, and returns its output. */
async function runEndless(line: string): Promise<string> {
  const { SVC_TYPED: _, ...env } = environment;
  const script = `exec ${line.replace(/^svc /, `${svc} `)}`;
  const child = spawn('sh', ['-eu', '-c', script], { cwd: home.cli.directory, env });
  const ended = once(child, 'exit');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  try {
    await until(() => output.includes('\n'), line);
  } finally {
    child.kill('SIGINT');
    await ended;
  }
  return output;
}

/** Publishes the records of a domain, like its owner after `svc domains dns`. */
async function publish(domain: string): Promise<void> {
  const { items } = await home.cli.json<{
    items: { type: 'TXT' | 'MX'; name: string; value: string }[];
  }>(['domains', 'dns', domain]);
  for (const { type, name, value } of items) {
    if (type === 'TXT') dns.set(name, 'TXT', [value]);
    else dns.set(name, 'MX', [{ preference: 10, exchange: value.replace(/^10 /, '') }]);
  }
}

let page = '';
const blocks = allFences()
  .filter(({ marks }) => ['run', 'save'].includes(marks[0] ?? ''))
  .map((block) => [`${block.page}:${block.line}: ${block.text.split('\n')[0]}`, block] as const);
it.each(blocks)(
  'runs %s',
  async (_block, { text, marks, page: next }) => {
    if (next !== page) reader.turnPage();
    page = next;
    const [mark, name = ''] = marks;
    if (mark === 'save') {
      save(name, text);
      return;
    }
    if (marks.includes('stopped') && isRunning) {
      isRunning = false;
      expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    }
    if (marks.includes('endless')) {
      const receiver = await startReceiver();
      const lines = text.replaceAll('http://localhost:8080', receiver.url).split('\n');
      try {
        for (const line of lines) {
          const output = await runEndless(await typed(line));
          if (line.includes('--forward-to')) expect(output).toContain('→ 204');
        }
      } finally {
        receiver.close();
      }
      return;
    }
    await run(text);
    const added = /^svc domains add (\S+)$/m.exec(text)?.[1];
    if (added) await publish(added);
  },
  120_000,
);

it('the paths without a key answer, with the named metrics', async () => {
  if (!isRunning) daemon = await home.start();
  isRunning = true;
  const rows = tableRows(section(readMarkdown('docs/operations.md'), 'Health and metrics'));
  for (const path of rows.flatMap(([cell]) => /GET (\S+)`/.exec(cell ?? '')?.[1] ?? [])) {
    const response = await fetch(daemon.httpUrl + path);
    expect([path, response.status]).toEqual([path, 200]);
  }
  const metrics = await (await fetch(`${daemon.httpUrl}/metrics`)).text();
  const spans = rows.flatMap((cells) => codeSpans(cells));
  const named = spans.filter((span) => span.startsWith('svc_'));
  expect(named.length).toBeGreaterThan(3);
  for (const name of named) expect(metrics).toContain(`# TYPE ${name} `);
  for (const path of ['/docs', '/v1/openapi.json']) {
    // On a busy machine the first drawing of all pages makes the loop lag: then the daemon asks for
    // another try.
    const answered = async () => {
      const { status } = await fetch(daemon.httpUrl + path);
      return status === 503 ? null : status;
    };
    expect(await until(answered, `an answer of ${path}`)).toBe(200);
  }
});

const lacking = {
  contactId: { to: [{ contactId: 'contact_06dq2k0qz8h3v5m1r9t4w7xy' }] },
  templateId: { email: { templateId: 'tmpl_06dq2k0qz8h3v5m1r9t4w7xy' } },
  templateSlug: { email: { templateSlug: 'welcome' } },
  tracking: { email: { subject: 'S', text: 'T', tracking: { opens: true } } },
  footer: { email: { subject: 'S', text: 'T', footer: { enabled: true } } },
};
const refusals = tableRows(section(missing, 'Not there yet')).flatMap(
  ([fields = '', status = '']) =>
    codeSpans([fields]).map((field) => [field, Number(status.slice(0, 3))] as const),
);
it.each(refusals)('a send with %s is answered with %d', async (field, status) => {
  const plain = {
    channel: 'email',
    to: [{ email: 'inbox@sandbox.test' }],
    email: { subject: 'S', text: 'T' },
  };
  const body = { ...plain, ...lacking[field as keyof typeof lacking] };
  expect(body).not.toEqual(plain);
  expect(await daemon.request<unknown>('POST', '/v1/messages', { body })).toMatchObject({
    status,
  });
});
