// Host names of this machine, as programs write them in addresses of local users: `root@HOST`.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';

const mostHostsBytes = 65_536;
const mostNames = 100;

/** Reads a file of the system; returns an empty text if it is missing or unreadable. */
function readSystemFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').slice(0, mostHostsBytes);
  } catch {
    return '';
  }
}

/**
 * Returns the host name and its aliases in the file `hosts`, in lower case. `hostname -f` takes the
 * full name from this file.
 */
export function namesInHosts(host: string, hosts: string): string[] {
  const names = new Set([host.toLowerCase()]);
  for (const line of hosts.split('\n')) {
    const [, ...listed] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    if (listed.includes(host.toLowerCase())) for (const name of listed) names.add(name);
  }
  return [...names];
}

/**
 * Returns the names of this machine, without names that are verified domains of the organization.
 * At a returned name, `root@HOST` is a user of the machine and not a sender.
 */
export async function findMachineNames(
  app: App,
  { organizationId }: Caller,
  names: readonly string[] = namesInHosts(hostname(), readSystemFile('/etc/hosts')),
): Promise<string[]> {
  const { findSendingDomain } = await import('../../src/identity/domains/queries.ts');
  const unowned: string[] = [];
  for (const name of names.slice(0, mostNames)) {
    const domain = await findSendingDomain(app.store.db, organizationId, name);
    if (domain?.status !== 'verified') unowned.push(name);
  }
  return unowned;
}
