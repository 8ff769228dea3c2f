// Formats the mistakes that the schema finds in a configuration: place, key, found and expected
// value, never a secret. Also checks the rules between keys that are valid alone: a contradiction
// prevents the start, a doubt causes a warning. schema.ts has the bounds of single values.

import type { z } from 'zod';
import { isLoopbackHost, parseRange } from '../../platform/net/network-address.ts';
import type { Contradiction } from './contradiction.ts';
import { configKeys, findKeyHolding, isSecret } from './keys.ts';
import { listenersOf } from './listeners.ts';
import { findNearest } from './nearest.ts';
import type { Config } from './schema.ts';
import { signInContradictions, signInDoubt } from './sign-in-problems.ts';

type Issue = z.core.$ZodIssue;

/** Returns the origin of the value at a path: `config.yaml:3:9`, `SVC_HTTP_PORT`. */
export type Locate = (path: readonly PropertyKey[], ofKey?: boolean) => string;

const longestQuote = 60;

function describeFound(value: unknown, secret: boolean): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const kind = typeof value === 'string' ? 'text' : `a ${typeof value}`;
  if (secret) return `${kind} (not shown)`;
  if (typeof value !== 'string') return String(value);
  const quoted = value.length > longestQuote ? `${value.slice(0, longestQuote)}…` : value;
  return JSON.stringify(quoted);
}

/** Returns the known names in the section of an unknown name. */
function siblingsOf(section: string): string[] {
  const prefix = section === '' ? '' : `${section}.`;
  const names = configKeys
    .filter((key) => key.path.startsWith(prefix))
    .map((key) => key.path.slice(prefix.length).split('.', 1)[0] ?? '');
  return [...new Set(names)];
}

function suggestKey(section: string, name: string): string {
  const holder = findKeyHolding(section);
  if (holder) return `; expected one of ${holder.entryNames.join(', ')}`;
  const siblings = siblingsOf(section);
  const prefix = section === '' ? '' : `${section}.`;
  const sibling = findNearest(name, siblings);
  if (sibling !== undefined) return `; did you mean ${prefix}${sibling}?`;
  const paths = configKeys.map((key) => key.path);
  const elsewhere =
    paths.find((path) => path.endsWith(`.${name}`)) ?? findNearest(`${prefix}${name}`, paths);
  if (elsewhere !== undefined) return `; did you mean ${elsewhere}?`;
  return `; expected one of ${siblings.join(', ')}`;
}

function unknownKeys(path: readonly PropertyKey[], keys: string[], locate: Locate): string[] {
  const section = path.join('.');
  return keys.map((name) => {
    const full = section === '' ? name : `${section}.${name}`;
    return `${locate([...path, name], true)}: ${full}: unknown key${suggestKey(section, name)}`;
  });
}

/** Formats a line per mistake found by the schema. */
export function describeIssue(issue: Issue, locate: Locate): string[] {
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.path, issue.keys, locate);
  const path = issue.path.join('.');
  if (issue.code === 'invalid_key') {
    const expected = issue.issues[0]?.message ?? 'another name';
    return [`${locate(issue.path, true)}: ${path}: expected ${expected}`];
  }
  const where = locate(issue.path);
  const key = findKeyHolding(path);
  const asJson = where.startsWith('SVC_') && key?.form === 'json' && key.path === path;
  const found = describeFound(issue.input, isSecret(path));
  return [
    `${where}: ${path}: found ${found}, expected ${issue.message}${asJson ? ', as JSON' : ''}`,
  ];
}

function tlsContradictions({ smtp }: Config): Contradiction[] {
  const { inbound, submission } = smtp;
  return [
    ...pairContradictions('smtp.inbound.tls', inbound.tls),
    ...pairContradictions('smtp.submission.tls', submission.tls),
    ...(submission.tls.implicit && submission.tls.certFile === null
      ? [
          {
            path: 'smtp.submission.tls.certFile',
            because: 'smtp.submission.tls.implicit',
            text: 'expected the path of a PEM file, because implicit is set',
          },
        ]
      : []),
  ];
}

/**
 * Finds a `listenUrl` that is a SQLite file or beside a SQLite file, and a `caFile` without effect.
 */
function databaseContradictions({ database }: Config): Contradiction[] {
  const { url, ssl, listenUrl } = database;
  const isFile = (text: string) => text.startsWith('sqlite:');
  const path = 'database.listenUrl';
  const found: Contradiction[] = [];
  if (listenUrl !== null && (isFile(url) || isFile(listenUrl))) {
    const text = isFile(url)
      ? 'expected null, because database.url is a SQLite file'
      : 'expected a postgres:// URL';
    found.push({ path, because: isFile(url) ? 'database.url' : path, text });
  }
  if (ssl.caFile !== null && ssl.mode !== 'verify-full') {
    const text = 'expected verify-full, because caFile is set';
    found.push({ path: 'database.ssl.mode', because: 'database.ssl.caFile', text });
  }
  return found;
}

