// `svc keys update` (contract 3). What a key may do and who may make it: src/keys/keys.ts.
import { Args, Flags } from '@oclif/core';
import { given, readData } from '../base/body.ts';
import { BaseCommand, dataFlag } from '../base/command.ts';
import { constraintFlags, constraintsGiven } from '../base/constraints.ts';
import { keyCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class KeysUpdate extends BaseCommand {
  static override summary = 'Change the name, description or constraints of an API key';

  static override description =
    'What a key may do never changes: make a new one and revoke the old. The --allow flags take the ' +
    'place of all constraints that it has.';

  static override examples = [
    {
      description: 'Say what it is for',
      command: 'svc keys update key_06dq2k0qz8h3v5m1r9t4w7xy --name "nightly report"',
    },
    {
      description: 'Let it be used from one network only',
      command: 'svc keys update key_06dq2k0qz8h3v5m1r9t4w7xy --allow-ip 203.0.113.0/24',
    },
    {
      description: 'Take its constraints away',
      command: `svc keys update key_06dq2k0qz8h3v5m1r9t4w7xy --data '{"constraints":null}'`,
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the key (key_…)', required: true }),
  };

  static override flags = {
    name: Flags.string({ description: 'New name' }),
    description: Flags.string({ description: 'New description' }),
    ...constraintFlags,
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysUpdate);
    const { name, description } = flags;
    const constraints = constraintsGiven(flags);
    const input = { ...(await readData(flags.data)), ...given({ name, description, constraints }) };
    await withCaller(flags, async (app, caller) => {
      const { keyPath, updateKeyInput } = await import('../../src/keys/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { id } = parseWith(keyPath, args, 'path');
      const { updateKey } = await import('../../src/keys/keys.ts');
      const changes = parseWith(updateKeyInput, input, 'body');
      await printCard(flags, await updateKey(app, caller, id, changes), keyCard);
    });
  }
}
