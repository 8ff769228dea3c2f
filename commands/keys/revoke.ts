// `svc keys revoke` (contract 3). What a key may do and who may make it: src/keys/keys.ts.
import { Args } from '@oclif/core';
import { BaseCommand, yesFlag } from '../base/command.ts';
import { confirmed } from '../base/confirm.ts';
import { print } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class KeysRevoke extends BaseCommand {
  static override summary = 'Revoke an API key for good';

  static override description =
    'Every daemon refuses it within a second. Asks first on a terminal; elsewhere it needs ' +
    '--yes.';

  static override examples = [
    {
      description: 'In a script',
      command: 'svc keys revoke key_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the key (key_…)', required: true }),
  };

  static override flags = { ...yesFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysRevoke);
    await withCaller(flags, async (app, caller) => {
      const { keyPath } = await import('../../src/keys/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { id } = parseWith(keyPath, args, 'path');
      const { getKey, revokeKey } = await import('../../src/keys/keys.ts');
      const { name, start } = await getKey(app, caller, id);
      await confirmed(`Revoke the key ${start}… (${name ?? 'no name'}) for good?`, flags.yes);
      const revoked = await revokeKey(app, caller, id);
      await print(flags, revoked, () => revoked.message);
    });
  }
}
