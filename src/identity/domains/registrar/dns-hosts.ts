// DNS hosts by the names of their servers, as listed in dns-hosts.yaml.
import { readFileSync } from 'node:fs';
import { loadYaml } from '../../../platform/runtime/on-demand.ts';

interface DnsHost {
  name: string;
  servers: RegExp;
  /** URL of the page that edits records; `{domain}` stands for the domain. */
  records: string;
}

let shipped: readonly DnsHost[] | undefined;

function dnsHosts(): readonly DnsHost[] {
  shipped ??= readHosts();
  return shipped;
}

function readHosts(): DnsHost[] {
  const text = readFileSync(new URL('./dns-hosts.yaml', import.meta.url), 'utf8');
  const entries: { name: string; servers: string[]; records: string }[] = loadYaml().parse(text);
  return entries.map(({ name, servers, records }) => {
    const ends = servers.map((end) => end.replaceAll('.', '\\.').replaceAll('*', '[a-z0-9-]+'));
    return { name, servers: new RegExp(`(^|\\.)(${ends.join('|')})$`), records };
  });
}

/**
 * Returns the DNS host that runs any of these name servers, and the URL of the page that edits
 * records of the domain. Null if no host is known.
 */
export function dnsHostOf(
  nameServers: readonly string[],
  domain: string,
): { name: string; recordsUrl: string } | null {
  const host = dnsHosts().find(({ servers }) => nameServers.some((name) => servers.test(name)));
  if (!host) return null;
  const recordsUrl = host.records.replace('{domain}', encodeURIComponent(domain));
  return { name: host.name, recordsUrl };
}
