import { Flags } from '@oclif/core';
import { domainRoutes } from '../../../src/identity/domains/routes.ts';
import { textFrom } from '../../base/input/body.ts';
import { dkimView as view } from '../../base/nouns/dkim-view.ts';
import { domainArg as args, domainId as find } from '../../base/nouns/domain-id.ts';
import { updateCommand } from '../../base/verbs.ts';

export default updateCommand({
  summary: 'Add a DKIM key that was made elsewhere',
  description:
    'Takes a private key in PEM: RSA of 1024 to 4096 bits, or Ed25519. It signs once its record is ' +
    'found in DNS, and is never shown again.',
  examples: [
    [
      'Keep the key of an earlier mail server',
      'svc domains dkim import example.com --selector mail --key @mail.pem',
    ],
  ],
  args,
  find,
  names: { privateKey: null },
  flags: {
    key: Flags.string({
      description: 'Private key in PEM, as @FILE, or - for standard input',
      required: true,
      helpValue: '@FILE',
    }),
  },
  more: async ({ key }) => ({ privateKey: await textFrom(key as string) }),
  route: domainRoutes.importDkim,
  view,
});
