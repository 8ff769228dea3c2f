// Commands on the store and at a server print the same and end with the same code. The second
// workspace has no store: with SVC_SERVER it knows only the address and a key.
// Slow: a daemon, and each command twice.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SvcError } from '../../client/index.js';
import { asRefusal } from '../../commands/base/remote/refusal.ts';
import { errorKinds, type ServiceError } from '../../src/platform/errors.ts';
import { type CliResult, type CliWorkspace, cliWorkspace, finished } from '../support/cli.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';

let home: DaemonHome;
let daemon: DaemonProcess;
let laptop: CliWorkspace;
let messageId: string;
let threadId: string;
let campaignId: string;
beforeAll(async () => {
  home = daemonHome();
  daemon = await home.start();
  laptop = cliWorkspace({ SVC_SERVER: daemon.httpUrl, SVC_API_KEY: home.apiKey });
  const { cli } = home;
  const text = 'Your code is 482913';
  const mail = ['--to', 'inbox@sandbox.test', '--subject', 'Welcome', '--text', text];
  messageId = (await cli.json<{ id: string }>(['messages', 'send', ...mail, '--wait'])).id;
  const firstThread = async () =>
    (await cli.json<{ items: { id: string }[] }>(['threads', 'list'])).items[0];
  threadId = (await until(firstThread, 'a received mail')).id;
  await cli.json(['contacts', 'create', 'ada@simulator.test', '--tag', 'people']);
  const campaign = ['--name', 'News', '--subject', 'News', '--text', 'Hi', '--tag', 'people'];
  const group = await cli.json<{ id: string }>(['unsubscribe-groups', 'create', '--name', 'News']);
  const made = ['campaigns', 'create', ...campaign, '--unsubscribe-group', group.id];
  campaignId = (await cli.json<{ id: string }>(made)).id;
});
afterAll(async () => {
  laptop.close();
  await home.close();
});

/** Replaces the parts that differ between two runs: ids, times, progress, and the sender. */
function normal({ code, stdout, stderr }: CliResult): CliResult {
  const shown = (text: string) =>
    text
      .replaceAll(daemon.httpUrl, 'URL')
      .replaceAll(home.cli.directory, 'FOLDER')
      .replaceAll(laptop.directory, 'FOLDER')
      .replaceAll(/\b([a-z]+)_[0-9a-hjkmnp-tv-z]{24}\b/g, '$1_…')
      .replaceAll(/\b[a-f0-9]{40}\b/g, 'commit')
      .replaceAll(/20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| UTC)/g, 'TIME')
      .replaceAll(/\((?:in )?\d+ [a-z]+(?: ago)?\)/g, '(SPAN)')
      .replaceAll(/^ +\d+\.\d s {2}.*\n/gm, '')
      .replaceAll(/^createdBy.*\n|^.*[░█].*\n/gm, '')
      .replaceAll(/^origin\..*\n/gm, '')
      .replaceAll(/"origin": \{[^}]*\}/g, '"origin"')
      .replaceAll(/ {2,}|-{2,}/g, '  ');
  return { code, stdout: shown(stdout), stderr: shown(stderr) };
}

/** Runs the same words on the store and at the server, and returns the result on the store. */
async function both(words: (workspace: CliWorkspace) => readonly string[]): Promise<CliResult> {
  const onStore = normal(await home.cli.run(words(home.cli)));
  const atServer = normal(await laptop.run(words(laptop)));
  expect(atServer).toEqual(onStore);
  return onStore;
}

const unknown = 'msg_06dq2k0qz8h3v5m1r9t4w7xy';

