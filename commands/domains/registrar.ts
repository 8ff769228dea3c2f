import { domainRoutes } from '../../src/identity/domains/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { showCommand } from '../base/verbs.ts';

const card = [
  ...['domain', 'registrar.name', 'registrar.ianaId', 'registrar.url'],
  ...['dnsHost.name', 'dnsHost.nameServers', 'dnsHost.recordsUrl', 'source', 'checkedAt'],
];

export default showCommand({
  summary: 'Show where the DNS records of a domain are edited',
  description:
    'RDAP names the registrar. The name servers name the DNS host, with a link to its page of records. ' +
    'What the Internet does not answer is left empty.',
  examples: [
    ['Show the registrar and the DNS host', 'svc domains registrar example.com'],
    [
      'Show the page of records only',
      'svc domains registrar example.com --json | jq -r .dnsHost.recordsUrl',
    ],
  ],
  args,
  find,
  route: domainRoutes.getRegistrar,
  card,
});
