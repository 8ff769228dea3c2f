import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { dataFlag } from '../base/command.ts';
import { constraintFields, constraintFlags, constraintsGiven } from '../base/constraints.ts';
import { createCommand } from '../base/verbs.ts';
import { shownOnce } from './show.ts';

export default createCommand({
  summary: 'Make an API key',
  description:
    'The key itself is shown this once: only its hash is stored. Give it a role or single ' +
    "permissions; without either it is a developer's. A test key reaches only simulator " +
    'addresses and mailboxes here. The --allow flags limit where the key may be used from, and ' +
    'whom its mail may come from; --mailbox and --namespace, what it reaches at all.',
  examples: [
    ['A key for a program that only sends', 'svc keys create --name ci --role sender'],
    [
      'The same by single permissions, until the end of the year',
      'svc keys create --name ci --permission messages:send --permission messages:read --expires-at 2030-12-31T23:59:59Z',
    ],
    [
      'For mail from one domain, used from one network',
      'svc keys create --name shop --role sender --allow-domain sandbox.test --allow-ip 203.0.113.0/24',
    ],
    [
      'For a program that answers mail of one mailbox, if a person approves',
      'svc keys create --name agent --permission mailboxes:read --permission mailboxes:send --mailbox mbx_06dq2k0qz8h3v5m1r9t4w7xy --send-mode approval',
    ],
    ['The key alone, for a script', 'svc keys create --name ci --json | jq -r .key'],
  ],
  flags: {
    name: Flags.string({ description: 'What the key is for' }),
    description: Flags.string({ description: 'More about it' }),
    role: Flags.string({ description: 'owner, admin, developer, sender or viewer' }),
    permission: Flags.string({
      description: 'One permission, such as messages:send; may be repeated',
      multiple: true,
      helpValue: 'RESOURCE:ACTION',
    }),
    owner: Flags.string({ description: 'Who holds it: person or service (default)' }),
    'expires-at': Flags.string({ description: 'When it ends, ISO 8601', helpValue: 'TIME' }),
    test: Flags.boolean({ description: 'Make a test key' }),
    'send-mode': Flags.string({
      description:
        'What it sends from its mailboxes goes at once (send), or when a person approves it (approval)',
    }),
    ...constraintFlags,
    ...dataFlag,
  },
  fields: { permission: null, test: null, ...constraintFields },
  async more(flags) {
    const { permissionMapOf } = await import('../../src/keys/roles.ts');
    const permissions = flags.permission as string[] | undefined;
    return {
      ...given({
        permissions: permissions && permissionMapOf(permissions),
        mode: flags.test ? 'test' : undefined,
      }),
      ...constraintsGiven(flags),
    };
  },
  route: async () => (await import('../../src/keys/routes.ts')).keyRoutes.create,
  ...shownOnce,
});
