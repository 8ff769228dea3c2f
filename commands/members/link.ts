// `svc members link`. src/access/sessions/operator-link.ts makes the link.
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { print } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class MembersLink extends BaseCommand {
  static override summary = 'Make a link that signs in as a member';

  static override description =
    'For a member whom no mail reaches. The link works once, for 15 minutes, in the browser that opens it. The member ' +
    'and the owners of the organizations are told by mail. An invited address gets the link of the invitation, ' +
    'for 24 hours.';

  static override examples = [
    { description: 'Let Jette in', command: 'svc members link jette@example.com' },
  ];

  static override args = {
    email: Args.string({ description: 'Address of the member', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MembersLink);
    await withApp(flags, async (app) => {
      const { makeLinkFor } = await import('../../src/access/sessions/operator-link.ts');
      const link = await makeLinkFor(app, args.email);
      await print(
        flags,
        link,
        () => `${link.url}\nIt lets in ${link.email}, once, until ${link.expiresAt}.`,
      );
    });
  }
}
