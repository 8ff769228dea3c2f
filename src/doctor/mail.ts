// Checks of mail to remote servers: port 25, our name in the DNS, blocklists.
import type { App } from '../core/app.ts';
import { findAnyProvenDomain } from '../identity/domains/queries.ts';
import {
  findAddresses,
  findMailHosts,
  findNamedAddresses,
  type HostAddresses,
} from '../mail/smtp/destination.ts';
import { messageOf } from '../platform/errors.ts';
import { foldName } from '../platform/net/dns-wire.ts';
import { isPublicAddress, reversedLabels } from '../platform/net/network-address.ts';
import { type Check, type Found, fail, ok, skipped, warn } from './finding.ts';
import { greetingOf } from './network.ts';

const smtpPort = 25;
const mostAddresses = 4;

/** Lists with the weight of an entry: mail of a listed address is refused by many, or by some. */
const blocklists: readonly (readonly [string, 'fail' | 'warn'])[] = [
  ['zen.spamhaus.org', 'fail'],
  ['bl.spamcop.net', 'fail'],
  ['b.barracudacentral.org', 'fail'],
  ['psbl.surriel.com', 'warn'],
  ['bl.mailspike.net', 'warn'],
  ['dnsbl-1.uceprotect.net', 'warn'],
  ['ix.dnsbl.manitu.net', 'warn'],
  ['dnsbl.dronebl.org', 'warn'],
  ['all.s5h.net', 'warn'],
  ['truncate.gbudb.net', 'warn'],
];

const isDirect = ({ config }: App) => config.delivery.mode === 'direct';
const notDirect = 'mail does not leave this machine for the servers of receivers';

/** Public addresses of our own host name. */
async function ownAddresses({ dns, config }: App): Promise<string[]> {
  const { ipv4, ipv6 } = await dns.addresses(config.delivery.hostname);
  return [...ipv4, ...ipv6].filter(isPublicAddress).slice(0, mostAddresses);
}

/** Returns the first address. @throws Error without an address */
function firstOf(found: HostAddresses): string {
  if (found.verdict) throw new Error(found.verdict.reply.text);
  return found.addresses[0];
}

async function checkPort({ app }: { app: App }): Promise<Found> {
  const { config, dns, random } = app;
  const { mode, relay } = config.delivery;
  if (mode === 'capture') return skipped(notDirect);
  const ask = async (name: string, address: string, port: number) => {
    const greeting = await greetingOf(app, address, port);
    if (greeting.startsWith('220')) return ok(`${name} greets at port ${port}`);
    return warn(
      `${name} greets at port ${port} with ${JSON.stringify(greeting)}`,
      'A server that refuses our connection names its reason: follow it.',
      'svc messages list --status deferred',
    );
  };
  const [host, port] = mode === 'relay' ? [relay.host ?? '', relay.port] : [null, smtpPort];
  try {
    if (host !== null) {
      const address = firstOf(await findNamedAddresses(dns, random, host));
      if (relay.secure) return skipped(`${host} is asked by the first mail: it speaks TLS at once`);
      return await ask(host, address, port);
    }
    const proven = await findAnyProvenDomain(app.store.db);
    if (!proven) return skipped('there is no verified domain whose mail host could be asked');
    const hosts = await findMailHosts(dns, random, proven.domain);
    if (hosts.verdict) throw new Error(hosts.verdict.reply.text);
    const name = hosts.hosts[0]?.name ?? proven.domain;
    return await ask(name, firstOf(await findAddresses(dns, random, name, false)), port);
  } catch (error) {
    const found = `no connection to port ${port}${host === null ? ' of our mail host' : ` of ${host}`}: ${messageOf(error)}`;
    const remedy =
      host === null
        ? 'Ask your provider to open port 25, or send by a smarthost: delivery.mode relay.'
        : 'Check delivery.relay: its host, its port, and the firewall between.';
    return fail(found, remedy, 'svc config show --origin');
  }
}

async function checkReverse({ app }: { app: App }): Promise<Found> {
  if (!isDirect(app)) return skipped(notDirect);
  const { hostname } = app.config.delivery;
  const addresses = await ownAddresses(app).catch(() => []);
  if (addresses.length === 0) return skipped(`${hostname} has no public address`);
  const problems = await Promise.all(
    addresses.map(async (address) => {
      const zone = address.includes(':') ? 'ip6.arpa' : 'in-addr.arpa';
      const names = await app.dns
        .resolveSoon(`${reversedLabels(address)}.${zone}`, 'PTR')
        .catch(() => []);
      if (names.length === 0) return `${address} has no name`;
      const folded = names.map((name) => foldName(String(name)));
      return folded.includes(foldName(hostname)) ? null : `${address} is named ${folded[0]}`;
    }),
  );
  const found = problems.filter((one) => one !== null);
  if (found.length === 0) return ok(`${addresses.join(', ')} and ${hostname} name each other`);
  const remedy = `Set the reverse name (PTR) of the address to ${hostname}, at the provider of the machine.`;
  return fail(found.join('; '), remedy, 'svc config show --origin');
}

async function checkHelo({ app }: { app: App }): Promise<Found> {
  if (!isDirect(app)) return skipped(notDirect);
  const { hostname } = app.config.delivery;
  const remedy = 'Set delivery.hostname to the public name of this machine.';
  const command = 'svc config show --origin';
  if (!hostname.includes('.')) return fail(`${hostname} is no public name`, remedy, command);
  try {
    const { ipv4, ipv6 } = await app.dns.addresses(hostname);
    const known = [...ipv4, ...ipv6];
    if (known.some(isPublicAddress)) return ok(`${hostname} leads to ${known.join(', ')}`);
    return fail(`${hostname} leads to ${known.join(', ')}, which is not public`, remedy, command);
  } catch (error) {
    return fail(`${hostname} has no address: ${messageOf(error)}`, remedy, command);
  }
}

async function checkBlocklists({ app }: { app: App }): Promise<Found> {
  if (!isDirect(app)) return skipped(notDirect);
  const addresses = await ownAddresses(app).catch(() => []);
  if (addresses.length === 0) {
    return skipped(`${app.config.delivery.hostname} has no public address`);
  }
  const asked = addresses.flatMap((address) =>
    blocklists.map(async ([list, weight]) => {
      const name = `${reversedLabels(address)}.${list}`;
      const answers = await app.dns.resolveSoon(name, 'A').catch(() => []);
      const isListed = answers.some((answer) => /^127\.(?!255\.255\.)/.test(String(answer)));
      return isListed ? [{ address, list, weight }] : [];
    }),
  );
  const listed = (await Promise.all(asked)).flat();
  if (listed.length === 0) {
    return ok(`${addresses.join(', ')} are on none of ${blocklists.length} blocklists`);
  }
  const found = listed.map(({ address, list }) => `${address} is on ${list}`).join('; ');
  const remedy = 'Find out why mail was complained about, then ask the list to remove the address.';
  const isRefused = listed.some(({ weight }) => weight === 'fail');
  return (isRefused ? fail : warn)(found, remedy, 'svc stats --by domain');
}

export const mailChecks: readonly Check[] = [
  { name: 'outgoing-port', needsInternet: true, isOfMail: true, look: checkPort },
  { name: 'reverse-name', needsInternet: true, isOfMail: true, look: checkReverse },
  { name: 'helo-name', needsInternet: true, isOfMail: true, look: checkHelo },
  { name: 'blocklists', needsInternet: true, isOfMail: true, look: checkBlocklists },
];
