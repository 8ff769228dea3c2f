// `svc members reset`. src/access/sessions/reset.ts ends the sessions and passkeys of a person.
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { print } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class MembersReset extends BaseCommand {
  static override summary = 'Give a person who lost all passkeys a new start';

  static override description =
    'Ends all sessions, mailed links and passkeys of the person, and the binding to the provider, in every ' +
    'organization. A mailed link may then add one passkey, within 7 days.';

  static override examples = [
    {
      description: 'Let Jette add a passkey by a mailed link again',
      command: 'svc members reset jette@example.com',
    },
  ];

  static override args = {
    email: Args.string({ description: 'Address of the person', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MembersReset);
    await withApp(flags, async (app) => {
      const { resetPerson } = await import('../../src/access/sessions/reset.ts');
      const reset = await resetPerson(app, args.email);
      await print(
        flags,
        reset,
        () =>
          `${reset.email} is signed out everywhere, without passkeys. A mailed link adds one within 7 days.`,
      );
    });
  }
}
