import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { constraintFields, constraintFlags, constraintsGiven } from '../base/constraints.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change the name, description or constraints of an API key',
  description:
    'What a key may do never changes: make a new one and revoke the old. The --allow flags, --mailbox and ' +
    '--namespace take the place of all constraints that it has.',
  examples: [
    ['Say what it is for', 'svc keys update key_06dq2k0qz8h3v5m1r9t4w7xy --name "nightly report"'],
    [
      'Let it be used from one network only',
      'svc keys update key_06dq2k0qz8h3v5m1r9t4w7xy --allow-ip 203.0.113.0/24',
    ],
    [
      'Take its constraints away',
      `svc keys update key_06dq2k0qz8h3v5m1r9t4w7xy --data '{"constraints":null}'`,
    ],
  ],
  args,
  flags: {
    name: Flags.string({ description: 'New name' }),
    description: Flags.string({ description: 'New description' }),
    ...constraintFlags,
    ...dataFlag,
  },
  fields: constraintFields,
  more: constraintsGiven,
  route: async () => (await import('../../src/keys/routes.ts')).keyRoutes.update,
  card,
});
