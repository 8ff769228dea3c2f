// svc config check reads the files that the configuration names, as the daemon would at its start.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { checkFiles } from '../../src/config/files.ts';
import { mxTls } from '../smtp/smtp-certificates.ts';
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
    'a missing one',
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
    'another shape',
    providers('shape.yaml'),
    /^config\.yaml:2: delivery\.providersFile: \/.*shape\.yaml: .*mx/s,
  ],
  [
    'no certificate there',
    tls('none.pem', 'key.pem'),
    /^config\.yaml:4: smtp\.inbound\.tls\.certFile: .*none\.pem: there is no such file$/,
  ],
  [
    'no key there',
    tls('cert.pem', 'none.pem'),
    /^config\.yaml:5: smtp\.inbound\.tls\.keyFile: .*none\.pem: there is no such file$/,
  ],
  [
    'what is no certificate',
    tls('text.pem', 'key.pem'),
    /^config\.yaml:4: smtp\.inbound\.tls\.certFile: .*text\.pem: ./,
  ],
  [
    'what is no key',
    tls('cert.pem', 'text.pem'),
    /^config\.yaml:5: smtp\.inbound\.tls\.keyFile: .*text\.pem: ./,
  ],
  [
    'the key of another certificate',
    tls('cert.pem', 'other-key.pem'),
    /^config\.yaml:5: smtp\.inbound\.tls\.keyFile: .*not the key of the certificate/,
  ],
];

test.each(problems)('%s is one problem, with line and key', (_name, text, expected) => {
  const { problems: found } = check(text);
  expect(found).toEqual([expect.stringMatching(expected)]);
});

test.skipIf(isRoot)('one that may not be read is a problem', () => {
  expect(check(providers('secret.yaml')).problems[0]).toContain('permission denied');
});

test('files that can be used are none, a certificate that ran out is a warning', () => {
  const both = `${providers('good.yaml')}${tls('cert.pem', 'key.pem')}`;
  expect(check(both)).toEqual({ problems: [], warnings: [] });
  const { problems: found, warnings } = check(both, Date.UTC(2200, 0, 1));
  expect(found).toEqual([]);
  expect(warnings).toEqual([expect.stringMatching(/certFile: .*the certificate expired at 2/)]);
});

describe('the command', () => {
  test('ends with 2 and says all of them, whether they come by file or by variable', async () => {
    writeFileSync(join(cli.directory, 'config.yaml'), tls('none.pem', 'key.pem'));
    const env = { SVC_DELIVERY_PROVIDERS_FILE: 'none.yaml' };
    const { code, stdout, stderr } = await cli.run(['config', 'check'], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/SVC_DELIVERY_PROVIDERS_FILE: delivery\.providersFile: .*no such file/);
    expect(stderr).toMatch(/config\.yaml:4: smtp\.inbound\.tls\.certFile: .*no such file/);
  });
});
