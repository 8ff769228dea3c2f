import { Flags } from '@oclif/core';
import { keyRoutes } from '../../src/access/keys/routes.ts';
import { given } from '../base/input/body.ts';
import { constraintFlags, constraintsGiven } from '../base/nouns/constraints.ts';
import { createCommand } from '../base/verbs.ts';
import { shownOnce } from './show.ts';

export default createCommand({
  description:
    'The key itself is shown only this once: the store holds its hash alone. Give it a ' +
    'role or single permissions; without either it gets the role developer. A test key ' +
    'reaches only simulator addresses and mailboxes of this service. The --allow flags ' +
    'limit the addresses of its clients and of its mail; --mailbox and --namespace limit ' +
    'the mailboxes it reaches.',
  examples: [
    ['Create a key for a program that only sends', 'svc keys create --name ci --role sender'],
    [
      'Create it by single permissions, until the end of the year',
      'svc keys create --name ci --permission messages:send --permission messages:read --expires-at 2030-12-31T23:59:59Z',
    ],
    [
      'Create a key for one domain, used from one network',
      'svc keys create --name shop --role sender --allow-domain sandbox.test --allow-ip 203.0.113.0/24',
    ],
    [
      'Create a key that answers one mailbox once a person approves',
      'svc keys create --name agent --permission mailboxes:read --permission mailboxes:send --mailbox mbx_06dq2k0qz8h3v5m1r9t4w7xy --send-mode approval',
    ],
    ['Print the key alone, for a script', 'svc keys create --name ci --json | jq -r .key'],
  ],
  names: { mode: null },
  flags: {
    permission: Flags.string({
      description: 'A permission, such as messages:send; may be repeated',
      multiple: true,
      helpValue: 'RESOURCE:ACTION',
    }),
    test: Flags.boolean({ description: 'Create a test key' }),
    ...constraintFlags,
  },
  async more(flags) {
    const { permissionMapOf } = await import('../../src/access/keys/roles.ts');
    const permissions = flags.permission as string[] | undefined;
    return {
      ...given({
        permissions: permissions && permissionMapOf(permissions),
        mode: flags.test ? 'test' : undefined,
      }),
      ...constraintsGiven(flags),
    };
  },
  route: keyRoutes.create,
  ...shownOnce,
});
