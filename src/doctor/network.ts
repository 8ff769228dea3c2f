// Checks of the network around this machine: DNS servers, our listeners, the public URL.
import { connect, isIP, type Socket } from 'node:net';
import type { App } from '../core/app.ts';
import { listenersOf } from '../core/config/listeners.ts';
import { doesMailLeave } from '../core/config/problems.ts';
import { messageOf } from '../platform/errors.ts';
import { dialSocket } from '../platform/net/dial.ts';
import { DnsError } from '../platform/net/dns.ts';
import { isLoopbackHost, reachable } from '../platform/net/network-address.ts';
import { type Check, type Found, fail, ok, type Surroundings, skipped, warn } from './finding.ts';

const dialMs = 3_000;
const greetingMs = 5_000;
const mostGreeting = 1_000;
/** A name with broken signatures, kept for tests of resolvers. */
const brokenName = 'dnssec-failed.org';
/** Test entry that each blocklist has (RFC 5782 5). */
const listedName = '2.0.0.127.zen.spamhaus.org';
const whichServers = (app: App) =>
  app.config.dns.servers.length > 0 ? app.config.dns.servers.join(', ') : 'of the system';

/** Returns the reason why checks on the Internet are impossible; null if the DNS answers. */
export async function offlineReason(app: App): Promise<string | null> {
  try {
    await app.dns.resolveSoon('com', 'NS');
    return null;
  } catch (error) {
    return `the DNS servers (${whichServers(app)}) do not answer for the Internet: ${messageOf(error)}`;
  }
}

/** Reads the greeting of a mail server, at most 1,000 bytes. @throws Error */
export async function greetingOf(app: App, address: string, port: number): Promise<string> {
  const socket = await dial(app, address, port);
  try {
    return await firstLine(app, socket);
  } finally {
    socket.destroy();
  }
}

function dial(app: App, address: string, port: number): Promise<Socket> {
  const { clock } = app;
  const connector = app.connect ?? connect;
  return dialSocket({ address, port, connector, clock, timeoutMs: dialMs });
}

function firstLine({ clock }: App, socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const end = () => {
      cancel();
      resolve(text.replaceAll(/[\p{Cc}]+/gu, ' ').trim());
    };
    const cancel = clock.after(greetingMs, () => {
      reject(new Error(`no greeting within ${greetingMs / 1000} s`));
    });
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1').slice(0, mostGreeting - text.length);
      if (text.includes('\n') || text.length >= mostGreeting) end();
    });
    socket.once('close', end).once('error', (error) => {
      cancel();
      reject(error);
    });
  });
}

/** Returns the address at which a listener with this host answers on this machine. */
function addressOf(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : reachable(host);
}

async function listenerProblem(app: App, path: string, host: string, port: number) {
  const at = `${host}:${port} (${path})`;
  const speaksFirst = path === 'smtp.inbound.port' || isGreeting(app, path);
  try {
    if (!speaksFirst) {
      (await dial(app, addressOf(host), port)).destroy();
      return null;
    }
    const greeting = await greetingOf(app, addressOf(host), port);
    return greeting.startsWith('220') ? null : `${at} greets with ${JSON.stringify(greeting)}`;
  } catch (error) {
    return `${at}: ${messageOf(error)}`;
  }
}

function isGreeting({ config }: App, path: string): boolean {
  return path === 'smtp.submission.port' && !config.smtp.submission.tls.implicit;
}

async function checkListeners(app: App): Promise<Found> {
  const known = listenersOf(app.config).filter(
    ({ path, host, port }) => port && isIP(addressOf(host)) !== 0 && !path.endsWith('.dns.port'),
  );
  if (known.length === 0) return skipped('no listener has a fixed port');
  const problems = await Promise.all(
    known.map(({ path, host, port }) => listenerProblem(app, path, host, port ?? 0)),
  );
  const found = problems.filter((one) => one !== null);
  if (found.length === 0) {
    return ok(`${known.map(({ host, port }) => `${host}:${port}`).join(', ')} answer`);
  }
  const remedy = 'Start the daemon, and see its log for the ports that it could not open.';
  return fail(found.join('; '), remedy, 'svc status');
}

