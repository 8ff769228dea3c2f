// Checks of mail to remote servers: port 25, our name in the DNS, blocklists.
import type { App } from '../core/app.ts';
import { findNamedAddresses, type HostAddresses } from '../mail/smtp/destination.ts';
import { messageOf } from '../platform/errors.ts';
import { foldName } from '../platform/net/dns-wire.ts';
import { isPublicAddress, reversedLabels } from '../platform/net/network-address.ts';
import { type Check, type Found, fail, ok, skipped, warn } from './finding.ts';
import { greetingOf } from './network.ts';

const smtpPort = 25;
const mostAddresses = 4;

/** Blocklists with the status of an entry: `fail` if many receivers refuse, `warn` if some do. */
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

const spamhaus = 'zen.spamhaus.org';
/** Answers of Spamhaus for the PBL: ranges whose owner says that they send no mail. */
const policyListed = ['127.0.0.10', '127.0.0.11'];

/** Returns up to four public addresses of our own host name. */
async function ownAddresses({ dns, config }: App): Promise<string[]> {
  const { ipv4, ipv6 } = await dns.addresses(config.delivery.hostname);
  return [...ipv4, ...ipv6].filter(isPublicAddress).slice(0, mostAddresses);
}

/** Returns the first address. @throws Error if the look-up found no address */
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
  const isToRelay = mode === 'relay';
  const host = isToRelay ? (relay.host ?? '') : config.doctor.outgoingHost;
  if (host === null) return skipped('no mail host is asked: doctor.outgoingHost is null');
  const port = isToRelay ? relay.port : smtpPort;
  try {
    const address = firstOf(await findNamedAddresses(dns, random, host));
    if (isToRelay && relay.secure) {
      return skipped(`${host} is asked by the first mail: it speaks TLS at once`);
    }
    return await ask(host, address, port);
  } catch (error) {
    const found = `no connection to port ${port} of ${host}: ${messageOf(error)}`;
    const remedy = !isToRelay
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

const policyList =
  'the PBL of Spamhaus: the owner of its range says that it sends no mail to servers of receivers';

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
      const isPolicy =
        list === spamhaus && answers.every((answer) => policyListed.includes(String(answer)));
      return isListed ? [{ address, list, weight, isPolicy }] : [];
    }),
  );
  const listed = (await Promise.all(asked)).flat();
  if (listed.length === 0) {
    return ok(`${addresses.join(', ')} are on none of ${blocklists.length} blocklists`);
  }
  const found = listed
    .map(({ address, list, isPolicy }) => `${address} is on ${isPolicy ? policyList : list}`)
    .join('; ');
  const remedy = listed.every(({ isPolicy }) => isPolicy)
    ? 'No mail led to this entry. Ask your provider for an address that may send, or take the address off the list ' +
      'at https://check.spamhaus.org; else send by a smarthost: delivery.mode relay.'
    : 'Find out why mail was complained about, then ask the list to remove the address.';
  const isRefused = listed.some(({ weight }) => weight === 'fail');
  return (isRefused ? fail : warn)(found, remedy, 'svc stats --by domain');
}

export const mailChecks: readonly Check[] = [
  { name: 'outgoing-port', needsInternet: true, isOfMail: true, look: checkPort },
  { name: 'reverse-name', needsInternet: true, isOfMail: true, look: checkReverse },
  { name: 'helo-name', needsInternet: true, isOfMail: true, look: checkHelo },
  { name: 'blocklists', needsInternet: true, isOfMail: true, look: checkBlocklists },
];
