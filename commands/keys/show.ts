// `svc keys show` (contract 3). What a key may do and who may make it: src/keys/keys.ts.
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { keyCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class KeysShow extends BaseCommand {
  static override summary = 'Show an API key; never its plaintext, which is not stored';

  static override examples = [
    {
      description: 'Who may do what until when',
      command: 'svc keys show key_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the key (key_…)', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysShow);
    await withCaller(flags, async (app, caller) => {
      const { keyPath } = await import('../../src/keys/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { id } = parseWith(keyPath, args, 'path');
      const { getKey } = await import('../../src/keys/keys.ts');
      await printCard(flags, await getKey(app, caller, id), keyCard);
    });
  }
}
