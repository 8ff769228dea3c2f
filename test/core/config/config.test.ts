// The configuration from a user's view: the search for its file, precedence, and the errors.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/core/config/config.ts';
import { ConfigError } from '../../../src/platform/errors.ts';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-config-'));
});

afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

function write(path: string, text: string): string {
  const file = join(cwd, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Loads with an empty home, so that no file of this machine's user is found. */
function load(env: Record<string, string> = {}, file?: string) {
  return loadConfig({ file, env: { HOME: join(cwd, 'home'), ...env }, cwd });
}

/** Returns the lines of the error, with paths below the working directory. */
function refusal(env: Record<string, string> = {}, file?: string): string[] {
  try {
    load(env, file);
  } catch (error) {
    if (error instanceof ConfigError) {
      const lines = error.message.split('\n');
      return lines.map((line) => (line.startsWith(cwd) ? line.slice(cwd.length) : line));
    }
    throw error;
  }
  throw new Error('the configuration was accepted');
}

/** Returns the lines of the error for this text as ./config.yaml. */
function refusalOf(text: string): string[] {
  write('config.yaml', text);
  return refusal();
}

describe('the configuration file', () => {
  it('may be missing: the defaults hold', () => {
    const { config, file, warnings } = load();
    expect(file).toBeNull();
    expect(warnings).toEqual([]);
    expect(config.dataDir).toBe(join(cwd, 'data'));
    expect(config.database.url).toBe('sqlite:svc.db');
    expect(config.http).toMatchObject({ host: '127.0.0.1', port: 4025, publicUrl: null });
    expect(config.smtp.inbound).toMatchObject({ host: '127.0.0.1', port: 2525 });
    expect(config.smtp.inbound.trustedNetworks).toEqual([]);
    expect(config.delivery.mode).toBe('capture');
    expect(config.delivery.retry).toEqual({
      scheduleMinutes: [1, 5, 15, 30, 60, 120, 240, 480],
      maxAgeHours: 72,
    });
    expect(config.webhooks.retry.scheduleSeconds).toHaveLength(10);
    expect(config.plans.scale).toEqual({
      ratePerSecond: 50,
      dailyEmails: 100_000,
      trialCaps: true,
    });
    expect(config.shutdownGraceSeconds).toBe(10);
  });

  it('is looked for as --config, $SVC_CONFIG, ./config.yaml, then under $XDG_CONFIG_HOME', () => {
    const xdg = { XDG_CONFIG_HOME: join(cwd, 'xdg') };
    const found = (env: Record<string, string>, file?: string) => load(env, file).config.http.port;
    write('home/.config/svc/config.yaml', 'http: {port: 5}');
    expect(found({})).toBe(5);
    write('xdg/svc/config.yaml', 'http: {port: 4}');
    expect(found(xdg)).toBe(4);
    write('config.yaml', 'http: {port: 3}');
    expect(found(xdg)).toBe(3);
    write('named.yaml', 'http: {port: 2}');
    expect(found({ ...xdg, SVC_CONFIG: 'named.yaml' })).toBe(2);
    const flag = write('flag.yaml', 'http: {port: 1}');
    expect(found({ ...xdg, SVC_CONFIG: 'named.yaml' }, flag)).toBe(1);
  });

  it('stops the start when it is named but missing', () => {
    write('config.yaml', '');
    expect(refusal({}, 'gone.yaml')).toEqual([
      '/gone.yaml: there is no such file (named by --config)',
    ]);
    expect(refusal({ SVC_CONFIG: '/gone.yaml' })).toEqual([
      '/gone.yaml: there is no such file (named by SVC_CONFIG)',
    ]);
  });

  it('stops the start when it is a directory', () => {
    mkdirSync(join(cwd, 'config.yaml'));
    expect(refusal()).toEqual(['/config.yaml: is a directory, expected a file']);
  });

  it('may be empty, and so may its sections', () => {
    write('config.yaml', '# nothing yet\n');
    expect(load().config.http.port).toBe(4025);
    write('config.yaml', 'http:\nsmtp:\n  inbound:\n');
    expect(load().config.smtp.inbound.port).toBe(2525);
  });

  it('has its relative paths resolved against the working directory', () => {
    write('etc/svc.yaml', 'dataDir: mail\nsmtp: {inbound: {tls: {certFile: c.pem, keyFile: /k}}}');
    const { config } = load({}, 'etc/svc.yaml');
    expect(config.dataDir).toBe(join(cwd, 'mail'));
    expect(config.smtp.inbound.tls).toEqual({ certFile: join(cwd, 'c.pem'), keyFile: '/k' });
  });
});

describe('a mistake in the file', () => {
  it('is reported with file, line, column, key, the value found and the value expected', () => {
    expect(refusalOf('http:\n  host: 127.0.0.1\n  port: abc\n')).toEqual([
      '/config.yaml:3:9: http.port: found "abc", expected a whole number from 0 to 65535',
    ]);
  });

  it('in a key suggests the nearest known key', () => {
    expect(refusalOf('http:\n  prot: 80\n')).toEqual([
      '/config.yaml:2:3: http.prot: unknown key; did you mean http.port?',
    ]);
    expect(refusalOf('http: {max_body_bytes: 80}\n')).toEqual([
      '/config.yaml:1:8: http.max_body_bytes: unknown key; did you mean http.maxBodyBytes?',
    ]);
    expect(refusalOf('delivery:\n  scheduleMinutes: [1]\n')).toEqual([
      '/config.yaml:2:3: delivery.scheduleMinutes: unknown key; ' +
        'did you mean delivery.retry.scheduleMinutes?',
    ]);
    expect(refusalOf('dns: {zzzzzz: 1}')).toEqual([
      '/config.yaml:1:7: dns.zzzzzz: unknown key; expected one of servers',
    ]);
    expect(refusalOf('delivery: {routes: [{match: a.test, via: direct, to: b}]}')).toEqual([
      '/config.yaml:1:50: delivery.routes.0.to: unknown key; ' +
        'expected one of match, from, via, requireTls, host, port, secure, username, password, dkim, spf',
    ]);
  });

  it('does not hide others: each has its line', () => {
    expect(refusalOf('log: {level: loud}\nhttp:\n  port: 70000\nmcp: true\nx: 1\n')).toEqual([
      '/config.yaml:3:9: http.port: found 70000, expected a whole number from 0 to 65535',
      '/config.yaml:1:14: log.level: found "loud", ' +
        'expected one of silent, fatal, error, warn, info, debug, trace',
      '/config.yaml:4:6: mcp: found true, expected a map of keys',
      expect.stringMatching(
        /^\/config\.yaml:5:1: x: unknown key; expected one of dataDir, database/,
      ),
    ]);
  });

  it.each([
    ['http: {port: "80"}', 'http.port: found "80", expected a whole number'],
    ['http: {port: 1.5}', 'http.port: found 1.5, expected a whole number'],
    ['http: {port: .nan}', 'http.port: found NaN, expected a whole number'],
    ['http: {port: }', 'http.port: found null, expected a whole number'],
    ['http: {port: [80]}', 'http.port: found a list, expected a whole number'],
    ['http: {host: ""}', 'http.host: found "", expected a host name or an IP address'],
    ['http: {host: "a b"}', 'http.host: found "a b", expected a host name or an IP address'],
    ['http: {host: 300.1.1.1}', 'http.host: found "300.1.1.1", expected a host name'],
    ['http: {publicUrl: mail.test}', 'http.publicUrl: found "mail.test", expected a URL'],
    ['http: {publicUrl: "https://u:p@a.test"}', 'expected a URL that starts with http://'],
    ['http: {publicUrl: "https://a.test/?x"}', 'expected a URL that starts with http://'],
    ['smtp: {inbound: {enforceDmarc: yes}}', 'found "yes", expected true or false'],
    [
      'smtp: {inbound: {trustedNetworks: [mail.test]}}',
      'inbound.trustedNetworks.0: found "mail.test", expected an IP address or a network: 10.1.0.0/16',
    ],
    [
      'smtp: {inbound: {trustedNetworks: [10.1.2.3/16]}}',
      'inbound.trustedNetworks.0: found "10.1.2.3/16", expected 10.1.0.0/16, by its first address',
    ],
    ['smtp: {inbound: {trustedNetworks: 10.1.0.0/16}}', 'expected a list of 0 to 100 networks'],
    ['smtp: {inbound: {trustedSealers: ["*"]}}', 'found "*", expected a host name'],
    ['delivery: {direct: {port: 0}}', 'found 0, expected a whole number from 1 to 65535'],
    ['delivery: {retry: {scheduleMinutes: []}}', 'found a list, expected a list of 1 to 100'],
    ['delivery: {retry: {scheduleMinutes: [1, 0]}}', 'scheduleMinutes.1: found 0, expected a num'],
    ['delivery: {retry: {scheduleMinutes: [-1]}}', 'found -1, expected a number of minutes above'],
    ['delivery: {retry: {maxAgeHours: .inf}}', 'found Infinity, expected a number of hours'],
    ['delivery: {allow: [a@b@]}', 'delivery.allow.0: found "a@b@", expected an address'],
    ['delivery: {routes: [{via: direct}]}', 'routes.0.match: found nothing, expected a domain'],
    ['delivery: {routes: [{match: a.b, via: post}]}', 'expected a map with match, and via: one of'],
    ['dns: {servers: ["dns.test"]}', 'dns.servers.0: found "dns.test", expected an IP address'],
    ['dns: {servers: ["127.0.0.1:70000"]}', 'expected an IP address, with a port'],
    ['database: {url: mysql://a}', 'database.url: found text (not shown), expected sqlite:FILE or'],
    ['health: {maxBounceRate: 5}', 'found 5, expected a rate above 0 and at most 1 (0.05 is 5 %)'],
    ['plans: {Big: {}}', 'plans.Big: expected a plan name of lower-case letters'],
    ['plans: {big: {ratePerSecond: 1, trialCaps: true}}', 'plans.big.dailyEmails: found nothing'],
    ['plans: {free: {dailyEmails: -1}}', 'plans.free.dailyEmails: found -1, expected a whole'],
  ])('such as %s is rejected', (text, expected) => {
    const lines = refusalOf(text);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(expected);
    expect(lines[0]).toMatch(/^\/config\.yaml:1:\d+: /);
  });

  it.each([
    ['http:\n\tport: 1', '/config.yaml:2:1: indent with spaces, not with tabs'],
    ['dataDir: a\ndataDir: b', '/config.yaml:2:1: this key occurs twice in its map'],
    ['dataDir: *x', '/config.yaml:1:10: a value that starts with *, & or ! must be quoted'],
    ['dataDir: !x y', '/config.yaml:1:10: a value that starts with *, & or ! must be quoted'],
    ['dataDir: a\n---\ndataDir: b', 'more than one YAML document in the file'],
    ['dataDir: "a', '/config.yaml:1:12: not valid YAML'],
    ['dataDir: [a', '/config.yaml:1:12: wrong indentation'],
    ['- a', '/config.yaml:1:1: expected a map of keys, such as "http:"'],
  ])('of syntax such as %j is reported with its line', (text, expected) => {
    expect(refusalOf(text).join('\n')).toContain(expected);
  });

  it('never shows a password from its line', () => {
    const texts = [
      'delivery: {relay: {password: [hunter2]}}',
      'delivery: {relay: hunter2}',
      'delivery: {relay: {password: 4711}}',
      'delivery: {relay: {password: *hunter2}}',
      'delivery: {relay: {password: !hunter2}}',
      'delivery: {relay: {password: "hunter2}}',
      'delivery: {relay: {password: hunter2: 4711}}',
      'database: {url: "postgres//u:hunter2@h/d"}',
      'storage: {s3: {secretAccessKey: [hunter2]}}',
      'delivery: {routes: [{match: a, via: relay, host: b, username: u, password: [4711]}]}',
    ];
    for (const text of texts) expect(refusalOf(text).join('\n')).not.toMatch(/hunter2|4711/);
  });

  it('such as a key named __proto__ is rejected, and pollutes no prototype', () => {
    expect(refusalOf('http: {__proto__: {port: 1}}').join('\n')).toContain('__proto__');
    expect(refusalOf('__proto__: {port: 1}').join('\n')).toContain('__proto__');
    expect(({} as Record<string, unknown>).port).toBeUndefined();
  });

  it('such as a file over a megabyte or endless nesting is rejected', () => {
    expect(refusalOf(`# ${'x'.repeat(1_000_001)}`)[0]).toContain('larger than 1000000 bytes');
    expect(refusalOf(`plans: ${'['.repeat(100_000)}`)[0]).toMatch(/^\/config\.yaml/);
  });
});

describe('contradicting values', () => {
  it.each([
    ['delivery: {mode: relay}', '/config.yaml:1:18: delivery.relay.host: found nothing'],
    [
      'delivery: {routes: [{match: a.test, via: relay}]}',
      '/config.yaml:1:21: delivery.routes.0.host: found nothing',
    ],
    [
      'delivery: {relay: {host: a.test}, routes: [{match: b, via: relay, requireTls: true}]}',
      'delivery.routes.0.host: found nothing',
    ],
    ['delivery: {relay: {username: u}}', 'delivery.relay.password: found nothing, expected text'],
    ['smtp: {inbound: {tls: {certFile: c}}}', 'smtp.inbound.tls.keyFile: found nothing'],
    ['smtp: {inbound: {tls: {keyFile: k}}}', 'smtp.inbound.tls.certFile: found nothing'],
    ['smtp: {submission: {tls: {certFile: c}}}', 'smtp.submission.tls.keyFile: found nothing'],
    ['smtp: {submission: {tls: {implicit: true}}}', 'smtp.submission.tls.certFile: found nothing'],
    [
      'http: {port: 2525}',
      'smtp.inbound.port: found 2525, expected another port than that of http',
    ],
  ])('stop the start: %s', (text, expected) => {
    const lines = refusalOf(text);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(expected);
  });

  it('are reported with the variable that they come from', () => {
    expect(refusal({ SVC_DELIVERY_MODE: 'relay' })).toEqual([
      'SVC_DELIVERY_MODE: delivery.relay.host: found nothing, ' +
        'expected a host name or an IP address, because delivery.mode is relay',
    ]);
  });
});

describe('the warning about an unreachable return path', () => {
  const linked = { SVC_HTTP_PUBLIC_URL: 'https://mail.example.com' };
  const named = { SVC_DELIVERY_HOSTNAME: 'mail.example.com', ...linked };
  const direct = { SVC_DELIVERY_MODE: 'direct', ...named };
  const relayed = { SVC_DELIVERY_MODE: 'relay', SVC_DELIVERY_RELAY_HOST: 'smtp.test', ...named };
  const routed = { SVC_DELIVERY_ROUTES: '[{"match":"a.test","via":"direct"}]', ...linked };

  it.each([
    ['mode direct', direct],
    ['mode relay', relayed],
    ['a route', routed],
  ])('is given with %s, and names the settings', (_, env) => {
    expect(load(env).warnings).toEqual([
      expect.stringMatching(
        /^bounces cannot come back: .*Set smtp\.inbound\.host to 0\.0\.0\.0 and smtp\.inbound\.port to 25/,
      ),
    ]);
  });

  it.each<[string, Record<string, string>]>([
    ['without outgoing mail', {}],
    ['with a public listener', { ...direct, SVC_SMTP_INBOUND_HOST: '0.0.0.0' }],
    [
      'behind a gateway on this machine',
      { ...relayed, SVC_SMTP_INBOUND_TRUSTED_NETWORKS: '["127.0.0.1"]' },
    ],
  ])('is not given %s', (_, env) => {
    expect(load(env).warnings).toEqual([]);
  });
});

describe('the sender of a route', () => {
  const routeFrom = (from: string) => ({
    SVC_DELIVERY_ROUTES: JSON.stringify([{ from, via: 'capture' }]),
  });

  it.each([
    ['Shop.Example', 'shop.example'],
    ['*.Shop.example', '*.shop.example'],
    ['*.example', '*.example'],
    ['Billing@Shop.example', 'billing@shop.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['a@bücher.example', 'a@xn--bcher-kva.example'],
    ['org_06dq2k0qz8h3v5m1r9t4w7xy', 'org_06dq2k0qz8h3v5m1r9t4w7xy'],
  ])('stores the sender %s as mail has it', (from, stored) => {
    const { config } = load(routeFrom(from));
    expect(config.delivery.routes[0]?.from).toBe(stored);
  });

  it.each([
    ...['org_06dq', 'org_', 'org_x.example', 'shop', 'localhost', '*', '*.', '1.2.3.4'],
    ...['a@b', '.a@shop.example', 'a..b@shop.example', 'a@*.shop.example', 'foo_bar.example'],
    ...['shop.example.', 'a b@shop.example', '@shop.example', ''],
  ])('refuses the sender "%s" which no mail can have', (from) => {
    expect(refusal(routeFrom(from))).toEqual([
      expect.stringMatching(
        /^SVC_DELIVERY_ROUTES: delivery\.routes\.0\.from: found .*, expected a domain/,
      ),
    ]);
  });
});

describe('a secret', () => {
  const relay = {
    SVC_DELIVERY_MODE: 'relay',
    SVC_DELIVERY_RELAY_HOST: 'smtp.test',
    SVC_DELIVERY_RELAY_USERNAME: 'u',
  };
  const variable = 'SVC_DELIVERY_RELAY_PASSWORD_FILE';

  it('is read from the file that SVC_…_FILE names, without its line end', () => {
    write('secrets/relay', 'hunter2\n');
    const { config, origin } = load({ ...relay, [variable]: 'secrets/relay' });
    expect(config.delivery.relay.password).toBe('hunter2');
    expect(origin.get('delivery.relay.password')).toBe(`env ${variable}`);
    write('secrets/database', 'postgres://u:p@db/svc');
    write('secrets/routes', '[{"match":"*","via":"capture"}]');
    const others = load({
      SVC_DATABASE_URL_FILE: join(cwd, 'secrets/database'),
      SVC_DELIVERY_ROUTES_FILE: join(cwd, 'secrets/routes'),
    });
    expect(others.config.database.url).toBe('postgres://u:p@db/svc');
    expect(others.config.delivery.routes).toEqual([{ match: '*', from: null, via: 'capture' }]);
  });

  it.each<[string, string, (file: string) => void]>([
    ['there is no such file', 'gone', () => {}],
    ['the file is empty', 'empty', (file) => writeFileSync(file, '\n')],
    ['expected a file', 'directory', (file) => mkdirSync(file)],
    ['larger than 65536 bytes', 'large', (file) => writeFileSync(file, 'x'.repeat(70_000))],
  ])('stops the start when its file cannot be used: %s', (problem, name, make) => {
    const file = join(cwd, name);
    make(file);
    expect(refusal({ ...relay, [variable]: file })).toContain(`${variable}: ${file}: ${problem}`);
  });

  it('stops the start when given by file and by variable, and neither is shown', () => {
    write('relay', 'hunter2');
    const both = { ...relay, [variable]: 'relay', SVC_DELIVERY_RELAY_PASSWORD: 'hunter3' };
    expect(refusal(both)).toEqual([
      `${variable}: SVC_DELIVERY_RELAY_PASSWORD is set too: set only one of them`,
    ]);
  });

  it('has a _FILE variable, unlike other keys', () => {
    expect(refusal({ SVC_HTTP_PORT_FILE: 'port' })[0]).toContain('no key has this variable');
  });

  it('may be missing for commands, which need none', () => {
    const without = (env: Record<string, string>) =>
      loadConfig({ env: { HOME: cwd, ...env }, cwd, withoutSecrets: true }).config;
    expect(without(relay).delivery.relay).toMatchObject({ username: 'u', password: null });
    expect(without({ SVC_DELIVERY_RELAY_PASSWORD: 'x' }).delivery.relay.username).toBeNull();
    expect(without({ ...relay, [variable]: '/gone' }).delivery.relay.password).toBeNull();
    expect(() => without({ SVC_DATABASE_URL_FILE: '/gone' })).toThrow('no such file');
    expect(() => without({ SVC_DELIVERY_MODE: 'relay' })).toThrow('delivery.relay.host');
    expect(refusal(relay)[0]).toContain('because username is set');
  });
});

describe('the environment', () => {
  it('overrides the file, key by key', () => {
    write('config.yaml', 'http:\n  host: 127.0.0.2\n  port: 1\n');
    const { config, origin } = load({
      SVC_HTTP_PORT: '2',
      SVC_DATA_DIR: '/var/mail',
      SVC_DELIVERY_RELAY_HOST: 'smtp.test',
      SVC_SMTP_INBOUND_TLS_CERT_FILE: '/c',
      SVC_SMTP_INBOUND_TLS_KEY_FILE: '/k',
      SVC_HTTP_MAX_BODY_BYTES: '5000',
      SVC_SMTP_INBOUND_ENFORCE_DMARC: 'false',
      SVC_SMTP_INBOUND_TRUSTED_NETWORKS: '["10.1.0.0/16","::1"]',
      SVC_DNS_SERVERS: '["127.0.0.1:5353"]',
      SVC_DELIVERY_RETRY_SCHEDULE_MINUTES: '[0.01, 2]',
      SVC_DELIVERY_ROUTES: '[{"match":"*.Example.com","via":"relay","host":"r.test"}]',
    });
    expect(config.http).toMatchObject({ host: '127.0.0.2', port: 2, maxBodyBytes: 5000 });
    expect(config.dataDir).toBe('/var/mail');
    expect(config.delivery.relay.host).toBe('smtp.test');
    expect(config.smtp.inbound.tls).toEqual({ certFile: '/c', keyFile: '/k' });
    expect(config.smtp.inbound.enforceDmarc).toBe(false);
    expect(config.smtp.inbound.trustedNetworks).toEqual(['10.1.0.0/16', '::1']);
    expect(config.dns.servers).toEqual(['127.0.0.1:5353']);
    expect(config.delivery.retry.scheduleMinutes).toEqual([0.01, 2]);
    expect(config.delivery.routes).toEqual([
      {
        from: null,
        match: '*.example.com',
        via: 'relay',
        host: 'r.test',
        port: 587,
        secure: false,
        requireTls: false,
        username: null,
        password: null,
      },
    ]);
    expect(origin.get('http.host')).toBe('config.yaml:2');
    expect(origin.get('http.port')).toBe('env SVC_HTTP_PORT');
    expect(origin.get('http.publicUrl')).toBe('default');
  });

  it('is parsed strictly, and its errors name the variable', () => {
    expect(refusal({ SVC_HTTP_PORT: '0x10' })).toEqual([
      'SVC_HTTP_PORT: http.port: found "0x10", expected a whole number from 0 to 65535',
    ]);
    expect(refusal({ SVC_HTTP_PORT: ' 80' })[0]).toContain('found " 80"');
    expect(refusal({ SVC_SMTP_INBOUND_ENFORCE_DMARC: '1' })).toEqual([
      'SVC_SMTP_INBOUND_ENFORCE_DMARC: smtp.inbound.enforceDmarc: found "1", expected true or false',
    ]);
    expect(refusal({ SVC_DNS_SERVERS: '127.0.0.1' })).toEqual([
      'SVC_DNS_SERVERS: dns.servers: found "127.0.0.1", ' +
        'expected a list of 0 to 100 DNS servers, as JSON',
    ]);
  });

  it('may set null where null is valid, and counts as unset when empty', () => {
    write('config.yaml', 'http: {publicUrl: "https://mail.test/"}');
    expect(load().config.http.publicUrl).toBe('https://mail.test');
    expect(load({ SVC_HTTP_PUBLIC_URL: '' }).config.http.publicUrl).toBe('https://mail.test');
    expect(load({ SVC_HTTP_PUBLIC_URL: 'null' }).config.http.publicUrl).toBeNull();
  });

  it('rejects unknown SVC_ variables', () => {
    expect(refusal({ SVC_HTTP_PROT: '1', SVC_NONSENSE: 'x' })).toEqual([
      'SVC_HTTP_PROT: no key has this variable; did you mean SVC_HTTP_PORT?',
      'SVC_NONSENSE: no key has this variable',
    ]);
    expect(() => load({ SVC_ORG: 'a', SVC_API_KEY: 'svc_live_x', SVC_SERVER: 'b' })).not.toThrow();
  });

  it('is overridden by values that the program passes', () => {
    const { config, origin } = loadConfig({
      env: { HOME: cwd, SVC_HTTP_PORT: '1' },
      cwd,
      overrides: { http: { port: 0 }, delivery: { allow: ['Me@Example.com'] } },
    });
    expect(config.http.port).toBe(0);
    expect(config.delivery.allow).toEqual(['me@example.com']);
    expect(origin.get('http.port')).toBe('override');
  });
});

describe('plans', () => {
  it('can be added, and changed limit by limit', () => {
    write(
      'config.yaml',
      'plans:\n  free: {dailyEmails: 7}\n' +
        '  big: {ratePerSecond: 0.5, dailyEmails: null, trialCaps: false}\n',
    );
    const { plans } = load().config;
    expect(Object.keys(plans)).toEqual([
      'free',
      'starter',
      'growth',
      'scale',
      'self-hosted',
      'big',
    ]);
    expect(plans.free).toEqual({ ratePerSecond: 5, dailyEmails: 7, trialCaps: true });
    expect(plans.big).toEqual({ ratePerSecond: 0.5, dailyEmails: null, trialCaps: false });
  });
});

describe('warnings', () => {
  it.each([
    { SVC_DELIVERY_MODE: 'direct', SVC_DELIVERY_HOSTNAME: 'mail.example.com' },
    { SVC_DELIVERY_MODE: 'relay', SVC_DELIVERY_RELAY_HOST: '127.0.0.1' },
  ])('are given for links that recipients cannot open, with %j', (mode) => {
    const env = { ...mode, SVC_SMTP_INBOUND_HOST: '0.0.0.0' };
    const text = /^http\.publicUrl is not set: .* is refused\. A relay on this machine gets it/;
    expect(load(env).warnings).toEqual([expect.stringMatching(text)]);
    const url = 'https://mail.example.com';
    expect(load({ ...env, SVC_HTTP_PUBLIC_URL: url }).warnings).toEqual([]);
    expect(load({ ...env, SVC_TRACKING_PUBLIC_URL: url }).warnings).toEqual([]);
  });

  it('are given for submission that only this machine could use', () => {
    write('config.yaml', "smtp: {submission: {enabled: true, host: '0.0.0.0'}}");
    expect(load().warnings).toEqual([
      'smtp.submission.host is 0.0.0.0, without tls.certFile: only clients on this machine can log in',
    ]);
    write(
      'config.yaml',
      "smtp: {submission: {enabled: true, host: '0.0.0.0', tls: {certFile: /c, keyFile: /k}}}",
    );
    expect(load().warnings).toEqual([]);
  });

  it('name a bucket that is reached without encryption', () => {
    write('config.yaml', 'storage: {s3: {endpoint: "http://s3.example.com"}}');
    expect(load().warnings).toEqual([
      'storage.s3.endpoint is http: attachments and mail cross the network unencrypted',
    ]);
    write('config.yaml', 'storage: {s3: {endpoint: "http://127.0.0.1:9000"}}');
    expect(load().warnings).toEqual([]);
  });

  it('are not all: driver s3 without settings of its bucket is refused', () => {
    write('config.yaml', 'storage: {driver: s3, s3: {bucket: b, accessKeyId: a}}');
    expect(load).toThrow(/storage\.s3\.endpoint: found nothing, expected a URL/);
    expect(load).toThrow(/storage\.s3\.secretAccessKey: found nothing, expected text/);
  });

  it('are given for a trusted network that contains everyone', () => {
    write('config.yaml', 'smtp: {inbound: {trustedNetworks: [10.1.0.0/16, 0.0.0.0/0]}}');
    expect(load().warnings).toEqual([
      'smtp.inbound.trustedNetworks has 0.0.0.0/0: no mail from there is checked',
    ]);
  });

  it('are given for proxies that are everyone', () => {
    write('config.yaml', "http: {trustedProxies: ['::1', '::/0']}");
    expect(load().warnings).toEqual([
      'http.trustedProxies has ::/0: every visitor can choose an address',
    ]);
  });

  it('are given for a password sent in the clear, and for a hostname that servers reject', () => {
    write(
      'config.yaml',
      'delivery: {mode: direct, relay: {host: a.test, username: u, password: p}}\n' +
        'smtp: {inbound: {host: 0.0.0.0}}\nhttp: {publicUrl: https://mail.example.com}',
    );
    expect(load().warnings).toEqual([
      'delivery.hostname is localhost: in direct mode many servers refuse that name',
      'delivery.relay.password may be sent unencrypted: ' +
        'set delivery.relay.requireTls or delivery.relay.secure',
    ]);
    expect(load({ SVC_DELIVERY_RELAY_HOST: '127.0.0.1' }).warnings).toHaveLength(1);
  });

  it.each([
    ['direct', {}, 1],
    ['relay', { SVC_DELIVERY_RELAY_HOST: 'smtp.example.net' }, 1],
    ['relay', { SVC_DELIVERY_RELAY_HOST: '10.0.0.25' }, 1],
    ['relay', { SVC_DELIVERY_RELAY_HOST: '127.0.0.1' }, 0],
    ['relay', { SVC_DELIVERY_RELAY_HOST: 'localhost' }, 0],
    ['capture', {}, 0],
  ])('are given for EHLO localhost in mode %s with %j: %i', (mode, env, count) => {
    const { warnings } = load({ SVC_DELIVERY_MODE: mode, ...env });
    const text = `delivery.hostname is localhost: in ${mode} mode many servers refuse that name`;
    expect(warnings.filter((warning) => warning === text)).toHaveLength(count);
    const named = load({
      SVC_DELIVERY_MODE: mode,
      SVC_DELIVERY_HOSTNAME: 'mail.example.com',
      ...env,
    });
    expect(named.warnings.join()).not.toContain('delivery.hostname');
  });
});

describe('the signatures of a relay', () => {
  it('are chosen for the smarthost and for each route', () => {
    write(
      'config.yaml',
      'delivery:\n  relay: {host: smtp.test, dkim: [rsa]}\n  routes:\n' +
        '    - {match: a.test, via: relay, host: b.test, dkim: [ed25519, rsa]}\n' +
        '    - {match: b.test, via: relay, dkim: []}\n    - {match: c.test, via: relay}\n',
    );
    const { relay, routes } = load().config.delivery;
    expect(relay.dkim).toEqual(['rsa']);
    expect(routes.map((route) => 'dkim' in route && route.dkim)).toEqual([
      ['ed25519', 'rsa'],
      [],
      false,
    ]);
    expect(load({ SVC_DELIVERY_RELAY_DKIM: 'null' }).config.delivery.relay.dkim).toBeNull();
  });

  it.each(['dsa', '[dsa]', '[RSA]', '7'])('are refused as %s', (value) => {
    write('config.yaml', `delivery: {relay: {dkim: ${value}}}`);
    expect(load).toThrow(/delivery\.relay\.dkim/);
  });
});

describe('the SPF mechanism of a relay', () => {
  it('is given for the smarthost and for each route', () => {
    write(
      'config.yaml',
      'delivery:\n  relay: {host: smtp.test, spf: "include:spf.test"}\n  routes:\n' +
        '    - {match: a.test, via: relay, host: b.test, spf: "ip4:192.0.2.0/24 ip6:2001:db8::/32"}\n' +
        '    - {match: c.test, via: relay}\n',
    );
    const { relay, routes } = load().config.delivery;
    expect(relay.spf).toBe('include:spf.test');
    expect(routes.map((route) => 'spf' in route && route.spf)).toEqual([
      'ip4:192.0.2.0/24 ip6:2001:db8::/32',
      false,
    ]);
  });

  it.each([
    '""',
    'v=spf1',
    '-all',
    '"include:"',
    '"include:a.test; b"',
    '[mx]',
    '"~include:a.test"',
  ])('is refused as %s', (value) => {
    write('config.yaml', `delivery: {relay: {spf: ${value}}}`);
    expect(load).toThrow(/delivery\.relay\.spf: .*SPF mechanisms such as include:/);
  });
});

describe('certificates by ACME', () => {
  const base = 'tracking: { acme: { enabled: true }, https: { port: 0 }, http: { port: 0 } }\n';

  it('need listeners for their challenge and for HTTPS', () => {
    expect(load({}, write('good.yaml', base)).config.tracking.acme.challenge).toBe('http-01');
    for (const [name, env] of [
      ['tracking.https.port', { SVC_TRACKING_HTTPS_PORT: 'null' }],
      ['tracking.http.port', { SVC_TRACKING_HTTP_PORT: 'null' }],
      ['tracking.acme.dns.port', { SVC_TRACKING_ACME_CHALLENGE: 'dns-01' }],
    ] as const) {
      const lines = refusal(env, write('bad.yaml', base)).join('\n');
      expect(lines).toContain(`${name}`);
      expect(lines).toContain('expected a port');
    }
  });

  it('need a directory over TLS, except on this machine', () => {
    const file = write('acme.yaml', base);
    const at = (url: string) => ({ SVC_TRACKING_ACME_DIRECTORY_URL: url });
    expect(refusal(at('http://ca.example/directory'), file).join('\n')).toContain('RFC 8555 6.1');
    expect(load(at('http://127.0.0.1:14000/dir'), file).config.tracking.acme.directoryUrl).toBe(
      'http://127.0.0.1:14000/dir',
    );
  });

  it('need a port of their own', () => {
    const file = write('ports.yaml', 'tracking: { http: { port: 4025 } }\n');
    expect(refusal({}, file).join('\n')).toContain('another port than that of http.port');
  });
});
