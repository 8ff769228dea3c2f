// `svc config show` and config.example.yaml: complete, true to the schema, and without secrets.
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/core/config/config.ts';
import { configKeys } from '../../../src/core/config/keys.ts';
import { secretKeys } from '../../../src/core/config/schema.ts';
import { configExample, describeConfig } from '../../../src/core/config/show.ts';

const exampleFile = new URL('../../../config.example.yaml', import.meta.url).pathname;
const env = { HOME: '/nowhere' };
const cwd = dirname(new URL(import.meta.url).pathname);

describe('config.example.yaml', () => {
  it('equals the output of `svc config example`', () => {
    expect(readFileSync(exampleFile, 'utf8')).toBe(configExample());
  });

  it('holds exactly the defaults, without a warning', () => {
    const example = loadConfig({ file: exampleFile, env, cwd });
    expect(example.config).toEqual(loadConfig({ env, cwd }).config);
    expect(example.warnings).toEqual([]);
  });

  it('holds every key of the schema, each below its reason in one line', () => {
    const { origin } = loadConfig({ file: exampleFile, env, cwd });
    const lines = readFileSync(exampleFile, 'utf8').split('\n');
    for (const { path, reason } of configKeys) {
      const line = Number(/:(\d+)$/.exec(origin.get(path) ?? '')?.[1]);
      expect(line, path).toBeGreaterThan(0);
      expect(reason.length, path).toBeGreaterThan(5);
      expect(lines[line - 2], path).toContain(`# ${reason}`);
    }
  });
});

describe('the list of keys', () => {
  it('gives every key a variable of its own', () => {
    const variables = new Map(configKeys.map(({ path, variable }) => [path, variable]));
    expect(new Set(variables.values()).size).toBe(configKeys.length);
    expect(variables.get('dataDir')).toBe('SVC_DATA_DIR');
    expect(variables.get('http.maxBodyBytes')).toBe('SVC_HTTP_MAX_BODY_BYTES');
    expect(variables.get('smtp.inbound.tls.certFile')).toBe('SVC_SMTP_INBOUND_TLS_CERT_FILE');
    expect(variables.get('storage.s3.bucket')).toBe('SVC_STORAGE_S3_BUCKET');
  });
});

describe('config show', () => {
  const shown = describeConfig(
    loadConfig({
      env: {
        ...env,
        SVC_DATABASE_URL: 'postgres://mailer:hunter2@db.test/svc?password=hunter3',
        SVC_DELIVERY_RELAY_HOST: 'smtp.test',
        SVC_DELIVERY_RELAY_USERNAME: 'mailer',
        SVC_DELIVERY_RELAY_PASSWORD: 'hunter4',
        SVC_STORAGE_S3_SECRET_ACCESS_KEY: 'hunter5',
        SVC_DELIVERY_ROUTES:
          '[{"match":"a.test","via":"relay","host":"r.test","username":"u","password":"hunter6"}]',
      },
      cwd,
    }),
  );
  const row = (key: string) => shown.find((item) => item.key === key);

  it('has one row per key with value and origin', () => {
    expect(shown).toHaveLength(configKeys.length);
    expect(row('http.port')).toEqual({ key: 'http.port', value: 4025, origin: 'default' });
    expect(row('delivery.relay.username')).toEqual({
      key: 'delivery.relay.username',
      value: 'mailer',
      origin: 'env SVC_DELIVERY_RELAY_USERNAME',
    });
  });

  it('hides secrets, and shows the rest of the values that contain one', () => {
    expect(JSON.stringify(shown)).not.toContain('hunter');
    expect(row('database.url')?.value).toBe('postgres://mailer:***@db.test/svc?password=***');
    expect(row('delivery.relay.password')?.value).toBe('***');
    expect(row('delivery.routes')?.value).toMatchObject([{ host: 'r.test', password: '***' }]);
  });

  it('shows an unset secret as null, and a database URL without one in full', () => {
    const plain = describeConfig(loadConfig({ env, cwd }));
    expect(plain.find(({ key }) => key === 'delivery.relay.password')?.value).toBeNull();
    expect(plain.find(({ key }) => key === 'database.url')?.value).toBe('sqlite:svc.db');
  });

  it('covers every key named like a secret', () => {
    const named = configKeys.filter(
      ({ path }) => /password|secret/i.test(path) && path !== 'secret.file',
    );
    expect(named.length).toBeGreaterThan(0);
    for (const { path } of named) expect(secretKeys).toContain(path);
  });
});
