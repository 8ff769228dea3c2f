import { keyRoutes } from '../../src/access/keys/routes.ts';
import { constraintFlags, constraintsGiven } from '../base/nouns/constraints.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  description:
    'The permissions of a key never change: create a new key and revoke the old one. The ' +
    '--allow flags, --mailbox and --namespace replace all constraints of the key.',
  examples: [
    [
      'Describe the purpose of a key',
      'svc keys update key_06dq2k0qz8h3v5m1r9t4w7xy --name "nightly report"',
    ],
    [
      'Restrict a key to one network',
      'svc keys update key_06dq2k0qz8h3v5m1r9t4w7xy --allow-ip 203.0.113.0/24',
    ],
    [
      'Remove the constraints of a key',
      `svc keys update key_06dq2k0qz8h3v5m1r9t4w7xy --data '{"constraints":null}'`,
    ],
  ],
  args,
  flags: constraintFlags,
  more: constraintsGiven,
  route: keyRoutes.update,
  card,
});