async function checkPublicUrl({ app, offline }: Surroundings): Promise<Found> {
  const { config } = app;
  const { publicUrl, host } = config.http;
  const remedy = 'Put a proxy with a certificate before the API, and name it in http.publicUrl.';
  const command = 'svc config show --origin';
  if (publicUrl === null) {
    if (isLoopbackHost(host) && !doesMailLeave(config.delivery)) {
      return skipped('mail is captured, and links lead to this machine');
    }
    return warn('http.publicUrl is not set: links in mail lead nowhere', remedy, command);
  }
  if (new URL(publicUrl).protocol === 'https:') return connectTo(app, new URL(publicUrl), offline);
  if (isLoopbackHost(new URL(publicUrl).hostname)) {
    return warn(`${publicUrl} leads to this machine only`, remedy, command);
  }
  return fail(`${publicUrl} sends keys and mail unencrypted`, remedy, command);
}

/**
 * Checks that the public URL accepts a connection. Warns if the URL cannot be reached, or if the
 * host has no address. Skips the check while the Internet cannot be reached.
 */
async function connectTo(app: App, url: URL, offline: string | null): Promise<Found> {
  if (offline !== null) return skipped('the Internet cannot be asked: see resolver');
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const port = Number(url.port) || 443;
  try {
    const [address = ''] = isIP(host) !== 0 ? [host] : await addressesOf(app, host);
    (await dial(app, address, port)).destroy();
    return ok(`${url.origin} takes connections at ${address}`);
  } catch (error) {
    const remedy =
      'Start the proxy before the API, and publish the address of its name. If this machine cannot reach its own ' +
      'public address, ask from elsewhere.';
    const found = `${url.origin} takes no connection from here: ${messageOf(error)}`;
    return warn(found, remedy, 'svc config show --origin');
  }
}

async function addressesOf({ dns }: App, host: string): Promise<string[]> {
  const { ipv4, ipv6 } = await dns.addresses(host);
  return [...ipv4, ...ipv6];
}

export const networkChecks: readonly Check[] = [
  {
    name: 'resolver',
    async look({ app, offline }) {
      if (offline === null) return ok(`the DNS servers (${whichServers(app)}) answer`);
      if (!doesMailLeave(app.config.delivery)) return skipped(`${offline}; mail is captured`);
      const remedy = 'Name servers that answer in dns.servers: without DNS no mail leaves.';
      return fail(offline, remedy, 'svc config show --origin');
    },
  },
  {
    name: 'resolver-dnssec',
    needsInternet: true,
    async look({ app }) {
      const remedy =
        'Use a resolver that validates, such as unbound on this machine, in dns.servers: DANE needs it.';
      try {
        await app.dns.addresses(brokenName);
        const found = `the DNS servers answer for ${brokenName}, whose signatures are wrong`;
        return warn(found, remedy, 'svc config show --origin');
      } catch (error) {
        if (!(error instanceof DnsError) || error.kind !== 'server-failure') {
          return skipped(`${brokenName} cannot be asked for: ${messageOf(error)}`);
        }
        return ok('the DNS servers validate signatures');
      }
    },
  },
  {
    name: 'resolver-blocklists',
    needsInternet: true,
    async look({ app }) {
      const remedy =
        'Use a resolver of your own in dns.servers: blocklists refuse those that many share.';
      const command = 'svc config show --origin';
      const answers = await app.dns.resolveSoon(listedName, 'A').catch((error: unknown) => error);
      if (!Array.isArray(answers)) {
        return warn(`blocklists do not answer: ${messageOf(answers)}`, remedy, command);
      }
      const isRefused = answers.some((answer) => String(answer).startsWith('127.255.255.'));
      if (isRefused) return warn('blocklists refuse the DNS servers', remedy, command);
      return ok('blocklists answer the DNS servers');
    },
  },
  { name: 'listeners', look: ({ app }) => checkListeners(app) },
  { name: 'public-url', look: checkPublicUrl },
];