/** Finds a certificate without a key, or a key without a certificate. */
function pairContradictions(
  at: string,
  { certFile, keyFile }: Config['smtp']['inbound']['tls'],
): Contradiction[] {
  if ((certFile === null) === (keyFile === null)) return [];
  const [path, because] = certFile === null ? ['certFile', 'keyFile'] : ['keyFile', 'certFile'];
  const text = `expected the path of a PEM file, because ${because} is set`;
  return [{ path: `${at}.${path}`, because: `${at}.${because}`, text }];
}

/** Tells whether a path is the user name or the password of a relay. */
export function isLogin(path: string): boolean {
  return /\.(username|password)$/.test(path);
}

interface RelayAccess {
  readonly username: string | null;
  readonly password: string | null;
}

function loginContradictions(at: string, access: RelayAccess): Contradiction[] {
  if ((access.username === null) === (access.password === null)) return [];
  const [path, because] =
    access.username === null ? ['username', 'password'] : ['password', 'username'];
  return [
    {
      path: `${at}.${path}`,
      because: `${at}.${because}`,
      text: `expected text, because ${because} is set`,
    },
  ];
}

function secretContradictions({ secret }: Config): Contradiction[] {
  if (secret.file === null || secret.key === null) return [];
  const text = 'expected null, because key is set';
  return [{ path: 'secret.file', because: 'secret.key', text }];
}

/** Finds missing settings of the bucket. */
function storageContradictions({ storage: { driver, s3 } }: Config): Contradiction[] {
  if (driver !== 's3') return [];
  const needed = ['endpoint', 'bucket', 'accessKeyId', 'secretAccessKey'] as const;
  return needed.flatMap((name) => {
    if (s3[name] !== null) return [];
    const text = `expected ${name === 'endpoint' ? 'a URL' : 'text'}, because storage.driver is s3`;
    return [{ path: `storage.s3.${name}`, because: 'storage.driver', text }];
  });
}

function relayContradictions({ delivery }: Config): Contradiction[] {
  const { mode, relay, routes } = delivery;
  const found = loginContradictions('delivery.relay', relay);
  if (mode === 'relay' && relay.host === null) {
    found.push({
      path: 'delivery.relay.host',
      because: 'delivery.mode',
      text: 'expected a host name or an IP address, because delivery.mode is relay',
    });
  }
  for (const [index, route] of routes.entries()) {
    const at = `delivery.routes.${index}`;
    if (route.via !== 'relay') continue;
    found.push(...loginContradictions(at, route));
    const hasAccess = route.username !== null || route.secure || route.requireTls;
    if (route.host !== null || (relay.host !== null && !hasAccess)) continue;
    const text = 'expected a host name or an IP address, because the route goes via relay';
    found.push({ path: `${at}.host`, because: at, text });
  }
  return found;
}

function portContradictions(config: Config): Contradiction[] {
  const listeners = listenersOf(config);
  return listeners.flatMap(({ path, host, port }, index) => {
    const taken = listeners.slice(0, index).find((one) => host === one.host && port === one.port);
    if (!taken || port === 0 || port === null) return [];
    return [
      { path, because: taken.path, text: `expected another port than that of ${taken.path}` },
    ];
  });
}

/** Finds missing or unfit settings for fetching certificates. */
function acmeContradictions({ tracking: { acme, http, https } }: Config): Contradiction[] {
  if (!acme.enabled) return [];
  const found: Contradiction[] = [];
  const needs = (path: string, port: number | null, because: string) => {
    if (port !== null) return;
    found.push({ path, because, text: `expected a port, because ${because} needs that listener` });
  };
  needs('tracking.https.port', https.port, 'tracking.acme.enabled');
  if (acme.challenge === 'http-01') {
    needs('tracking.http.port', http.port, 'tracking.acme.challenge');
  } else {
    needs('tracking.acme.dns.port', acme.dns.port, 'tracking.acme.challenge');
  }
  const { protocol, hostname } = new URL(acme.directoryUrl);
  if (protocol !== 'https:' && !isLoopbackHost(hostname.replace(/^\[(.*)\]$/, '$1'))) {
    const path = 'tracking.acme.directoryUrl';
    found.push({ path, because: path, text: 'expected https:// (RFC 8555 6.1)' });
  }
  return found;
}

