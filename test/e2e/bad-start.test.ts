// What stops a start, and what a running daemon does when its store gives way: one readable line,
// the right exit code, 503 and never a 201 (contract 1, 2; issue "Bad input").
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CliWorkspace, cliWorkspace } from '../support/cli.ts';

const noAnswer = '';

describe('a mistake in the configuration ends the start with 2 and one line', () => {
  let cli: CliWorkspace;
  beforeAll(() => {
    cli = cliWorkspace();
  });
  afterAll(() => cli.close());

  const files: [string, string, RegExp][] = [
    ['an unknown key', 'http:\n  prot: 4025\n', /^svc: bad\.yaml:2:3: http\.prot: .*http\.port/],
    ['a wrong type', 'http:\n  port: many\n', /^svc: bad\.yaml:2:9: http\.port: found "many", exp/],
    [
      'an impossible value',
      'http:\n  port: 70000\n',
      /^svc: bad\.yaml:2:9: http\.port: found 70000/,
    ],
    ['no YAML', 'http: [\n', /^svc: bad\.yaml:\d+:\d+: /],
    ['a relay without a host', 'delivery:\n  mode: relay\n', /^svc: .*delivery\.relay\.host: exp/],
  ];
  test.each(files)('%s in the file', async (_, text, line) => {
    writeFileSync(join(cli.directory, 'bad.yaml'), text);
    const { code, stdout, stderr } = await cli.run(['daemon', '--config', 'bad.yaml']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: noAnswer });
    expect(stderr).toMatch(line);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  const variables: [string, Record<string, string>, RegExp][] = [
    ['an unknown one', { SVC_HTTP_PROT: '1' }, /^svc: SVC_HTTP_PROT: .*SVC_HTTP_PORT/],
    ['a wrong type', { SVC_HTTP_PORT: 'many' }, /^svc: SVC_HTTP_PORT: .*found "many", expected/],
    ['no JSON', { SVC_DNS_SERVERS: '127.0.0.1' }, /^svc: SVC_DNS_SERVERS: .*expected a list/],
  ];
  test.each(variables)('%s among the variables', async (_, env, line) => {
    const { code, stdout, stderr } = await cli.run(['daemon'], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: noAnswer });
    expect(stderr).toMatch(line);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('what the machine does not give ends the start with 7 and one line', () => {
  let cli: CliWorkspace;
  let taken: Server;
  let port: number;
  beforeAll(async () => {
    cli = cliWorkspace();
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    port = typeof address === 'object' && address ? address.port : 0;
  });
  afterAll(async () => {
    cli.close();
    await new Promise((resolve) => taken.close(resolve));
  });

  async function failingStart(env: Record<string, string>): Promise<string> {
    const { code, stdout, stderr } = await cli.run(['daemon'], { env });
    expect({ code, stdout }).toEqual({ code: 7, stdout: noAnswer });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    return stderr;
  }

  test('a port for HTTP that is in use', async () => {
    expect(await failingStart({ SVC_HTTP_PORT: String(port) })).toMatch(
      new RegExp(`^svc: .*HTTP on 127\\.0\\.0\\.1:${port}: another program listens there`),
    );
  });

  test('a port for SMTP that is in use', async () => {
    expect(await failingStart({ SVC_SMTP_INBOUND_PORT: String(port) })).toMatch(
      new RegExp(`^svc: .*SMTP on 127\\.0\\.0\\.1:${port}: another program listens there`),
    );
  });
});
