// `svc members unbind`. docs/single-sign-on.md describes bindings.
import { Args, Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { UsageError } from '../base/output/failure.ts';
import { print } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class MembersUnbind extends BaseCommand {
  static override summary = 'End bindings of people to single sign-on';

  static override description =
    'A person signs in another way afterwards, and may bind an account again in My account. ' +
    'Sessions that the provider began end. The audit of the organizations records it.';

  static override examples = [
    { description: 'End the binding of a person', command: 'svc members unbind ann@example.com' },
    {
      description: 'End all bindings to an old provider',
      command: 'svc members unbind --issuer https://old-id.example.com',
    },
  ];

  static override args = {
    email: Args.string({ description: 'Address of the person' }),
  };

  static override flags = {
    issuer: Flags.string({
      description: 'Issuer whose bindings end, in all organizations',
      helpValue: 'URL',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MembersUnbind);
    const { email } = args;
    const { issuer } = flags;
    if ((email === undefined) === (issuer === undefined)) {
      throw new UsageError('give either the address of a person or --issuer URL');
    }
    await withApp(flags, async (app) => {
      const { unbindAddress, unbindIssuer } = await import('../../src/access/sessions/unbind.ts');
      if (email !== undefined) await unbindAddress(app, email);
      const unbound = issuer === undefined ? 1 : await unbindIssuer(app, issuer);
      await print(
        flags,
        { unbound },
        () => `Unbound ${unbound} ${unbound === 1 ? 'person' : 'people'}`,
      );
    });
  }
}
