// The recipes of docs/submission.md: short, and followed as printed against a real daemon if their
// client is installed. The others count as skipped.
import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { repository } from '../support/cli.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';
import { isInstalled } from './is-installed.ts';
import { readMarkdown } from './markdown.ts';

const document = readMarkdown('docs/submission.md');

/** Returns the recipe under a heading. */
function recipe(name: string): string {
  const from = document.text.split('\n').indexOf(`### ${name}`);
  const fence = document.fences.find(({ line }) => line > from);
  if (from < 0 || !fence) throw new Error(`there is no recipe for ${name}`);
  return fence.text;
}

let home: DaemonHome;
let daemon: DaemonProcess;
beforeAll(async () => {
  home = daemonHome({ SVC_SMTP_SUBMISSION_ENABLED: 'true', SVC_SMTP_SUBMISSION_PORT: '0' });
  symlinkSync(join(repository, 'bin'), join(home.cli.directory, 'bin'));
  symlinkSync(join(repository, 'node_modules'), join(home.cli.directory, 'node_modules'));
  daemon = await home.start();
});
afterAll(() => home.close());

const typed = (text: string) =>
  text.replaceAll('2587', String(daemon.submissionPort)).replaceAll('svc_live_…', home.apiKey);

async function run(command: string, ...args: string[]): Promise<void> {
  const { directory, env } = home.cli;
  await promisify(execFile)(command, args, { cwd: directory, env: { ...env } });
}

function save(name: string, text: string): string {
  const file = join(home.cli.directory, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

const node = process.execPath;
const hi = `printf 'From: hello@sandbox.test\\nSubject: Hi\\n\\nHi.\\n'`;
const inbox = 'inbox@sandbox.test';

/** Follows each recipe; null where a test should not start its program. */
const clients: [name: string, installed: boolean, follow: (() => Promise<void>) | null][] = [
  ['swaks', isInstalled('swaks', ['--version']), () => run('sh', '-c', typed(recipe('swaks')))],
  [
    'msmtp',
    isInstalled('msmtp', ['--version']),
    () => run('sh', '-c', `${hi} | msmtp -C ${save('msmtprc', typed(recipe('msmtp')))} ${inbox}`),
  ],
  ['curl', isInstalled('curl', ['--version']), () => run('sh', '-c', typed(recipe('curl')))],
  ['nodemailer', true, () => run(node, save('send.mjs', typed(recipe('nodemailer'))))],
  [
    'Python',
    isInstalled('python3', ['--version']),
    () => run('python3', '-c', typed(recipe('Python'))),
  ],
  [
    'Django',
    isInstalled('python3', ['-c', 'import django']),
    async () => {
      save('mail_settings.py', `SECRET_KEY = 'x'\n${typed(recipe('Django'))}`);
      const send = `from django.core.mail import send_mail; send_mail('Hi', 'Hi.', None, ['${inbox}'])`;
      await run('sh', '-c', `DJANGO_SETTINGS_MODULE=mail_settings python3 -c "${send}"`);
    },
  ],
  ['Rails', false, null],
  ['Laravel', false, null],
  ['WordPress', false, null],
  ['Gitea', false, null],
  ['cron', true, () => run('sh', '-c', typed(recipe('cron')))],
];

describe.each(clients)('the recipe for %s', (name, installed, follow) => {
  it('has at most 8 lines', () => {
    expect(recipe(name).trim().split('\n').length).toBeLessThanOrEqual(8);
  });

  it.skipIf(!installed || follow === null)('sends a mail', async () => {
    const count = async () => {
      const path = '/v1/messages?direction=outbound&limit=1';
      const { body } = await daemon.request<{
        items: Message[];
        pagination: { total: number };
      }>('GET', path);
      return body;
    };
    const before = (await count()).pagination.total;
    await follow?.();
    const { items, pagination } = await count();
    expect(pagination.total).toBe(before + 1);
    expect(items[0]).toMatchObject({
      from: { email: 'hello@sandbox.test' },
      recipients: [{ email: inbox }],
    });
  });
});