/** Words with names for ids, and the exit code. */
const rows: readonly [string, number][] = [
  ['messages list', 0],
  ['messages list --json --limit 1', 0],
  ['messages list --limit 101', 2],
  ['messages show MESSAGE', 0],
  ['messages show MESSAGE --json', 0],
  ['messages show @last', 0],
  ['messages show ENDING', 0],
  [`messages show ${unknown}`, 3],
  [`messages show ${unknown} --json`, 3],
  ['messages show 7x7x7x', 3],
  ['messages show msg_1', 2],
  ['messages explain MESSAGE', 0],
  ['messages explain MESSAGE --json', 0],
  [`messages explain ${unknown}`, 3],
  ['messages events MESSAGE', 0],
  ['messages deliveries MESSAGE', 0],
  ['messages expect --to inbox@sandbox.test --since 1h', 0],
  ['messages expect --to inbox@sandbox.test --since 1h --extract code', 0],
  ['messages expect --to inbox@sandbox.test --since 1h --extract link', 8],
  ['messages expect --to nobody@sandbox.test --within 1', 8],
  ['messages send --subject Hi --text Hi', 2],
  ['messages send --to ada@example.com --subject Hi --text Hi --dry-run', 0],
  ['messages send --to ada@example.com --subject Hi --text Hi', 0],
  ['messages send --to delivered@simulator.test --subject Hi --text Hi --wait', 0],
  ['messages send --to bounced@simulator.test --subject Hi --text Hi --wait', 8],
  ['messages send --to ada@example.com --subject Hi --text Hi --from a@foreign.example', 4],
  ['domains show sandbox.test', 0],
  ['domains show missing.example', 3],
  ['domains dns sandbox.test --format zone', 0],
  ['mailboxes list', 0],
  ['mailboxes activity inbox@sandbox.test', 0],
  ['threads list', 0],
  ['threads list nobody@sandbox.test', 3],
  ['threads show THREAD', 0],
  ['threads messages THREAD', 0],
  [`threads show ${unknown.replace('msg', 'thread')}`, 3],
  ['senders list', 0],
  ['blocks show nobody@example.com', 3],
  ['contacts list', 0],
  ['contacts create ada@simulator.test', 5],
  ['contacts export', 0],
  ['contacts export --format ndjson', 0],
  ['contacts export --json', 0],
  ['contacts export --format xml', 2],
  ['contacts export --output people.csv', 0],
  ['contacts import people.csv --dry-run', 0],
  ['contacts import people.csv --dry-run --json', 0],
  ['contacts import missing.csv', 2],
  ['templates show missing', 3],
  ['campaigns show CAMPAIGN', 0],
  ['campaigns run CAMPAIGN --wait', 0],
  ['campaigns run @last --at yesterday', 2],
  [`campaigns cancel ${unknown.replace('msg', 'run')}`, 3],
  ['webhooks events message.bounced', 0],
];

