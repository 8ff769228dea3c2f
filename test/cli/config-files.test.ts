// svc config check reads the files that the configuration names, like the daemon at its start.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkFiles } from '../../src/core/config/check-files.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { mxTls } from '../mail/smtp/smtp-certificates.ts';
import { type CliWorkspace, cliWorkspace } from '../support/cli.ts';
import { testCert, testKey } from '../support/test-cert.ts';

let cli: CliWorkspace;
beforeAll(() => {
  cli = cliWorkspace();
  const put = (name: string, text: string | Buffer) =>
    writeFileSync(join(cli.directory, name), text);
  put('cert.pem', testCert);
  put('key.pem', testKey);
  put('other-key.pem', `${mxTls.key}`);
  put('text.pem', 'hello\n');
  put(
    'good.yaml',
    '- name: acme\n  mx: [acme.example]\n  connections: 3\n  messagesPerConnection: 10\n  perMinute: 100\n  requireTls: true\n',
  );
  put('shape.yaml', '- name: acme\n  mx: acme.example\n');
  put('broken.yaml', '- name: [\n');
  put('secret.yaml', '[]\n');
  chmodSync(join(cli.directory, 'secret.yaml'), 0);
  mkdirSync(join(cli.directory, 'folder'));
});
afterAll(() => cli.close());

function check(text: string, now = Date.UTC(2026, 0, 5)) {
  writeFileSync(join(cli.directory, 'config.yaml'), text);
  return checkFiles(loadConfig({ env: {}, cwd: cli.directory }), now);
}

const providers = (name: string) => `delivery:\n  providersFile: ${name}\n`;
const tls = (cert: string, key: string) =>
  `smtp:\n  inbound:\n    tls:\n      certFile: ${cert}\n      keyFile: ${key}\n`;
const isRoot = process.getuid?.() === 0;

const problems: [string, string, RegExp][] = [
  [
    'a missing file',
    providers('none.yaml'),
    /^config\.yaml:2: delivery\.providersFile: \/.*\/none\.yaml: there is no such file$/,
  ],
  [
    'a directory',
    providers('folder'),
    /^config\.yaml:2: delivery\.providersFile: .*folder: is a directory/,
  ],
  [
    'broken YAML',
    providers('broken.yaml'),
    /^config\.yaml:2: delivery\.providersFile: \/.*broken\.yaml: .*line 2/s,
  ],
  [
    'a wrong structure',
    providers('shape.yaml'),
    /^config\.yaml:2: delivery\.providersFile: \/.*shape\.yaml: .*mx/s,
  ],
  [
    'a missing certificate',
    tls('none.pem', 'key.pem'),
    /^config\.yaml:4: smtp\.inbound\.tls\.certFile: .*none\.pem: there is no such file$/,
  ],
  [
    'a missing key',
    tls('cert.pem', 'none.pem'),
    /^config\.yaml:5: smtp\.inbound\.tls\.keyFile: .*none\.pem: there is no such file$/,
  ],
  [
    'an invalid certificate',
    tls('text.pem', 'key.pem'),
    /^config\.yaml:4: smtp\.inbound\.tls\.certFile: .*text\.pem: ./,
  ],
  [
    'an invalid key',
    tls('cert.pem', 'text.pem'),
    /^config\.yaml:5: smtp\.inbound\.tls\.keyFile: .*text\.pem: ./,
  ],
  [
    'the key of another certificate',
    tls('cert.pem', 'other-key.pem'),
    /^config\.yaml:5: smtp\.inbound\.tls\.keyFile: .*not the key of the certificate/,
  ],
];

it.each(problems)('reports %s as one problem, with line and key', (_case, text, expected) => {
  const { problems: found } = check(text);
  expect(found).toEqual([expect.stringMatching(expected)]);
});

it.skipIf(isRoot)('reports a file without read permission', () => {
  expect(check(providers('secret.yaml')).problems[0]).toContain('permission denied');
});

it('reports no problem for usable files, and warns of an expired certificate', () => {
  const both = `${providers('good.yaml')}${tls('cert.pem', 'key.pem')}`;
  expect(check(both)).toEqual({ problems: [], warnings: [] });
  const { problems: found, warnings } = check(both, Date.UTC(2200, 0, 1));
  expect(found).toEqual([]);
  expect(warnings).toEqual([expect.stringMatching(/certFile: .*the certificate expired at 2/)]);
});

describe('config check', () => {
  it('ends with 2 and reports the problems from the file and from variables', async () => {
    writeFileSync(join(cli.directory, 'config.yaml'), tls('none.pem', 'key.pem'));
    const env = { SVC_DELIVERY_PROVIDERS_FILE: 'none.yaml' };
    const { code, stdout, stderr } = await cli.run(['config', 'check'], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/SVC_DELIVERY_PROVIDERS_FILE: delivery\.providersFile: .*no such file/);
    expect(stderr).toMatch(/config\.yaml:4: smtp\.inbound\.tls\.certFile: .*no such file/);
  });
});