/** Returns the contradictions between values that are valid alone. */
export function findContradictions(config: Config): Contradiction[] {
  return [
    ...secretContradictions(config),
    ...tlsContradictions(config),
    ...databaseContradictions(config),
    ...storageContradictions(config),
    ...relayContradictions(config),
    ...portContradictions(config),
    ...acmeContradictions(config),
    ...signInContradictions(config),
  ];
}

/**
 * Tells whether mail to some recipients goes to a different server, even to a relay on this
 * machine.
 */
export function doesMailLeave({ mode, routes }: Config['delivery']): boolean {
  return mode !== 'capture' || routes.some(({ via }) => via !== 'capture');
}

/** Returns a warning that mail has no public links, or null. */
function publicUrlDoubt({ delivery, http, tracking }: Config): string | null {
  if (!doesMailLeave(delivery) || (http.publicUrl ?? tracking.publicUrl) !== null) return null;
  return (
    'http.publicUrl is not set: mail that leaves this machine and needs a link (to unsubscribe, or to ' +
    `track opens and clicks) is refused. A relay on this machine gets it with links to port ${http.port} of ` +
    'this machine'
  );
}

/**
 * Returns a warning that bounces cannot come back: mail leaves the machine, but the listener is
 * reachable only from this machine. Returns null if bounces can come back, or if the listener
 * trusts a gateway on this machine that forwards them.
 */
export function returnPathDoubt({ delivery, smtp }: Config): string | null {
  const { host, port, trustedNetworks } = smtp.inbound;
  const leaves = doesMailLeave(delivery);
  const hasGateway = trustedNetworks.some((text) => isLoopbackHost(text.split('/')[0] ?? ''));
  if (!leaves || !isLoopbackHost(host) || hasGateway) return null;
  return (
    'bounces cannot come back: mail leaves this machine, but other servers cannot ' +
    `reach smtp.inbound.host ${host}. Set smtp.inbound.host to 0.0.0.0 and ` +
    `smtp.inbound.port to 25 (now ${port}), or name a gateway on this machine in ` +
    'smtp.inbound.trustedNetworks'
  );
}

/** Returns the doubts about settings that work but are probably unintended, a line each. */
export function findDoubts(config: Config): string[] {
  const { delivery, smtp } = config;
  const { mode, hostname, relay, routes } = delivery;
  const doubts: string[] = [];
  const noReturn = returnPathDoubt(config);
  if (noReturn !== null) doubts.push(noReturn);
  const noLinks = publicUrlDoubt(config);
  if (noLinks !== null) doubts.push(noLinks);
  const noSignIn = signInDoubt(config);
  if (noSignIn !== null) doubts.push(noSignIn);
  const everybody = smtp.inbound.trustedNetworks.find((text) => parseRange(text)?.bits === 0);
  if (everybody !== undefined) {
    doubts.push(`smtp.inbound.trustedNetworks has ${everybody}: no mail from there is checked`);
  }
  const anyProxy = config.http.trustedProxies.find((text) => parseRange(text)?.bits === 0);
  if (anyProxy !== undefined) {
    doubts.push(`http.trustedProxies has ${anyProxy}: every visitor can choose an address`);
  }
  const { enabled, host, tls } = smtp.submission;
  if (enabled && tls.certFile === null && !isLoopbackHost(host)) {
    doubts.push(
      `smtp.submission.host is ${host}, without tls.certFile: only clients on this ` +
        'machine can log in',
    );
  }
  const { endpoint } = config.storage.s3;
  if (endpoint?.startsWith('http:') && !isLoopbackHost(new URL(endpoint).hostname)) {
    doubts.push('storage.s3.endpoint is http: attachments and mail cross the network unencrypted');
  }
  const isOnThisMachine = mode === 'relay' && isLoopbackHost(relay.host ?? '');
  if (mode !== 'capture' && hostname === 'localhost' && !isOnThisMachine) {
    doubts.push(`delivery.hostname is localhost: in ${mode} mode many servers refuse that name`);
  }
  const relays = routes.flatMap((route, index) =>
    route.via === 'relay' ? [{ at: `delivery.routes.${index}`, access: route }] : [],
  );
  for (const { at, access } of [{ at: 'delivery.relay', access: relay }, ...relays]) {
    const { host, password, secure, requireTls } = access;
    if (!host || password === null || secure || requireTls || isLoopbackHost(host)) continue;
    doubts.push(`${at}.password may be sent unencrypted: set ${at}.requireTls or ${at}.secure`);
  }
  return doubts;
}
