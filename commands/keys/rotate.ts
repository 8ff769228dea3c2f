// `svc keys rotate` (contract 3). What a key may do and who may make it: src/keys/keys.ts.
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { keyCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class KeysRotate extends BaseCommand {
  static override summary = 'Replace an API key by a new one that may do the same';

  static override description =
    'The old key is refused from now on; the new one is shown this once.';

  static override examples = [
    {
      description: 'Hand the new key to a script',
      command: 'svc keys rotate key_06dq2k0qz8h3v5m1r9t4w7xy --json | jq -r .key',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the key (key_…)', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysRotate);
    await withCaller(flags, async (app, caller) => {
      const { keyPath } = await import('../../src/keys/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { id } = parseWith(keyPath, args, 'path');
      const { rotateKey } = await import('../../src/keys/keys.ts');
      const key = await rotateKey(app, caller, id);
      await printCard(flags, key, ['key', ...keyCard], 'The key is not shown again: keep it now.');
    });
  }
}