describe('on the store and at a server', () => {
  it.each(rows)('svc %s prints the same and ends with %i', async (line, code) => {
    const words = line.split(' ').map((word) => {
      if (word === 'ENDING') return messageId.slice(-6);
      const ids = { MESSAGE: messageId, CAMPAIGN: campaignId, THREAD: threadId };
      return Object.entries(ids).reduce((text, [name, id]) => text.replace(name, id), word);
    });
    expect((await both(() => words)).code).toBe(code);
  });

  it.each([
    ['csv', 'email,firstName\neve@simulator.test,"Eve 5"""\nnone,Nobody\n'],
    [
      'jsonl',
      '{"email":"eve@simulator.test","profile":{"firstName":"Eve 5\\""}}\n{"email":"none"}\n',
    ],
  ])('svc contacts import reads %s, and names rejected rows', async (ending, text) => {
    const file = `few.${ending}`;
    for (const { directory } of [home.cli, laptop]) writeFileSync(join(directory, file), text);
    const preview = await both(() => ['contacts', 'import', file, '--dry-run']);
    expect(preview).toMatchObject({ code: 8, stdout: expect.stringMatching(/created|unchanged/) });
    expect(preview.stdout).toContain('email');
    const there = await laptop.run(['contacts', 'import', file, '--json']);
    expect(JSON.parse(there.stdout)).toMatchObject({ dryRun: false, rejected: 1 });
    expect(await both(() => ['contacts', 'import', file, '--json'])).toMatchObject({ code: 8 });
    const exported = await both(() => ['contacts', 'export']);
    expect(exported.stdout).toContain('eve@simulator.test');
    for (const format of ['csv', 'ndjson']) {
      const words = ['contacts', 'export', '--format', format, '--output', `${file}.${format}`];
      expect(await both(() => words)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Wrote [2-9] contacts/),
      });
    }
  });

  it('svc templates push makes, changes and keeps a template, and refuses a second clone', async () => {
    const slugs = new Map([home.cli, laptop].map((cli, index) => [cli, `welcome-${index + 1}`]));
    const folder = ({ directory }: CliWorkspace) => join(directory, 'welcome');
    const put = (text: string) => {
      for (const cli of slugs.keys()) {
        mkdirSync(folder(cli), { recursive: true });
        writeFileSync(join(folder(cli), 'body.html'), text);
        writeFileSync(join(folder(cli), 'template.yaml'), 'subject: Welcome\n');
      }
    };
    const push = () => both(() => ['templates', 'push', 'welcome']);
    put('<p>Hello</p>');
    expect(await push()).toMatchObject({ code: 2 });
    const first = (cli: CliWorkspace) => [
      'templates',
      'push',
      'welcome',
      '--slug',
      slugs.get(cli) ?? '',
    ];
    expect((await both(first)).stdout).toContain('Saved body.html, template.yaml as commit');
    expect((await push()).stdout).toContain('Nothing changed');
    put('<p>Hello again</p>');
    expect((await push()).stdout).toContain('Saved body.html as commit');
    const clone = (cli: CliWorkspace) => ['templates', 'clone', slugs.get(cli) ?? '', 'second'];
    expect((await both(clone)).code).toBe(0);
    put('<p>Hello once more</p>');
    await push();
    for (const { directory } of slugs.keys())
      writeFileSync(join(directory, 'second/body.html'), '<p>Mine</p>');
    const refused = await both(() => ['templates', 'push', 'second']);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('pull them first') });
  });

  it('svc webhooks listen reports the same events until Ctrl-C', async () => {
    const heard = async (cli: CliWorkspace) => {
      const child = cli.start(['webhooks', 'listen', '--since', '1h', '--event', 'message.sent']);
      let said = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      const result = finished(child);
      await until(() => said.includes('message.sent'), 'an event');
      child.kill('SIGINT');
      const { code, stdout, stderr } = await result;
      const [line = ''] = stdout.split('\n');
      return normal({ code, stdout: line, stderr });
    };
    expect(await heard(laptop)).toEqual(await heard(home.cli));
  });
});

describe('each error of the API', () => {
  const sample = (name: string) => {
    if (/(?:Usage|limit|Seconds)$/.test(name)) return 7;
    return name === 'fields' ? { 'email.subject': ['is required'] } : `the ${name}`;
  };
  // The specification declares two errors that the service never answers with.
  const absent = ['BillingProviderError', 'FlagDisabledError'];
  const made = [...errorKinds].filter(([tag, { answers }]) => answers && !absent.includes(tag));
  it.each(made)('%s is the error of the command, with the same object', (_tag, kind) => {
    const status = Number(Object.keys(kind.answers ?? {})[0]);
    const names = Object.keys(kind.fields);
    const fields = Object.fromEntries(names.map((name) => [name, sample(name)]));
    const error = asRefusal(new SvcError({ _tag, ...fields } as never, { status } as never), 'URL');
    const shown = (error as ServiceError).toJSON();
    if (_tag === 'UnauthorizedError') shown['message'] = 'the message';
    expect(shown).toEqual({ _tag, ...fields });
    expect((error as ServiceError).status).toBe(status);
  });
});
