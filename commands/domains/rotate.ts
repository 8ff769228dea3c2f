import { domainRoutes } from '../../src/identity/domains/routes.ts';
import { dkimView as view } from '../base/nouns/dkim-view.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  description:
    'The old keys sign until the new ones are found in DNS, so no mail loses its signature while ' +
    'records change. Keep the old records for 7 days after that: "svc domains dns" shows until when. ' +
    'With keys of both algorithms, "rsa" and "ed" follow the name of --selector.',
  examples: [
    ['Replace the keys once a year', 'svc domains rotate example.com'],
    ['Name the keys in DNS yourself', 'svc domains rotate example.com --selector autumn'],
  ],
  args,
  find,
  route: domainRoutes.rotateDkim,
  view,
});
