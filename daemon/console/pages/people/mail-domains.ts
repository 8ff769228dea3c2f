// Domains of members that take no mail: no mailed link arrives there.
import type { App } from '../../../../src/core/app.ts';
import { findMailHosts } from '../../../../src/mail/smtp/destination.ts';

const mostDomains = 20;

/** Returns the domains of these addresses without a mail server; none while mail is captured. */
export async function domainsWithoutMail(
  { dns, random, config }: App,
  addresses: readonly string[],
): Promise<string[]> {
  if (config.delivery.mode === 'capture') return [];
  const all = addresses.map((address) => address.slice(address.lastIndexOf('@') + 1));
  const domains = [...new Set(all)].slice(0, mostDomains);
  const found = await Promise.all(
    domains.map(async (domain) => {
      const { verdict } = await findMailHosts(dns, random, domain);
      return verdict?.errorCode === 'invalid-domain' ? domain : null;
    }),
  );
  return found.filter((domain) => domain !== null);
}
