// `svc keys create` (contract 3). What a key may do and who may make it: src/keys/keys.ts.
import { Flags } from '@oclif/core';
import { given, readData } from '../base/body.ts';
import { BaseCommand, dataFlag } from '../base/command.ts';
import { constraintFlags, constraintsGiven } from '../base/constraints.ts';
import { keyCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class KeysCreate extends BaseCommand {
  static override summary = 'Make an API key';

  static override description =
    'The key itself is shown this once: only its hash is stored. Give it a role or single ' +
    "permissions; without either it is a developer's. A test key reaches only simulator " +
    'addresses and mailboxes here. The --allow flags limit where the key may be used from, and ' +
    'whom its mail may come from.';

  static override examples = [
    {
      description: 'A key for a program that only sends',
      command: 'svc keys create --name ci --role sender',
    },
    {
      description: 'The same by single permissions, until the end of the year',
      command:
        'svc keys create --name ci --permission messages:send --permission messages:read --expires-at 2030-12-31T23:59:59Z',
    },
    {
      description: 'For mail from one domain, used from one network',
      command:
        'svc keys create --name shop --role sender --allow-domain sandbox.test --allow-ip 203.0.113.0/24',
    },
    {
      description: 'The key alone, for a script',
      command: 'svc keys create --name ci --json | jq -r .key',
    },
  ];

  static override flags = {
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
    ...constraintFlags,
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(KeysCreate);
    const data = await readData(flags.data);
    await withCaller(flags, async (app, caller) => {
      const { permissionMapOf } = await import('../../src/keys/roles.ts');
      const { createKey } = await import('../../src/keys/keys.ts');
      const { createKeyInput } = await import('../../src/keys/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const input = {
        ...data,
        ...given({
          name: flags.name,
          description: flags.description,
          role: flags.role,
          permissions: flags.permission && permissionMapOf(flags.permission),
          owner: flags.owner,
          expiresAt: flags['expires-at'],
          mode: flags.test ? 'test' : undefined,
          constraints: constraintsGiven(flags),
        }),
      };
      const key = await createKey(app, caller, parseWith(createKeyInput, input, 'body'));
      await printCard(flags, key, ['key', ...keyCard], 'The key is not shown again: keep it now.');
    });
  }
}
